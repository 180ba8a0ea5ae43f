const { cp, glob, mkdir, readFile, writeFile } = require('node:fs/promises');
const path = require('node:path');

const { bundle } = require('./bundle');
const { writeNotices } = require('./notices');
const { ownAddress } = require('./ownAddress');
const { writeSbom } = require('./sbom');
const { stamp } = require('./stamp');

/**
 * Builds all that the package ships into `target`: the bundle, icons, codex files and output schemas beside the files that name them,
 * licenses and versions of the bundled packages, and the stamp that shows packing whether the build is up to date.
 *
 * @param {{ root: string, target: string, minify?: boolean }} options `minify`: the libraries, as they are shipped
 * @returns {Promise<import('./bundle').Built[]>}
 */
async function buildPackage({ root, target, minify = true }) {
	const built = await bundle({ root, entries: await entriesOf(root), target, minify });
	await copyAssets(root, target);
	const inputs = built.flatMap((file) => file.inputs);
	writeNotices({ root, inputs, target: path.join(target, 'THIRD_PARTY_NOTICES.txt') });
	writeSbom({ root, inputs, target: path.join(target, 'sbom.cdx.json') });
	await stamp(root, target);
	return built;
}

/** Lists the files that n8n's section of package.json names, and those that run in a worker thread. */
async function entriesOf(root) {
	const { nodes, credentials } = require(path.join(root, 'package.json')).n8n;
	const named = [...nodes, ...credentials].map((file) => file.replace(/^dist\//, '').replace(/\.js$/, '.ts'));
	const workers = await Array.fromAsync(glob('nodes/**/*.worker.ts', { cwd: root }));
	return [...named, ...workers.sort()];
}

async function copyAssets(root, target) {
	const addressed = ownAddress(root);
	for await (const file of glob('{nodes,credentials}/**/{*.svg,*.png,*.node.json,__schema__/**/*.json}', {
		cwd: root,
	})) {
		const [from, to] = [path.join(root, file), path.join(target, file)];
		await mkdir(path.dirname(to), { recursive: true });
		if (file.endsWith('.json'))
			await writeFile(to, JSON.stringify(JSON.parse(addressed(await readFile(from, 'utf8')))));
		else await cp(from, to);
	}
}

module.exports = { buildPackage };
