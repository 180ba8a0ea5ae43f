const { availableParallelism } = require('node:os');

// ES modules among the libraries that we bundle; jest runs CommonJS, so it transforms them as it does our own code.
const esModules = [
	'mdast-util-[^/]+|micromark[^/]*|unist-util-[^/]+|decode-named-character-reference|character-entities|ccount',
	'escape-string-regexp|longest-streak|markdown-table|zwitch|devlop|trim-lines|htmlparser2',
	'entities|domhandler|domutils|dom-serializer|domelementtype|https-proxy-agent|proxy-agent-negotiate|agent-base',
	'proxy-from-env|p-limit|yocto-queue|flatted',
].join('|');

const common = {
	rootDir: __dirname,
	// As in the bundle: see build/leftOut.js.
	moduleNameMapper: {
		'^googleapis-common$': '<rootDir>/node_modules/googleapis-common/build/src/apirequest.js',
		'^gaxios$': '<rootDir>/build/inPlaceOf/gaxios.js',
		'^decode-named-character-reference$': '<rootDir>/build/inPlaceOf/namedCharacters.js',
		'^\\./mime-types\\.js$': '<rootDir>/build/inPlaceOf/mimeTypes.js',
	},
	testEnvironment: 'node',
	setupFilesAfterEnv: ['<rootDir>/test/setup.ts'],
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.dev/', '<rootDir>/dev/n8n/host/'],
	transform: {
		'^.+\\.(t|j|mj)s$': [
			'@swc/jest',
			{
				jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
				module: { type: 'commonjs' },
			},
		],
	},
	transformIgnorePatterns: [`/node_modules/(?!(${esModules})/)`],
};

/** Suites that need the real n8n; each is a folder under test/. */
const inN8n = ['e2e', 'browser', 'queue', 'hostile'];
/** `npm run test:versions`: on one version of n8n at a time, never with the others. */
const perVersion = process.env.VERSIONS ? ['versions'] : [];
const own = [...inN8n, 'chaos', 'versions'];
/** `.ci/run` plays all faults before the other tests: the table counts requests, and beside n8n some come too late. */
const played = process.env.FAULTS === 'played' ? ['faults'] : [];

/**
 * If nothing is chosen but suites, the files of a folder run together: see test/together/runTogether.ts. A part of a path or of a test's
 * name chooses from the files themselves.
 */
const isWhole = process.argv
	.slice(2)
	.every((argument) => /^(-.*|\d+|unit)$/.test(argument) || own.includes(argument));
const together = ['browser', 'chaos'];

const suite = (folder) => ({
	...common,
	displayName: folder,
	testMatch: [
		isWhole && together.includes(folder)
			? `<rootDir>/test/together/${folder}.test.ts`
			: `<rootDir>/test/${folder}/**/*.test.ts`,
	],
	globalSetup: `<rootDir>/test/${[...inN8n, 'versions'].includes(folder) ? 'e2e/globalSetup' : 'workers'}.ts`,
	...(folder === 'e2e' && { globalTeardown: '<rootDir>/test/e2e/globalTeardown.ts' }),
	...(folder === 'browser' && {
		globalSetup: '<rootDir>/test/browser/globalSetup.ts',
		globalTeardown: '<rootDir>/test/browser/globalTeardown.ts',
	}),
});

module.exports = {
	reporters: ['<rootDir>/test/reporter.ts'],
	testSequencer: '<rootDir>/test/sequencer.ts',
	// jest's own choice for a single file is to show everything.
	verbose: false,
	// n8n-core's HTTP agents outlive a test; what our own code must not leave behind, tests count themselves.
	forceExit: true,
	// Many files wait for an n8n or for a service; jest's own choice on two cores is one process.
	maxWorkers: Math.max(4, availableParallelism()),
	// What a file has loaded stays in its process for a while; the more of it, the longer each search for garbage. A new process is cheaper.
	workerIdleMemoryLimit: '300MB',
	projects: [
		{
			...common,
			displayName: 'unit',
			globalSetup: '<rootDir>/test/workers.ts',
			testMatch: [`<rootDir>/test/${isWhole ? 'together' : '**'}/*.test.ts`],
			testPathIgnorePatterns: [
				'/node_modules/',
				`<rootDir>/test/(together/)?(${[...own, ...played].join('|')})(/|.test.ts)`,
				...(isWhole ? [] : ['<rootDir>/test/together/']),
			],
		},
		...[...inN8n, 'chaos', ...perVersion].map(suite),
	],
};
