const { readdirSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

/**
 * Creates a Rolldown plugin that computes each node's `properties.ts` when the package is built, and ships the result as data. n8n reads
 * the properties of every node when it starts, but runs few of the nodes. So the code behind them is loaded with the first execution.
 *
 * @param {string} root the folder of the project
 * @param {object[]} plugins the other plugins of the build
 */
const computedProperties = (root, plugins) => ({
	name: 'computed-properties',
	load: {
		filter: { id: /[\\/]properties\.ts$/ },
		async handler(file) {
			if (!readdirSync(path.dirname(file)).some((name) => name.endsWith('.node.ts')))
				return undefined;
			const data = await computeProperties(root, file, plugins);
			// V8 parses JSON faster than it compiles the same data as code.
			return {
				code: writeParsedText(JSON.parse(JSON.stringify(data, refuseCode))),
				moduleType: 'js',
			};
		},
	},
});

async function computeProperties(root, file, plugins) {
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
		const { output } = await build.generate({
			format: 'cjs',
			exports: 'named',
			codeSplitting: false,
		});
		const module = new Module(file);
		module.paths = Module._nodeModulePaths(path.dirname(file));
		module._compile(output[0].code, file);
		return module.exports.properties;
	} finally {
		await build.close();
	}
}

function refuseCode(key, value) {
	const isData =
		value === null ||
		['string', 'number', 'boolean', 'object', 'undefined'].includes(typeof value);
	if (!isData) throw new Error(`Properties hold only data, but '${key}' is a ${typeof value}`);
	return value;
}

/** In characters. The constant for a shorter text would be longer than the copies that it saves. */
const minSharedLength = 40;

/** Writes the code that parses data from a text. A part that occurs several times, such as a common option, is written once. */
function writeParsedText(data) {
	const counts = new Map();
	const count = (value) => {
		const text = JSON.stringify(value);
		counts.set(text, (counts.get(text) ?? 0) + 1);
		if (counts.get(text) === 1 && value instanceof Object) Object.values(value).forEach(count);
	};
	count(data);
	const shared = new Map();
	const write = (value) => {
		const text = JSON.stringify(value);
		if (counts.get(text) > 1 && text.length >= minSharedLength) {
			if (!shared.has(text)) shared.set(text, `text${shared.size}`);
			return `\${${shared.get(text)}}`;
		}
		if (Array.isArray(value)) return `[${value.map(write).join()}]`;
		if (!(value instanceof Object)) return escapeForTemplate(text);
		const entries = Object.entries(value);
		return `{${entries.map(([key, element]) => `${JSON.stringify(key)}:${write(element)}`).join()}}`;
	};
	const template = write(data);
	const constants = [...shared].map(
		([text, name]) => `const ${name} = \`${escapeForTemplate(text)}\`;\n`,
	);
	return `${constants.join('')}export const properties = JSON.parse(\`${template}\`);`;
}

/** In a template literal, the quotes of JSON need no backslash. */
const escapeForTemplate = (text) => text.replaceAll(/[\\`]|\$(?=\{)/g, String.raw`\$&`);

module.exports = { computedProperties };
