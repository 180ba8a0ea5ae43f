// ES modules among the libraries that we bundle; jest runs CommonJS, so it transforms them as it does our own code.
const esModules =
	'mdast-util-[^/]+|micromark[^/]*|unist-util-[^/]+|decode-named-character-reference|character-entities|ccount|' +
	'escape-string-regexp|longest-streak|markdown-table|zwitch|devlop|trim-lines|html-to-text|@selderee|selderee|parseley|leac|peberminta|' +
	'entities|htmlparser2|domhandler|domutils|dom-serializer|domelementtype|https-proxy-agent|agent-base|proxy-from-env|p-limit|p-queue|p-timeout|eventemitter3|' +
	'yocto-queue|emulate|commander|yaml';

const common = {
	rootDir: __dirname,
	testEnvironment: 'node',
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.dev/', '<rootDir>/dev/n8n/host/'],
	transform: {
		'^.+\\.(t|j|mj)s$': [
			'@swc/jest',
			{ jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
		],
	},
	transformIgnorePatterns: [`/node_modules/(?!(${esModules})/)`],
};

const suite = (displayName, folders) => ({
	...common,
	displayName,
	testMatch: folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
});

module.exports = {
	projects: [
		{
			...common,
			displayName: 'unit',
			testMatch: ['<rootDir>/test/**/*.test.ts'],
			testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(e2e|browser|queue|chaos)/'],
		},
	],
	testTimeout: 30_000,
};
void suite;
