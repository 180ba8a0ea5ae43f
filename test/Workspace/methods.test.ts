import { readFileSync } from 'node:fs';
import path from 'node:path';

import { resources } from '../../nodes/Workspace/resources';

interface Contract {
	readonly methods: Readonly<Record<string, { readonly scopes: readonly string[] } | undefined>>;
}

const contracts = ['gmail.v1', 'sheets.v4', 'docs.v1', 'drive.v3'].map(
	(name) => JSON.parse(readFileSync(path.join(__dirname, `../contract/${name}.json`), 'utf8')) as Contract,
);
const scopesOf = (method: string) => contracts.flatMap(({ methods }) => methods[method]?.scopes ?? []);

const declared = resources.flatMap(({ value, operations }) =>
	operations.flatMap((operation) =>
		Object.entries(operation.methods).map(
			([method, scope]) => [`${value} ${operation.value}`, method, scope] as const,
		),
	),
);

test('every operation says what it calls', () => {
	const operations = resources.flatMap((resource) => resource.operations);
	expect(operations.filter(({ methods }) => Object.keys(methods).length === 0)).toEqual([]);
});

test.each(declared)('%s: Google allows %s with %s', (_, method, scope) => {
	expect(scopesOf(method)).toContain(`https://www.googleapis.com/auth/${scope}`);
});
