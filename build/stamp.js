const { createHash } = require('node:crypto');
const { glob, readFile, writeFile } = require('node:fs/promises');
const path = require('node:path');

/** The files on which a build depends. */
const sources = [
	'{nodes,credentials,build}/**/*.{ts,js,json,svg,png}',
	'gulpfile.js',
	'package.json',
	'package-lock.json',
];
/** Matches the bundles that `workers.js` writes beside the sources. */
const testBundle = /\.worker\.js$/;
const stampFile = 'build.json';

/** Writes hashes of the sources and of the built files into `target`. */
async function stamp(root, target) {
	const content = { sources: await hashFiles(root, sources), content: await hashContent(target) };
	await writeFile(path.join(target, stampFile), `${JSON.stringify(content)}\n`);
}

/** @returns {Promise<string | undefined>} why `target` must not be packed */
async function findStaleness(root, target) {
	const stampText = await readFile(path.join(target, stampFile), 'utf8').catch(() => undefined);
	if (stampText === undefined) return 'There is no complete build';
	const { sources: builtFrom, content } = JSON.parse(stampText);
	if (builtFrom !== (await hashFiles(root, sources)))
		return 'The sources have changed since the build';
	if (content !== (await hashContent(target))) return 'The build was changed after it was made';
	return undefined;
}

const hashContent = (target) => hashFiles(target, ['**/*'], (file) => file !== stampFile);

async function hashFiles(root, patterns, isIncluded = (file) => !testBundle.test(file)) {
	const entries = await Array.fromAsync(glob(patterns, { cwd: root, withFileTypes: true }));
	const files = entries
		.filter((entry) => entry.isFile())
		.map((entry) =>
			path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
		)
		.filter(isIncluded)
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

module.exports = { stamp, findStaleness };
