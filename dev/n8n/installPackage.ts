import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from './command.ts';
import { root } from './installN8n.ts';

const packageName = 'n8n-nodes-agent-workspace';

/** Where the package is installed in a user folder. */
export function installedFolder(userFolder: string): string {
	return path.join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
}

/** Builds the package, packs it and installs it. */
export async function installPackage(userFolder: string): Promise<void> {
	const gulp = path.join(root, 'node_modules', 'gulp', 'bin', 'gulp.js');
	await runCommand(process.execPath, [gulp, 'bundle'], { cwd: root });
	const folder = await mkdtemp(path.join(tmpdir(), 'n8n-nodes-agent-workspace-'));
	try {
		const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
		const printed = await runCommand('npm', args, { cwd: root });
		await install(path.join(folder, printed.trim().split('\n').at(-1) ?? ''), userFolder);
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
	const unpack = ['-xzf', tarball, '-C', target, '--strip-components=1'];
	await runCommand('tar', unpack, { cwd: nodes });

	const manifestPath = path.join(target, 'package.json');
	const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Record<string, unknown>;
	for (const key of ['devDependencies', 'peerDependencies', 'optionalDependencies'])
		Reflect.deleteProperty(manifest, key);
	await writeFile(manifestPath, JSON.stringify(manifest, null, 2));
	const quiet = ['--audit=false', '--fund=false', '--bin-links=false'];
	const alone = ['--install-strategy=shallow', '--ignore-scripts=true', '--package-lock=false'];
	await runCommand('npm', ['install', ...quiet, ...alone], { cwd: target });
	const dependencies = { [packageName]: String(manifest.version) };
	const own = { name: 'installed-nodes', private: true, dependencies };
	await writeFile(path.join(nodes, 'package.json'), JSON.stringify(own));
}
