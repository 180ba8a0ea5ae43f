import fc from 'fast-check';

import { isNodeError } from '../../../nodes/core/errors';
import { readParameters } from '../../../nodes/fields/params';
import { getAllFields } from '../../../nodes/Workspace/operation';
import { operationChoices, resources } from '../../../nodes/Workspace/resources';
import { readInputObject } from '../../../nodes/Workspace/runner/inputObject';

const read = (input: unknown, allowFilePaths = false, allowedOperations: unknown = []) => {
	const {
		resource,
		operation,
		values: given,
	} = readInputObject(input, allowedOperations, allowFilePaths);
	return { name: `${resource} ${operation.value}`, given };
};

test.each<[string, object]>([
	['mail send', { operation: 'send', to: 'name@email.com', subject: 'S', body: 'B' }],
	['mail list', { operation: 'list', status: 'unread' }],
	['mail search', { operation: 'search', query: 'from:a', maxResults: 5 }],
	['mail read', { operation: 'read', messageId: 'm1' }],
	['file upload', { operation: 'upload', name: 'a.txt', content: 'YQ==' }],
	['spreadsheet read', { operation: 'read', spreadsheetId: 's1', range: 'A1' }],
	['spreadsheet write', { operation: 'write', spreadsheetId: 's1', range: 'A1', values: [] }],
	['spreadsheet append', { operation: 'append', spreadsheetId: 's1', range: 'A1', values: [] }],
	['document read', { operation: 'read', documentId: 'd1' }],
	['document write', { operation: 'write', documentId: 'd1', content: 'x' }],
	['document append', { operation: 'append', documentId: 'd1', content: 'x' }],
	['document create', { operation: 'create', resource: 'document', title: 'T' }],
	['spreadsheet create', { operation: 'create', resource: 'spreadsheet', title: 'T' }],
])('%s', (name, input) => {
	expect(read(input).name).toBe(name);
	expect(read(JSON.stringify(input)).name).toBe(name);
});

test('options stand at the same level as the fields; the operation and the resource are no parameters', () => {
	const input = {
		operation: 'list',
		resource: 'mail',
		from: 'a',
		includeBody: true,
		timeoutSeconds: 2,
	};
	expect(read(input).given).toEqual({ from: 'a', includeBody: true, timeoutSeconds: 2 });
});

test.each<[string, unknown, string, (string | RegExp)?]>([
	['an array', [{ operation: 'list' }], 'The input object must be an object, not an array'],
	['JSON text of an array', '[]', 'The input object must be an object, not an array'],
	['a number', 5, 'The input object must be an object, not a number'],
	['nothing', null, 'The input object must be an object, not null'],
	[
		'an expression without a result',
		undefined,
		'The input object must be an object, not undefined',
	],
	['no JSON', '{ operation: list }', 'The input object is not valid JSON'],
	...(
		[
			['no operation', {}],
			['another operation', { operation: 'delete' }],
			['another operation of a resource', { operation: 'delete', resource: 'mail' }],
			['an empty operation', { operation: '' }],
			['an operation that is no text', { operation: ['send'] }],
			['another resource', { operation: 'read', resource: 'calendar' }],
			['a resource without the operation', { operation: 'create', resource: 'mail' }],
			['create without a resource', { operation: 'create', title: 'T' }],
			['read without an id', { operation: 'read' }],
			['no resource in so many words', { operation: 'read', resource: null }],
			['an empty resource', { operation: 'read', resource: '' }],
			['two ids', { operation: 'read', documentId: 'd1', messageId: 'm1' }],
		] as const
	).map(([name, input]): [string, object, string, RegExp] => [
		name,
		input,
		"'resource' and 'operation' do not name one operation",
		/^Choose one of: document append,.* spreadsheet write\./,
	]),
	[
		'an unknown key',
		{ operation: 'send', too: 'a' },
		"Unknown key 'too' for 'send' of mail",
		/^Allowed keys: replyToMessageId, to, subject,.*, saveAsDraft,.*, timeoutSeconds/,
	],
	[
		'two unknown keys',
		{ operation: 'send', too: 'a', cq: 'b' },
		"Unknown key 'too', 'cq' for 'send' of mail",
	],
	['a key of Object', '{"operation":"send","__proto__":{}}', "Unknown key '__proto__'"],
	[
		'a file path',
		{ operation: 'upload', name: 'a', contentSource: 'filePath', content: '/x' },
		"'contentSource' cannot be filePath: this node does not allow file paths",
		"Turn on 'Allow File Paths'",
	],
])('%s is refused', (_, input, message, description = '') => {
	const failure = (() => {
		try {
			return read(input);
		} catch (error) {
			return error;
		}
	})();
	expect(failure).toMatchObject({
		name: 'NodeError',
		code: 400,
		message: expect.stringContaining(message) as unknown,
		...(description && { description: expect.stringMatching(description) as unknown }),
	});
});

