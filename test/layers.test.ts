import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { layers, describeWrongImport } from '../dev/lint/layers.mjs';

test.each([
	[
		'nodes/core/errors.ts',
		'nodes/fields/field.ts',
		'Imports go down: nodes/fields is above nodes/core',
	],
	['nodes/Workspace/google/errors.ts', 'nodes/Workspace/operation.ts', 'Imports go down'],
	['nodes/Workspace/byteSource.ts', 'nodes/Workspace/properties.ts', 'Imports go down'],
	[
		'nodes/Agent/AgentExecute/run.ts',
		'nodes/Agent/AgentSessionTrigger/fields.ts',
		'do not know each other',
	],
	[
		'nodes/Agent/session/credentials.ts',
		'nodes/Workspace/google/transport.ts',
		'do not know each other',
	],
])('%s may not import %s', (file, target, said) => {
	expect(describeWrongImport(file, target)).toContain(said);
});

test.each([
	['nodes/http/retry.ts', 'nodes/core/errors.ts'],
	['nodes/Workspace/google/errors.ts', 'nodes/Workspace/google/advice.ts'],
	['nodes/Workspace/actions/mail/list.operation.ts', 'nodes/Workspace/operation.ts'],
	['test/core/text.test.ts', 'nodes/core/errors.ts'],
])('%s may import %s', (file, target) => {
	expect(describeWrongImport(file, target)).toBeUndefined();
});

test('docs/architecture.md shows the layers in the same order', () => {
	const page = readFileSync(path.join(__dirname, '../docs/architecture.md'), 'utf8');
	const folders = [...page.matchAll(/^\| `([^`]+)\/?`/gm)].map(([, folder = '']) =>
		folder.replace(/\/$/, ''),
	);
	const places = folders
		.filter((folder) => layers.includes(folder))
		.map((folder) => layers.indexOf(folder));
	expect(places.length).toBeGreaterThan(10);
	expect(places).toEqual(places.toSorted((a, b) => a - b));
});

const root = path.join(__dirname, '..');
const productFiles = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts'))
		.map((file) => path.join(folder, file)),
);

/** What several files have in common, and how often. */
const counted = (texts: readonly string[]) => {
	const counts = new Map<string, number>();
	for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
	return [...counts];
};

test('a folder has at most 14 files, and a file at most 400 lines', () => {
	const folders = counted(productFiles.map((file) => path.dirname(file)));
	expect(folders.filter(([, count]) => count > 14)).toEqual([]);
	const linesOf = (file: string) =>
		readFileSync(path.join(root, file), 'utf8').split('\n').length - 1;
	const lines = productFiles.map((file) => [file, linesOf(file)] as const);
	expect(lines.length).toBeGreaterThan(100);
	expect(lines.filter(([, count]) => count > 400)).toEqual([]);
});

// Where the folder is the name: each operation of a resource, and what n8n or the build looks for.
const shared = /^(index|fields|errors|properties)\.ts$|\.operation\.ts$/;

test('a name of a file leads to one file', () => {
	const names = counted(
		productFiles.map((file) => path.basename(file)).filter((name) => !shared.test(name)),
	);
	expect(names.filter(([, count]) => count > 1)).toEqual([]);
});
