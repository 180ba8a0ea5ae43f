const path = require('node:path');

const { computedProperties } = require('./computedProperties');
const { leaveOut, packageOf } = require('./leftOut');
const { ownAddress } = require('./ownAddress');
const { sourceFolder } = require('./sourceFolder');

/** @typedef {{ fileName: string, isEntry: boolean, isLazy: boolean, imports: string[], inputs: string[] }} Built */

/**
 * Bundles the entries into CommonJS files. Code that several of them need goes into shared chunks, and code behind a dynamic
 * import into a file that is loaded on first use.
 *
 * @param {object} options
 * @param {string} options.root of the project
 * @param {string[]} options.entries source files, relative to `root`; each keeps its place
 * @param {string} options.target folder
 * @param {boolean} [options.split] into chunks
 * @param {boolean} [options.minify] the libraries
 * @returns {Promise<Built[]>} what was written; `inputs` relative to `root`
 */
async function bundle({ root, entries, target, split = true, minify = true }) {
	// Rolldown is an ES module. Some tools that load this file cannot wait for one at the top level.
	const { rolldown } = await import('rolldown');
	const plugins = [leaveOut(root), sourceFolder(root)];
	const build = await rolldown({
		cwd: root,
		input: Object.fromEntries(entries.map((entry) => [withoutEnding(entry), path.join(root, entry)])),
		platform: 'node',
		external: ['n8n-workflow'],
		transform: { target: 'node20' },
		checks: { pluginTimings: false },
		plugins: [
			computedProperties(root, plugins),
			...plugins,
			addresses(root),
			withoutRegions,
			...(minify ? [minifyLibraries] : []),
		],
	});
	try {
		const { output } = await build.write({
			dir: target,
			format: 'cjs',
			exports: 'named',
			// n8n stores class names, and users see the names of errors.
			keepNames: true,
			comments: false,
			codeSplitting: split && { groups: sharedFiles },
			entryFileNames: '[name].js',
			chunkFileNames: (chunk) => chunkName(root, chunk),
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
 * n8n loads all nodes and credentials when it starts, so one file has what several of them need then. What they share with the
 * worker thread stays out of it, or the thread would load n8n along with it.
 */
const core = {
	name: 'core',
	tags: ['$initial'],
	minShareCount: 2,
	test: (id) => !isLibrary(id) && !/nodes[\\/]untrusted[\\/]/.test(id),
};

/**
 * Chunks for files that are loaded on first use: one shared by all nodes, one by the agent's nodes. What the worker thread takes from
 * them stays apart, because it must not load n8n.
 */
const base = shared('base', /nodes[\\/](http|core|fields)[\\/](?!boundedMap)/);
const agent = shared('agent', /nodes[\\/]Agent[\\/]/);

function shared(name, place) {
	return { name, minShareCount: 2, test: (id) => !isLibrary(id) && place.test(id) };
}

const sharedFiles = [core, base, agent];

/**
 * Our own code stays legible in a stack trace; of libraries, only the names of classes and functions are kept. It comes last,
 * because the bundler prints a chunk anew after the plugins' `renderChunk`.
 */
const minifyLibraries = {
	name: 'minify-libraries',
	async generateBundle(_options, files) {
		const { minify } = await import('rolldown/utils');
		for (const [fileName, chunk] of Object.entries(files)) {
			if (chunk.type !== 'chunk' || mostly(chunk.modules) !== 'libraries') continue;
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

/** The bundler names each module in a comment; a stack trace shows file and function. */
const withoutRegions = {
	name: 'without-regions',
	renderChunk: (code) => ({ code: code.replaceAll(/^\/\/#(?:end)?region.*\n/gm, ''), map: null }),
};

function mostly(modules) {
	const length = (wanted) =>
		Object.entries(modules).reduce(
			(sum, [id, { renderedLength }]) => sum + (isLibrary(id) === wanted ? renderedLength : 0),
			0,
		);
	return length(true) > length(false) ? 'libraries' : 'ours';
}

const addresses = (root) => {
	const addressed = ownAddress(root);
	return {
		name: 'own-address',
		renderChunk: (code) => ({ code: addressed(code), map: null }),
	};
};

const withoutEnding = (file) => file.replace(/\.[cm]?[jt]s$/, '');

/** A lazily loaded file keeps its place in the source tree; what is shared is named after the folder that it comes from. */
function chunkName(root, { name, isDynamicEntry, facadeModuleId, moduleIds }) {
	const ours = moduleIds
		.filter((id) => path.isAbsolute(id) && !isLibrary(id))
		.map((id) => path.relative(root, id));
	if (isDynamicEntry && facadeModuleId && !isLibrary(facadeModuleId)) {
		return `${withoutEnding(path.relative(root, facadeModuleId))}.js`;
	}
	if (sharedFiles.some((group) => group.name === name)) return `chunks/${name}.js`;
	if (ours.length === 0) return `chunks/libraries/${name}.js`;
	const folders = ours.map((file) => path.dirname(file).split(path.sep));
	return `chunks/${
		commonStart(folders)
			.filter((part) => part !== 'nodes')
			.join('-') || 'package'
	}.js`;
}

function commonStart([first = [], ...others]) {
	const end = first.findIndex((part, index) => others.some((other) => other[index] !== part));
	return end === -1 ? first : first.slice(0, end);
}

const isLibrary = (id) => packageOf(id) !== undefined;

module.exports = { bundle };
