import { readFileSync } from 'node:fs';
import path from 'node:path';

import { layers, wrongImport } from '../dev/lint/layers.mjs';

test.each([
	['nodes/core/errors.ts', 'nodes/fields/field.ts', 'Imports go down: nodes/fields is above nodes/core'],
	['nodes/Workspace/google/errors.ts', 'nodes/Workspace/operation.ts', 'Imports go down'],
	['nodes/Workspace/source.ts', 'nodes/Workspace/properties.ts', 'Imports go down'],
	['nodes/Agent/AgentExecute/run.ts', 'nodes/Agent/AgentSessionTrigger/fields.ts', 'do not know each other'],
	['nodes/Agent/session/credentials.ts', 'nodes/Workspace/google/transport.ts', 'do not know each other'],
])('%s may not import %s', (file, target, said) => {
	expect(wrongImport(file, target)).toContain(said);
});

test.each([
	['nodes/http/retry.ts', 'nodes/core/errors.ts'],
	['nodes/Workspace/google/errors.ts', 'nodes/Workspace/google/advice.ts'],
	['nodes/Workspace/actions/mail/list.operation.ts', 'nodes/Workspace/operation.ts'],
	['test/core/text.test.ts', 'nodes/core/errors.ts'],
])('%s may import %s', (file, target) => {
	expect(wrongImport(file, target)).toBeUndefined();
});

test('docs/architecture.md shows the layers in the same order', () => {
	const page = readFileSync(path.join(__dirname, '../docs/architecture.md'), 'utf8');
	const folders = [...page.matchAll(/^\| `([^`]+)\/?`/gm)].map(([, folder = '']) =>
		folder.replace(/\/$/, ''),
	);
	const places = folders.filter((folder) => layers.includes(folder)).map((folder) => layers.indexOf(folder));
	expect(places.length).toBeGreaterThan(10);
	expect(places).toEqual(places.toSorted((a, b) => a - b));
});
