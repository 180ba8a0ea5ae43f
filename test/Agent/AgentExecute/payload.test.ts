import { initialPayload } from '../../../nodes/Agent/AgentExecute/payload';

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
	['a list as text', '[1]', 'not a list'],
	['a list', [1], 'not a list'],
	['null as text', 'null', 'not an empty value'],
	['nothing', undefined, 'not an empty value'],
	['a number', '5', 'not a number'],
	['a text', '"x"', 'not a string'],
])('%s is refused', (_name, value, reason) => {
	expect(() => json(value)).toThrow(reason);
});

test.each(['', '{', "{'a': 1}", '{"a": 1,}', '{"task": {{ $json.x }}}'])(
	'%j is refused as invalid JSON',
	(text) => {
		expect(() => json(text)).toThrow("'Payload' is not valid JSON");
	},
);
