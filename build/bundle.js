const path = require('node:path');

const { computedProperties } = require('./computedProperties');
const { leaveOut, findPackage } = require('./leftOut');
const { ownAddress } = require('./ownAddress');
const { sourceFolder } = require('./sourceFolder');

/** @typedef {{ fileName: string, isEntry: boolean, isLazy: boolean, imports: string[], inputs: string[] }} Built */

/**
 * Bundles the entries into CommonJS files. Code that several entries need goes into shared chunks. Code behind a dynamic import goes
 * into a file that is loaded on first use.
 *
 * @param {object} options
 * @param {string} options.root the folder of the project
 * @param {string[]} options.entries source files, relative to `root`; their bundles have the same paths in `target`
 * @param {string} options.target the folder to write to
 * @param {boolean} [options.split] whether shared code goes into chunks
 * @param {boolean} [options.minify] whether the libraries are minified
 * @returns {Promise<Built[]>} the written files, with the sources of each in `inputs`, relative to `root`
 */
async function bundle({ root, entries, target, split = true, minify = true }) {
	// Rolldown is an ES module. Some tools that load this file cannot wait for one at the top level.
	const { rolldown } = await import('rolldown');
	const plugins = [leaveOut(root), sourceFolder(root)];
	const build = await rolldown({
		cwd: root,
		input: Object.fromEntries(
			entries.map((entry) => [removeEnding(entry), path.join(root, entry)]),
		),
		platform: 'node',
		external: ['n8n-workflow'],
		transform: { target: 'node20' },
		checks: { pluginTimings: false },
		plugins: [
			computedProperties(root, plugins),
			...plugins,
			replaceAddress(root),
			removeRegions,
			...(minify ? [minifyLibraries] : []),
		],
	});
	try {
		const { output } = await build.write({
			dir: target,
			format: 'cjs',
			exports: 'named',
			// n8n stores the names of classes, and users see the names of errors.
			keepNames: true,
			comments: false,
			codeSplitting: split && { groups: chunkGroups },
			entryFileNames: '[name].js',
			chunkFileNames: (chunk) => nameChunk(root, chunk),
		});
		return output.map(({ fileName, isEntry, isDynamicEntry, imports, modules }) => ({
			fileName,
			isEntry,
			isLazy: isDynamicEntry,
			imports,
			inputs: Object.entries(modules)
				.filter(([id, { renderedLength }]) => path.isAbsolute(id) && renderedLength > 0)
				.map(([id]) => path.relative(root, id)),
		}));
	} finally {
		await build.close();
	}
}

/**
 * The chunk that n8n loads when it starts: the code that several nodes and credentials need at that time. Code that the worker thread
 * also needs is not in this chunk, because the thread would then load n8n.
 */
const core = {
	name: 'core',
	tags: ['$initial'],
	minShareCount: 2,
	test: (id) => !isLibrary(id) && !/nodes[\\/]untrusted[\\/]/.test(id),
};

/** The chunks that are loaded on first use: one for all nodes, and one for the agent's nodes. */
const base = buildSharedGroup('base', /nodes[\\/](http|core|fields)[\\/]/);
const agent = buildSharedGroup('agent', /nodes[\\/]Agent[\\/]/);

function buildSharedGroup(name, place) {
	return { name, minShareCount: 2, test: (id) => !isLibrary(id) && place.test(id) };
}

/** What the worker thread shares with other code, by itself, because the thread must not load n8n. */
const shared = buildSharedGroup(
	'shared',
	/nodes[\\/](untrusted[\\/]jsonParts|core[\\/](maps|text))/,
);

const chunkGroups = [{ ...shared, priority: 1 }, core, base, agent];

/**
 * Minifies the libraries, but keeps the names of their classes and functions. Our own code is not minified, so that stack traces are
 * legible. This plugin uses `generateBundle`, because the bundler prints a chunk again after the plugins' `renderChunk`.
 */
const minifyLibraries = {
	name: 'minify-libraries',
	async generateBundle(_options, files) {
		const { minify } = await import('rolldown/utils');
		for (const [fileName, chunk] of Object.entries(files)) {
			if (chunk.type !== 'chunk' || findMainOrigin(chunk.modules) !== 'libraries') continue;
			const { code, errors } = await minify(fileName, chunk.code, {
				sourceType: 'commonjs',
				compress: { target: 'node20', keepNames: { function: true, class: true } },
				mangle: { keepNames: true },
			});
			if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
			chunk.code = code;
		}
	},
};

/** Removes the comments with which the bundler names each module. A stack trace shows the file and function anyway. */
const removeRegions = {
	name: 'without-regions',
	renderChunk: (code) => ({ code: code.replaceAll(/^\/\/#(?:end)?region.*\n/gm, ''), map: null }),
};

function findMainOrigin(modules) {
	const countCharacters = (ofLibraries) =>
		Object.entries(modules).reduce(
			(sum, [id, { renderedLength }]) =>
				sum + (isLibrary(id) === ofLibraries ? renderedLength : 0),
			0,
		);
	return countCharacters(true) > countCharacters(false) ? 'libraries' : 'ours';
}

const replaceAddress = (root) => {
	const insertAddress = ownAddress(root);
	return {
		name: 'own-address',
		renderChunk: (code) => ({ code: insertAddress(code), map: null }),
	};
};

const removeEnding = (file) => file.replace(/\.[cm]?[jt]s$/, '');

/** Names a chunk. A file that is loaded on first use keeps its path in the source tree. A shared chunk has the name of its source folder. */
function nameChunk(root, { name, isDynamicEntry, facadeModuleId, moduleIds }) {
	const ourFiles = moduleIds
		.filter((id) => path.isAbsolute(id) && !isLibrary(id))
		.map((id) => path.relative(root, id));
	if (isDynamicEntry && facadeModuleId && !isLibrary(facadeModuleId)) {
		return `${removeEnding(path.relative(root, facadeModuleId))}.js`;
	}
	if (chunkGroups.some((group) => group.name === name)) return `chunks/${name}.js`;
	if (ourFiles.length === 0) return `chunks/libraries/${name}.js`;
	const folders = ourFiles.map((file) => path.dirname(file).split(path.sep));
	return `chunks/${
		findCommonStart(folders)
			.filter((part) => part !== 'nodes')
			.join('-') || 'package'
	}.js`;
}

function findCommonStart([first = [], ...others]) {
	const end = first.findIndex((part, index) => others.some((other) => other[index] !== part));
	return end === -1 ? first : first.slice(0, end);
}

const isLibrary = (id) => findPackage(id) !== undefined;

module.exports = { bundle };
