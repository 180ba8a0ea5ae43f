// What n8n's scanner for community packages finds, with the rules for n8n Cloud and without regard to comments that switch rules off.
// Everything that it finds has to stand in scannerExceptions.json with its reason, and everything there has to be found.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const root = path.join(import.meta.dirname, '..', '..');
/** Reasons by rule, or by rule and file. */
const exceptions = JSON.parse(
	readFileSync(path.join(import.meta.dirname, 'scannerExceptions.json'), 'utf8'),
);

const eslint = new ESLint({
	cwd: root,
	overrideConfigFile: true,
	allowInlineConfig: false,
	overrideConfig: [
		{ ignores: ['nodes/**/*.worker.js'] },
		{
			files: ['nodes/**/*.ts', 'credentials/**/*.ts', 'package.json'],
			languageOptions: {
				parser: tseslint.parser,
				parserOptions: { extraFileExtensions: ['.json'] },
			},
			...n8nCommunityNodesPlugin.configs.recommended,
		},
	],
});

const used = new Set();
const found = [];
for (const { filePath, messages } of await eslint.lintFiles([
	'nodes',
	'credentials',
	'package.json',
])) {
	const file = path.relative(root, filePath).replaceAll(path.sep, '/');
	for (const { ruleId, line, message } of messages) {
		const known = [`${ruleId} ${file}`, String(ruleId)].find((key) => key in exceptions);
		if (known) used.add(known);
		else found.push(`${file}:${line} ${ruleId}: ${message}`);
	}
}
const unused = Object.keys(exceptions).filter((key) => !used.has(key));
if (found.length > 0)
	console.error(`n8n's scanner finds what is no exception:\n${found.join('\n')}`);
if (unused.length > 0)
	console.error(`An exception for n8n's scanner that is not needed: ${unused.join(', ')}`);
if (found.length + unused.length > 0) process.exitCode = 1;
