const path = require('node:path');
const esbuild = require('esbuild');

/**
 * Never reached behind our transport, and heavy: googleapis' own sign-in and fetch. googleapis-common extends one class of
 * them when it loads, and uses none.
 */
const leftOut = /^(google-auth-library|node-fetch)(\/|$)/;
const inTheirPlace = 'exports.GoogleAuth = class GoogleAuth {};';
/** ws' optional native add-ons: as absent as they are in most installations. An empty module would count as present. */
const absent = /^(bufferutil|utf-8-validate)$/;
const inAbsence = "throw new Error('not part of this package');";

const common = {
	bundle: true,
	platform: 'node',
	target: 'node20',
	format: 'cjs',
	external: ['n8n-workflow'],
	// n8n stores class names, and errors are told apart by them: identifiers stay as they are.
	minifySyntax: true,
	minifyWhitespace: true,
	legalComments: 'none',
	// Turns `import('./x')` into a `require` at the time of the call.
	supported: { 'dynamic-import': false },
	metafile: true,
	write: true,
	logLevel: 'warning',
};

/**
 * Bundles each entry into one file, and everything behind a dynamic import into a file of its own that is loaded on
 * first use.
 *
 * @param {{ root: string, entries: string[] }} options `entries`: output paths as n8n's section of package.json names them
 * @returns {Promise<string[]>} the input files of all bundles, relative to `root`
 */
async function bundlePackage({ root, entries }) {
	const pending = entries.map((entry) => ({
		source: path.join(root, entry.replace(/^dist\//, '').replace(/\.js$/, '.ts')),
		target: path.join(root, entry),
	}));
	const known = new Set(pending.map(({ target }) => target));
	const inputs = new Set();

	for (let next = pending.shift(); next; next = pending.shift()) {
		const { source, target } = next;
		const result = await esbuild.build({
			...common,
			entryPoints: [source],
			outfile: target,
			absWorkingDir: root,
			plugins: [
				leaveOut,
				lazyFiles(root, target, (lazy) => {
					if (known.has(lazy.target)) return;
					known.add(lazy.target);
					pending.push(lazy);
				}),
			],
		});
		for (const input of Object.keys(result.metafile.inputs)) inputs.add(input);
	}
	return [...inputs].sort();
}

const leaveOut = {
	name: 'leave-out',
	setup(build) {
		build.onResolve({ filter: leftOut }, ({ path: name }) => ({ path: name, namespace: 'left-out' }));
		build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: inTheirPlace }));
		build.onResolve({ filter: absent }, ({ path: name }) => ({ path: name, namespace: 'absent' }));
		build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: inAbsence }));
	},
};

/** Makes each dynamic import an external file beside the place it has in the source tree. */
function lazyFiles(root, target, found) {
	return {
		name: 'lazy-files',
		setup(build) {
			build.onResolve({ filter: /.*/ }, async ({ path: name, kind, resolveDir, importer }) => {
				if (kind !== 'dynamic-import' || importer.includes('node_modules')) return undefined;
				const resolved = await build.resolve(name, { kind: 'import-statement', resolveDir });
				if (resolved.errors.length > 0 || resolved.external) return resolved;
				const lazy = { source: resolved.path, target: lazyTarget(root, resolved.path) };
				found(lazy);
				const relative = path.relative(path.dirname(target), lazy.target);
				return { path: relative.startsWith('.') ? relative : `./${relative}`, external: true };
			});
		},
	};
}

function lazyTarget(root, source) {
	const relative = path.relative(root, source);
	const inDist = relative.startsWith('node_modules')
		? path.join(
				'vendor',
				relative
					.slice('node_modules/'.length)
					.replaceAll(path.sep, '_')
					.replace(/\.[cm]?js$/, '.js'),
			)
		: relative.replace(/\.ts$/, '.js');
	return path.join(root, 'dist', inDist);
}

module.exports = { bundlePackage };
