// Runs built nodes in a process of its own, each in n8n's own execute context. Prints the Node that ran them and how each run ended.
const { transformFileSync } = require('@swc/core');

const typescript = { target: 'es2023', parser: { syntax: 'typescript' } };
require.extensions['.ts'] = (module, file) => {
	const { code } = transformFileSync(file, { jsc: typescript, module: { type: 'commonjs' }, swcrc: false });
	module._compile(code, file);
};
require('reflect-metadata');
const { createExecuteContext, withBinaryData } = require('../createExecuteContext.ts');

/** A run is the file of the node, its class, and the options of its context. */
async function run({ file, name, options }) {
	const { [name]: Node } = require(file);
	const nodeType = new Node();
	try {
		const [items] = await nodeType.execute.call(createExecuteContext({ ...options, nodeType }));
		return { items: items.map(({ json }) => json) };
	} catch (error) {
		return { error: `${error.message} ${error.description ?? ''}` };
	}
}

async function runAll(runs) {
	await withBinaryData();
	const ended = [];
	for (const one of runs) ended.push(await run(one));
	process.send({ version: process.version, ended });
}

process.once('message', (runs) => void runAll(runs));
