import {
	type ExecuteParams,
	initialPayload,
	waitSettings,
} from '../../../nodes/Agent/AgentExecute/parameters';

const none = { task: '', input: '', payloadJson: '{}' };
const json = (payloadJson: unknown) => initialPayload({ ...none, payloadMode: 'json', payloadJson })();

test('task and input become the JSON text of an object with these two keys', () => {
	expect(initialPayload({ ...none, payloadMode: 'taskAndInput', task: 'a "b"', input: 'ü\n' })()).toBe(
		'{"task":"a \\"b\\"","input":"ü\\n"}',
	);
});

test('a JSON text that is an object goes out as it stands, spaces and key order included', () => {
	expect(json('{ "z": 1,  "a": [2] }')).toBe('{ "z": 1,  "a": [2] }');
});

test('an object from an expression goes out as its JSON text', () => {
	expect(json({ task: 'x', deep: { n: null } })).toBe('{"task":"x","deep":{"n":null}}');
});

test.each([
	['a list as text', '[1]', 'not an array'],
	['a list', [1], 'not an array'],
	['null as text', 'null', 'not null'],
	['a number', '5', 'not a number'],
	['a text', '"x"', 'not text'],
])('%s is refused', (_name, value, reason) => {
	expect(() => json(value)).toThrow(reason);
});

test.each(['', '{', "{'a': 1}", '{"a": 1,}', '{"task": {{ $json.x }}}'])(
	'%j is refused as invalid JSON',
	(text) => {
		expect(() => json(text)).toThrow("'Payload (JSON)' is not valid JSON");
	},
);

test('of invalid JSON the place is told, where there is one', () => {
	expect(() => json('{"a": 1,}')).toThrow("'Payload (JSON)' is not valid JSON (at position 8)");
	expect(() => json('')).toThrow(/valid JSON$/);
});

test.each([
	[{ waitUntil: 'silence' }, undefined],
	[
		{ waitUntil: 'match', matchField: ' type ', matchValue: ['a', 'b'] },
		{ field: 'type', values: ['a', 'b'] },
	],
	[
		{ waitUntil: 'match', matchField: 'type', matchValue: [] },
		{ field: 'type', values: [''] },
	],
	[
		{ waitUntil: 'match', matchField: '', matchValue: ['a'] },
		{ field: '', values: ['a'] },
	],
	[{ waitUntil: 'close', matchField: 'type', matchValue: ['a'] }, undefined],
])('what ends a wait by %j is %j', (given, match) => {
	const options = { failureField: 'type', failureValue: [], filterField: ' type ', filterValue: ['a'] };
	const params = { waitForMessages: true, ...options, ...given } as unknown as ExecuteParams;
	expect(waitSettings(params)).toMatchObject({
		match,
		failure: undefined,
		filter: { field: 'type', values: ['a'] },
	});
	expect(waitSettings({ ...params, waitForMessages: false })).toBeUndefined();
});
