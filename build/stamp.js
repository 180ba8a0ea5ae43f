const { createHash } = require('node:crypto');
const { glob, readFile, writeFile } = require('node:fs/promises');
const path = require('node:path');

/** Files on which a build depends. */
const sources = [
	'{nodes,credentials,build}/**/*.{ts,js,json,svg,png}',
	'gulpfile.js',
	'package.json',
	'package-lock.json',
];
/** Bundles that tests make beside the sources. */
const made = /\.worker\.js$/;
const stampFile = 'build.json';

/** Writes down what `target` was built from and what it holds. */
async function stamp(root, target) {
	const content = { sources: await digest(root, sources), content: await contentOf(target) };
	await writeFile(path.join(target, stampFile), `${JSON.stringify(content)}\n`);
}

/** @returns {Promise<string | undefined>} why `target` must not be packed */
async function staleness(root, target) {
	const written = await readFile(path.join(target, stampFile), 'utf8').catch(() => undefined);
	if (written === undefined) return 'There is no complete build';
	const { sources: builtFrom, content } = JSON.parse(written);
	if (builtFrom !== (await digest(root, sources))) return 'The sources have changed since the build';
	if (content !== (await contentOf(target))) return 'The build was changed after it was made';
	return undefined;
}

const contentOf = (target) => digest(target, ['**/*'], (file) => file !== stampFile);

async function digest(root, patterns, wanted = (file) => !made.test(file)) {
	const entries = await Array.fromAsync(glob(patterns, { cwd: root, withFileTypes: true }));
	const files = entries
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
		.filter(wanted)
		.sort();
	const hash = createHash('sha256');
	for (const file of files) {
		hash.update(`${file}\0`);
		hash.update(
			createHash('sha256')
				.update(await readFile(path.join(root, file)))
				.digest(),
		);
	}
	return hash.digest('hex');
}

module.exports = { stamp, staleness };