test('a file path is read where the node allows it', () => {
	const input = { operation: 'upload', name: 'a', contentSource: 'filePath', content: '/x' };
	expect(read(input, true).name).toBe('file upload');
});

test('what is wrong with the JSON is said without its content', () => {
	expect(() => read('{"body": "secret" "x"}')).toThrow(/^The input object is not valid JSON/);
	expect(() => read('{"body": "secret" "x"}')).not.toThrow(/secret/);
	const advice = expect.stringContaining('without the ```') as string;
	const refusal = expect.objectContaining({ description: advice }) as Error;
	expect(() => read('```json\n{}\n```')).toThrow(refusal);
});

describe('allowed operations', () => {
	const append = { operation: 'append', spreadsheetId: 's1', range: 'A1', values: [] };
	const search = { operation: 'search', query: 'from:a' };
	const write = { ...append, operation: 'write' };
	const elsewhere = { operation: 'append', documentId: 'd1', content: 'x' };
	const only = ['spreadsheet.append'];

	test('there are as many choices as operations, one for drafts only, and none chosen is all of them', () => {
		const operations = resources.flatMap((resource) => resource.operations);
		expect(new Set(operationChoices.map(({ value }) => value)).size).toBe(
			operations.length + 1,
		);
		for (const input of [append, search, write, elsewhere])
			expect(() => read(input)).not.toThrow();
		for (const none of [undefined, null]) expect(() => read(search, false, none)).not.toThrow();
	});

	test('what is chosen is done, all else refused, whatever the object says of its resource', () => {
		expect(read(append, false, only).name).toBe('spreadsheet append');
		for (const input of [search, write, elsewhere, { ...search, resource: 'mail' }]) {
			expect(() => read(input, false, only)).toThrow(/is not allowed here/);
		}
	});

	test.each(['spreadsheet.append', 'mail.search', '', {}, true, ['no.such']])(
		'%j allows nothing',
		(given) => {
			expect(() => read(search, false, given)).toThrow(/Allowed Operations|not allowed here/);
		},
	);
});

describe('any input', () => {
	const all = resources.flatMap(({ value: resource, operations }) =>
		operations.map((operation) => ({ resource, operation })),
	);

	/** Whatever comes in is either understood or refused with a sentence; nothing else ever happens. */
	function understoodOrRefused(act: () => unknown): boolean {
		try {
			act();
			return true;
		} catch (error) {
			return isNodeError(error) && error.code === 400 && error.message !== '';
		}
	}

	const timezone = 'UTC';

	test('any value as the input object', () => {
		fc.assert(
			fc.property(fc.oneof(fc.jsonValue(), fc.string(), fc.anything()), (input) =>
				understoodOrRefused(() => {
					const { operation, values: given } = readInputObject(input, [], true);
					readParameters(getAllFields(operation), given, { mode: 'json', timezone });
				}),
			),
			{ numRuns: 2000 },
		);
	});

	test.each(
		all.map(
			({ resource, operation }) => [`${resource} ${operation.value}`, operation] as const,
		),
	)('any values for the fields of %s', (_, operation) => {
		const names = [...operation.fields, ...operation.options].map(({ name }) => name);
		const values = fc.oneof(
			fc.jsonValue(),
			fc.string(),
			fc.anything(),
			fc.record({ __rl: fc.constant(true), mode: fc.string(), value: fc.anything() }),
		);
		const given = fc.dictionary(fc.constantFrom(...names), values, { maxKeys: names.length });
		fc.assert(
			fc.property(
				given,
				fc.constantFrom('fields' as const, 'json' as const),
				(object, mode) =>
					understoodOrRefused(() =>
						readParameters(getAllFields(operation), object, { mode, timezone }),
					),
			),
			{ numRuns: 300 },
		);
	});
});
