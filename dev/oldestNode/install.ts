import { readFileSync } from 'node:fs';
import path from 'node:path';

import { runCommand } from '../n8n/command.ts';
import { getCacheFolder, installFromLock, installOnce, isInstalled } from '../n8n/installOnce.ts';

/**
 * Installs the oldest Node that `engines` in the package's manifest allows, unless it is there: 150 MB in the user's cache folder.
 * @returns the program
 */
export async function ensureOldestNodeInstalled(): Promise<string> {
	const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
	const files = { manifest: read('package.json'), lock: read('package-lock.json') };
	const folder = getCacheFolder('node', files.lock);
	if (!isInstalled(folder)) {
		await installOnce(folder, files, async (partial) => {
			// npm's script for it, which fetches the build for this machine from the registry, must run.
			await runCommand('npm', [...installFromLock, '--ignore-scripts=false'], {
				cwd: partial,
			});
		});
	}
	return path.join(folder, 'node_modules', 'node', 'bin', 'node');
}
