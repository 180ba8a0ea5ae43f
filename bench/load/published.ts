// Two community packages that are published, as a measure of what such a package costs.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../../dev/n8n/command.ts';

const versions: Readonly<Record<string, string>> = {
	'@mendable/n8n-nodes-firecrawl': '2.1.2',
	'n8n-nodes-mcp': '0.1.37',
};

export interface PublishedPackage {
	/** Name and version. */
	readonly title: string;
	/** The files of its nodes. */
	readonly nodes: readonly string[];
	/** What n8n installs for it: the package and its dependencies, without what n8n itself brings. */
	readonly bytes: number;
}

/**
 * Installs each as n8n does, alone and without scripts and peer dependencies.
 * @param into a folder outside the project, because the files would otherwise find the project's own n8n-workflow
 */
export async function publishedPackages(into: string): Promise<PublishedPackage[]> {
	const packages: PublishedPackage[] = [];
	for (const [name, version] of Object.entries(versions)) {
		const folder = path.join(into, name.replaceAll('/', '-'));
		await mkdir(folder, { recursive: true });
		await writeFile(
			path.join(folder, 'package.json'),
			JSON.stringify({ private: true, dependencies: { [name]: version } }),
		);
		const quiet = ['--ignore-scripts', '--omit=peer', '--legacy-peer-deps', '--no-audit', '--no-fund'];
		await runCommand('npm', ['install', ...quiet], { cwd: folder });
		const home = path.join(folder, 'node_modules', name);
		const manifest = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8')) as {
			n8n: { nodes: readonly string[] };
		};
		packages.push({
			title: `${name} ${version}`,
			nodes: manifest.n8n.nodes.map((file) => path.join(home, file)),
			bytes: await sizeOf(path.join(folder, 'node_modules')),
		});
	}
	return packages;
}

/** Bytes in all files of a folder. */
export async function sizeOf(folder: string): Promise<number> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile());
	const sizes = await Promise.all(
		files.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size),
	);
	return sizes.reduce((sum, size) => sum + size, 0);
}
