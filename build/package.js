const { cp, glob, mkdir, readFile, writeFile } = require('node:fs/promises');
const path = require('node:path');

const { bundle } = require('./bundle');
const { writeNotices } = require('./notices');
const { ownAddress } = require('./ownAddress');
const { writeSbom } = require('./sbom');
const { stamp } = require('./stamp');

/**
 * Builds everything that the package ships into `target`: the bundle, the icons, codex files and output schemas beside the files that name
 * them, the licenses and versions of the bundled packages, and a stamp. From the stamp, `prepack.js` knows whether the build is up to date.
 *
 * @param {{ root: string, target: string, minify?: boolean }} options `minify`: whether the libraries are minified, as in the shipped package
 * @returns {Promise<import('./bundle').Built[]>}
 */
async function buildPackage({ root, target, minify = true }) {
	const built = await bundle({ root, entries: await listEntries(root), target, minify });
	await copyAssets(root, target);
	const inputs = built.flatMap((file) => file.inputs);
	writeNotices({ root, inputs, target: path.join(target, 'THIRD_PARTY_NOTICES.txt') });
	writeSbom({ root, inputs, target: path.join(target, 'sbom.cdx.json') });
	await stamp(root, target);
	return built;
}

/** Lists the files in the `n8n` section of package.json, and those that run in a worker thread. */
async function listEntries(root) {
	const { nodes, credentials } = require(path.join(root, 'package.json')).n8n;
	const namedFiles = [...nodes, ...credentials].map((file) =>
		file.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
	);
	const workers = await Array.fromAsync(glob('nodes/**/*.worker.ts', { cwd: root }));
	return [...namedFiles, ...workers.sort()];
}

async function copyAssets(root, target) {
	const insertAddress = ownAddress(root);
	for await (const file of glob(
		'{nodes,credentials}/**/{*.svg,*.png,*.node.json,__schema__/**/*.json}',
		{
			cwd: root,
		},
	)) {
		const [source, copy] = [path.join(root, file), path.join(target, file)];
		await mkdir(path.dirname(copy), { recursive: true });
		if (file.endsWith('.json'))
			await writeFile(
				copy,
				JSON.stringify(JSON.parse(insertAddress(await readFile(source, 'utf8')))),
			);
		else await cp(source, copy);
	}
}

module.exports = { buildPackage };
