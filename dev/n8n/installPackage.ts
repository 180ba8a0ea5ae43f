import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from './command.ts';
import { root } from './installN8n.ts';

const packageName = 'n8n-nodes-agent-workspace';

/** @returns the tarball's path */
async function pack(folder: string): Promise<string> {
	const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
	const printed = await runCommand('npm', args, { cwd: root });
	return path.join(folder, printed.trim().split('\n').at(-1) ?? '');
}

/** Where the package is installed in a user folder. */
export function installedFolder(userFolder: string): string {
	return path.join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
}

/** Packs the built package and installs it. */
export async function installPackage(userFolder: string): Promise<void> {
	const folder = await mkdtemp(path.join(tmpdir(), 'n8n-nodes-agent-workspace-'));
	try {
		await install(await pack(folder), userFolder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/**
 * Installs like n8n does with a community package: unpacks it under the user folder, without the manifest's
 * development and peer dependencies, then runs npm's shallow install without scripts.
 */
async function install(tarball: string, userFolder: string): Promise<void> {
	const nodes = path.join(userFolder, '.n8n', 'nodes');
	const target = installedFolder(userFolder);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	await runCommand('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], {
		cwd: nodes,
	});

	const manifestPath = path.join(target, 'package.json');
	const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Record<string, unknown>;
	for (const key of ['devDependencies', 'peerDependencies', 'optionalDependencies'])
		Reflect.deleteProperty(manifest, key);
	await writeFile(manifestPath, JSON.stringify(manifest, null, 2));
	const options = [
		'install',
		'--audit=false',
		'--fund=false',
		'--bin-links=false',
		'--install-strategy=shallow',
	];
	await runCommand('npm', [...options, '--ignore-scripts=true', '--package-lock=false'], {
		cwd: target,
	});
	await writeFile(
		path.join(nodes, 'package.json'),
		JSON.stringify({
			name: 'installed-nodes',
			private: true,
			dependencies: { [packageName]: String(manifest.version) },
		}),
	);
}
