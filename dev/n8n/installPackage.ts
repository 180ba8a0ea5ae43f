import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from './command.ts';
import { root } from './host.ts';

const packageName = 'n8n-nodes-agent-workspace';

/** Packs the built package. @returns the tarball's path, in a temporary folder */
export async function packPackage(): Promise<string> {
	const folder = await mkdtemp(path.join(tmpdir(), 'n8n-nodes-agent-workspace-'));
	const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
	const printed = await runCommand('npm', args, { cwd: root });
	return path.join(folder, printed.trim().split('\n').at(-1) ?? '');
}

/**
 * Installs the tarball as n8n installs a community package: unpacked under the user folder, without the manifest's
 * development and peer dependencies, then npm's shallow install without scripts.
 */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const nodes = path.join(userFolder, '.n8n', 'nodes');
	const target = path.join(nodes, 'node_modules', packageName);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	await runCommand('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], { cwd: nodes });

	const manifestPath = path.join(target, 'package.json');
	const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Record<string, unknown>;
	for (const key of ['devDependencies', 'peerDependencies', 'optionalDependencies'])
		Reflect.deleteProperty(manifest, key);
	await writeFile(manifestPath, JSON.stringify(manifest, null, 2));
	const install = [
		'install',
		'--audit=false',
		'--fund=false',
		'--bin-links=false',
		'--install-strategy=shallow',
	];
	await runCommand('npm', [...install, '--ignore-scripts=true', '--package-lock=false'], { cwd: target });
	await writeFile(
		path.join(nodes, 'package.json'),
		JSON.stringify({
			name: 'installed-nodes',
			private: true,
			dependencies: { [packageName]: String(manifest.version) },
		}),
	);
}
