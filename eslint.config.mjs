import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import tseslint from 'typescript-eslint';

import { noImportCircle } from './dev/lint/importCircles.mjs';
import { importsGoDown } from './dev/lint/layers.mjs';

const product = ['nodes/**/*.ts', 'credentials/**/*.ts'];

/** One direction of import: what stands in `files` never imports `group`. */
const never = (files, ...groups) => ({
	files,
	rules: {
		'@typescript-eslint/no-restricted-imports': [
			'error',
			{
				paths: [
					{
						name: 'googleapis',
						message: 'Import the API by its sub-path: the root loads all of them.',
					},
					{ name: 'n8n-core', message: 'Only tests may use n8n-core.' },
				],
				patterns: groups,
			},
		],
	},
});

const group = (patterns, message, more = {}) => ({ group: patterns, message, ...more });
const devOnly = group(
	['**/dev/**', '**/test/**', '**/bench/**', 'n8n-core', 'n8n-core/*'],
	'The package never imports what only development has.',
);
const heavy = group(
	['googleapis/*', 'nodemailer', 'nodemailer/*', 'ws', 'mdast-*', 'micromark*', 'htmlparser2'],
	'Load it at first use: import a file of its own dynamically.',
	{ allowTypeImports: true },
);

export default tseslint.config(
	{
		ignores: [
			'dist/',
			'.dev/',
			'coverage/',
			'dev/n8n/host/',
			'node_modules/',
			'nodes/**/*.worker.js',
		],
	},
	...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
	{
		files: ['**/*.ts'],
		languageOptions: {
			parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
		},
		rules: {
			'@typescript-eslint/restrict-template-expressions': [
				'error',
				{ allowNumber: true, allowBoolean: true },
			],
			'@typescript-eslint/consistent-type-imports': 'error',
		},
	},
	{
		files: product,
		...n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport,
	},
	{
		// Prettier wraps code, but no comments.
		files: product,
		rules: {
			'max-len': ['error', { code: 1000, comments: 100, tabWidth: 4, ignoreUrls: true }],
		},
	},
	{
		files: ['package.json'],
		plugins: n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport.plugins,
		languageOptions: {
			parser: tseslint.parser,
			parserOptions: { extraFileExtensions: ['.json'] },
		},
		rules: n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport.rules,
	},
	{
		files: product,
		plugins: { 'n8n-nodes-base': n8nNodesBase },
		rules: { 'no-console': 'error' },
	},
	{
		files: ['nodes/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.nodes.rules,
			// The community plugin demands the opposite (NodeConnectionTypes.Main instead of 'main'), and n8n follows that one.
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
		},
	},
	{
		files: ['credentials/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.credentials.rules,
			// For the names of pages in n8n's own documentation; community packages give a URL.
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
		},
	},
	{
		// 'Ignore SSL Issues' is a switch, not a secret.
		files: ['credentials/AgentApi.credentials.ts'],
		rules: { '@n8n/community-nodes/credential-password-field': 'off' },
	},
	{
		// The user's key is public.
		files: ['credentials/AgentSignatureApi.credentials.ts'],
		rules: { 'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off' },
	},
	{
		files: [...product, 'dev/**/*.ts'],
		plugins: {
			house: {
				rules: { 'no-import-circle': noImportCircle, 'imports-go-down': importsGoDown },
			},
		},
		rules: { 'house/no-import-circle': 'error', 'house/imports-go-down': 'error' },
	},
	never(product, devOnly),
	never(
		['nodes/Workspace/actions/**/*.operation.ts'],
		devOnly,
		heavy,
		group(
			['**/google/transport', '**/google/clients', '**/http/**', '**/google/errors'],
			'An operation is handed a client.',
		),
	),
);
