const { execFile } = require('node:child_process');
const { rm } = require('node:fs/promises');
const path = require('node:path');
const { promisify } = require('node:util');
const { series } = require('gulp');

const { buildPackage } = require('./build/package');

const run = promisify(execFile);
const target = path.join(__dirname, 'dist');

async function clean() {
	await rm(target, { recursive: true, force: true });
}

async function types() {
	await run(process.execPath, [require.resolve('typescript/bin/tsc')]).catch((error) => {
		throw new Error(`Type check failed\n${error.stdout ?? ''}${error.stderr ?? ''}`);
	});
}

async function bundle() {
	await buildPackage({ root: __dirname, target });
}

exports.clean = clean;
exports.types = types;
exports.bundle = series(clean, bundle);
exports.build = series(types, exports.bundle);
exports.default = exports.build;
