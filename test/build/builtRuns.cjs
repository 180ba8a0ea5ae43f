// Runs built nodes in a process of its own, each in n8n's own execute context. For each message with runs it sends one with how they ended.
const { flushCompileCache } = require('node:module');

// As in test/setup.ts: short waits between tries.
const draw = Math.random;
Math.random = () => draw() / 20;
const [harness] = process.argv.slice(2);
const { createExecuteContext, withBinaryData } = require(harness);

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

const ready = withBinaryData();

async function runAll(runs) {
	await ready;
	const ended = [];
	for (const one of runs) ended.push(await run(one));
	process.send({ version: process.version, ended });
	// Nothing is written at the end of a process that is killed.
	flushCompileCache?.();
}

process.on('message', (runs) => void runAll(runs));
