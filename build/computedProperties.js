const { readdirSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

/**
 * n8n reads the properties of every node when it starts, but runs few of the nodes. A node's `properties.ts` is therefore
 * computed when the package is built, and shipped as data. The code that computes it is loaded with the first execution.
 *
 * @param {string} root of the project
 * @param {object[]} plugins that the rest of the build uses, too
 */
const computedProperties = (root, plugins) => ({
	name: 'computed-properties',
	load: {
		filter: { id: /[\\/]properties\.ts$/ },
		async handler(file) {
			if (!readdirSync(path.dirname(file)).some((name) => name.endsWith('.node.ts'))) return undefined;
			const json = JSON.stringify(await computed(root, file, plugins), onlyData);
			// JSON.parse of a text is faster than compiling the same data as code.
			return { code: `export const properties = JSON.parse(${template(json)});`, moduleType: 'js' };
		},
	},
});

async function computed(root, file, plugins) {
	const { rolldown } = await import('rolldown');
	const build = await rolldown({
		cwd: root,
		input: file,
		platform: 'node',
		external: ['n8n-workflow'],
		transform: { target: 'node20' },
		checks: { pluginTimings: false },
		plugins,
	});
	try {
		const { output } = await build.generate({ format: 'cjs', exports: 'named', codeSplitting: false });
		const module = new Module(file);
		module.paths = Module._nodeModulePaths(path.dirname(file));
		module._compile(output[0].code, file);
		return module.exports.properties;
	} finally {
		await build.close();
	}
}

function onlyData(key, value) {
	const isData =
		value === null || ['string', 'number', 'boolean', 'object', 'undefined'].includes(typeof value);
	if (!isData) throw new Error(`Properties hold only data, but '${key}' is a ${typeof value}`);
	return value;
}

/** Writes a text as a template literal, in which the quotes of JSON need no backslash. */
function template(text) {
	return `\`${text.replaceAll(/[\\`]|\$(?=\{)/g, String.raw`\$&`)}\``;
}

module.exports = { computedProperties };
