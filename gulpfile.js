const { execFile } = require('node:child_process');
const { cp, glob, mkdir, rm } = require('node:fs/promises');
const path = require('node:path');
const { promisify } = require('node:util');
const { parallel, series } = require('gulp');

const { bundlePackage } = require('./build/bundle');
const { writeNotices } = require('./build/notices');

const run = promisify(execFile);

/** Every input file of the last bundle, from esbuild's own account: what the notices must cover. */
let bundledInputs = [];

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

async function types() {
	await run(process.execPath, [require.resolve('typescript/bin/tsc')]).catch((error) => {
		throw new Error(`Type check failed\n${error.stdout ?? ''}${error.stderr ?? ''}`);
	});
}

async function bundle() {
	bundledInputs = await bundlePackage({
		root: __dirname,
		entries: [...require('./package.json').n8n.nodes, ...require('./package.json').n8n.credentials],
	});
}

/** Icons and codex files stand beside the output file that names them. */
async function assets() {
	for await (const file of glob('{nodes,credentials}/**/*.{svg,png,node.json}')) {
		await mkdir(path.join('dist', path.dirname(file)), { recursive: true });
		await cp(file, path.join('dist', file));
	}
}

async function notices() {
	await writeNotices({ root: __dirname, inputs: bundledInputs, target: 'dist/THIRD_PARTY_NOTICES.txt' });
}

exports.clean = clean;
exports.types = types;
exports.bundle = series(clean, bundle, parallel(assets, notices));
exports.build = series(types, exports.bundle);
exports.default = exports.build;
