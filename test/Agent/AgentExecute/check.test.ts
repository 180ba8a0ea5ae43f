import type { IDataObject } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server.ts';
import { fields, options, readWaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import { readParameters } from '../../../nodes/fields/params';
import { failureOf } from '../../createExecuteContext';
import {
	bodiesOf,
	expectFailure,
	goOn,
	numbered,
	oneAtATime,
	refusing,
	runExecute,
	type RunOptions,
	serveEach,
	sessionsOf,
	signer,
} from './executeRun';
import { countStoredResults } from '../../sharedState';

// All items are checked before anything is sent.

let service: AgentService;
const serve = serveEach((started) => (service = started));
const run = (options: RunOptions) => runExecute(service, options);

/** An expression that gives one value for the fifth item, and another for the others. */
const inFifth = (wrong: string, right: string) => `={{ $json.n === 4 ? ${wrong} : ${right} }}`;
const timeout = { timeoutSeconds: inFifth('"soon"', '9') };
const timestamp = inFifth('1795253731', '1795253731904');
const waitForCount = { waitForMessages: true, waitUntil: 'count' };

const wrong: Array<[string, IDataObject]> = [
	['a payload', { payloadMode: 'json', payloadJson: inFifth('[]', '{ n: $json.n }') }],
	['a step', { startStepName: inFifth('""', '"start"') }],
	['an option', { options: { timeLimits: { limits: timeout } } }],
	['an expression', { task: inFifth('$("Nowhere").item.json.x', '"x"') }],
	['a timestamp', { options: { ...signer, timestamp } }],
	['the end of a wait', { ...waitForCount, messageCount: inFifth('-1', '1') }],
];

test.each(wrong)(
	'%s that is wrong in the fifth stops the node, and nothing is sent',
	async (_, parameters) => {
		await serve();
		const error = await expectFailure(run({ items: numbered(6), parameters }), 400, '');
		expect(error.context.itemIndex).toBe(4);
		expect(service.connections).toBe(0);
	},
);

test.each(wrong.slice(0, 5))(
	'under Continue on Fail %s fails that item only',
	async (_, parameters) => {
		await serve();
		const items = await run({ items: numbered(6), parameters, node: goOn });
		const failed = items.map(({ json }) => 'error' in json);
		expect(failed).toEqual([false, false, false, false, true, false]);
		expect(service.requests).toHaveLength(5);
	},
);

test('a credential that cannot be used is the failure of every item', async () => {
	await serve();
	const items = await run({ items: numbered(3), node: goOn, api: { apiKey: '' } });
	expect(items.map(({ json }) => json)).toMatchObject(Array(3).fill({ error: { code: 400 } }));
});

test('no items are none to check', async () => {
	await serve();
	expect(await run({ items: [], api: { apiKey: '' } })).toEqual([]);
});

test('under Retry On Fail a refusal forgets nothing of what was sent', async () => {
	let isRefusing = true;
	await serve(refusing('s1', () => isRefusing));
	const parameters = { sessionId: '={{ "s" + $json.n }}', options: oneAtATime };
	const node = { retryOnFail: true };
	const options = { node, executionId: 'refused-between', items: numbered(3) };
	await failureOf(run({ ...options, parameters }));
	await failureOf(run({ ...options, parameters: { ...parameters, startStepName: ' ' } }));
	isRefusing = false;
	expect(await run({ ...options, parameters })).toHaveLength(3);
	expect(sessionsOf(service)).toEqual(['s0', 's1', 's1', 's2']);
	expect(countStoredResults()).toBe(0);
});

const wrongAtLast = { startStepName: '={{ $json.n < 999 ? "start" : "" }}' };

/** Time goes on by 1 ms at every look. */
function letTimePass() {
	let time = 0;
	return jest.spyOn(performance, 'now').mockImplementation(() => (time += 1));
}

test('n8n gets its turn in between, when they are many', async () => {
	await serve();
	const now = letTimePass();
	let turns = 0;
	const count = () => {
		turns++;
		counting = setImmediate(count);
	};
	let counting = setImmediate(count);
	const error = await failureOf(run({ items: numbered(1000), parameters: wrongAtLast }));
	clearImmediate(counting);
	now.mockRestore();
	expect(error.context.itemIndex).toBe(999);
	expect(turns).toBeGreaterThanOrEqual(40);
});

describe('a stop during the check', () => {
	/** The stop comes between two slices. */
	async function stoppedRun(node?: RunOptions['node']) {
		await serve();
		const now = letTimePass();
		const stop = new AbortController();
		setImmediate(() => {
			stop.abort();
		});
		const options = { items: numbered(1000), parameters: wrongAtLast, node };
		try {
			return await run({ ...options, signal: stop.signal });
		} finally {
			now.mockRestore();
		}
	}

	test('ends it, and nothing is sent', async () => {
		expect(await failureOf(stoppedRun())).toMatchObject({
			message: 'The execution was stopped',
			description: 'The agent was not started.',
		});
		expect(service.connections).toBe(0);
	});

	test('under Continue on Fail every item says so', async () => {
		const items = await stoppedRun(goOn);
		const codes = items.map(({ json }) => (json.error as { code: number }).code);
		expect(codes).toEqual(numbered(1000).map(() => 499));
		expect(service.connections).toBe(0);
	});
});

describe('values of two users are not mixed', () => {
	const own = {
		userId: '={{ $json.user }}',
		userPublicKey: '={{ $json.key }}',
		signature: '={{ $json.signature }}',
		timestamp: '={{ $json.time }}',
	};
	const complete = { user: '0xb', key: '0xc', signature: '0xd', time: 1_795_253_731_904 };
	const noTime = "'Timestamp (Milliseconds)' is not a time in milliseconds";
	const isMissing = (value: string) => `The ${value} is missing`;

	test.each<[string, IDataObject, string]>([
		['an empty signature', { ...complete, signature: '' }, isMissing('signature')],
		['a signature of spaces', { ...complete, signature: '  ' }, isMissing('signature')],
		['a signature that is null', { ...complete, signature: null }, isMissing('signature')],
		['no signature', { ...complete, signature: undefined }, isMissing('signature')],
		['an empty user', { ...complete, user: '' }, isMissing('user ID')],
		['no public key', { ...complete, key: undefined }, isMissing('user public key')],
		['no timestamp', { ...complete, time: undefined }, noTime],
		['the timestamp 0', { ...complete, time: 0 }, noTime],
		['the timestamp 0 as text', { ...complete, time: '0' }, noTime],
		['a timestamp of 0 and spaces', { ...complete, time: ' 0 ' }, noTime],
		['no value at all', {}, isMissing('user ID')],
		[
			'a timestamp that is no number',
			{ ...complete, time: { at: 1 } },
			"'Signature Override: Timestamp (Milliseconds)' must be a whole number, not an object",
		],
	])('an item with %s is refused', async (_, json, message) => {
		await serve();
		const items = [{ json: complete }, { json }, { json: complete }];
		const error = await expectFailure(run({ items, parameters: { options: own } }), 400, '');
		expect([error.message, error.context.itemIndex]).toEqual([message, 1]);
		expect(service.connections).toBe(0);
	});

	test('an option that has some of the values only is refused', async () => {
		await serve();
		const { userId, userPublicKey, signature } = own;
		const parameters = { options: { userId, userPublicKey, signature } };
		const running = run({ items: [{ json: complete }], parameters });
		await expectFailure(running, 400, "'Timestamp (Milliseconds)' is not a time");
	});
});

describe('a signature credential that names its hosts', () => {
	const own = { userId: '1', userPublicKey: '2', signature: '3', timestamp: 1_795_253_731_904 };

	test.each<[string, IDataObject]>([
		['a call', {}],
		['a call with values of its own', { options: own }],
	])('%s to another host is refused, and nothing is sent', async (_, parameters) => {
		await serve();
		const running = run({ signer: { allowedHosts: 'agent.example.com' }, parameters });
		const { message } = await expectFailure(running, 400, '', 'agent.example.com');
		const { host } = new URL(service.url);
		expect(message).toBe(`The Agent Signature API credential is not allowed for ${host}`);
		expect(service.connections).toBe(0);
	});

	test('so is a call whose messages would come from another host', async () => {
		await serve();
		const signer = { allowedHosts: '127.0.0.1' };
		const api = { webSocketUrl: 'wss://elsewhere.example' };
		const wait = { waitForMessages: true, waitUntil: 'close' };
		const running = run({
			signer,
			api,
			parameters: { ...wait, options: { openChannel: 'after' } },
		});
		await expectFailure(running, 400, 'is not allowed for elsewhere.example');
		expect(service.connections).toBe(0);
	});

	test.each([['127.0.0.1'], [['agent.example.com', ' 127.0.0.1 ']]])(
		'its own host is called: %j',
		async (allowedHosts) => {
			await serve();
			expect(await run({ signer: { allowedHosts } })).toHaveLength(1);
		},
	);

	test.each([
		[['agent.example.com'], 'is not allowed for 127.0.0.1'],
		[[undefined], "'Allowed Hosts' of the Agent Signature API credential"],
		...[[], ', ', undefined, null, 5, {}].map((value): [unknown, string] => [
			value,
			"'Allowed Hosts' of the Agent Signature API credential gives no hosts",
		]),
	])('an expression that gives %j does not allow any host', async (allowedHosts, message) => {
		await serve();
		await expectFailure(run({ signer: { allowedHosts } as IDataObject }), 400, message);
		expect(service.connections).toBe(0);
	});
});

describe('an expression that comes out empty', () => {
	const emptyIn = (field: string) => `The expression in '${field}' is empty for this item`;
	const session = emptyIn('Session ID');
	const payload = emptyIn('Payload (JSON)');
	const noPayload = "'Payload (JSON)' is empty for this item";
	const emptyPayload = "'Payload (JSON)' has only empty values for this item";
	const task = "'Task' and 'Input' are empty for this item";
	const inJson = (payloadJson: string) => ({ payloadMode: 'json', payloadJson });

	test.each<[IDataObject, string]>([
		[{ sessionId: '={{ $json.nope }}' }, session],
		[{ sessionId: '={{ "  " }}' }, session],
		[{ sessionId: '=chat {{ $json.nope }}' }, session],
		[{ sessionId: '={{ $json.nope?.id }}' }, session],
		[{ sessionId: "={{ $json.nope ?? '' }}" }, session],
		[{ sessionId: "={{ $json.nope /* as in $fromAI('session') */ }}" }, session],
		[inJson('={{ $json.nope }}'), payload],
		[inJson("={{ $json.nope ?? '' }}"), noPayload],
		[inJson('={"task": "{{ $json.nope }}"}'), emptyPayload],
		[inJson('={{ { task: $json.nope, input: null } }}'), emptyPayload],
		[inJson('={{ { task: { text: "" } } }}'), emptyPayload],
		[{ task: '={{ $json.nope }}' }, emptyIn('Task')],
		[{ task: 'Summarize', input: '={{ $json.nope }}' }, emptyIn('Input')],
		[{ task: "={{ $json.nope ?? '' }}" }, task],
		[{ task: '', input: '' }, task],
		[{ task: ' ', input: '={{ "" }}' }, task],
	])('is refused: %j: %s', async (parameters, message) => {
		await serve();
		const error = await expectFailure(run({ parameters }), 400, '');
		expect([error.message, service.requests.length]).toEqual([message, 0]);
		if (message !== task)
			expect(error.description).toContain('turn on Include Other Input Fields');
	});

	test.each<[IDataObject]>([
		[{ task: 'Summarize', input: "={{ $json.nope ?? '' }}" }],
		[{ task: 'Summarize', input: '=The text: {{ $json.nope }}' }],
		[inJson('{ "task": null }')],
		[{ sessionId: '', task: '', input: 'x' }],
		[{ ...inJson('{}'), task: '' }],
		[inJson('={{ {} }}')],
		[{ ...inJson('{}'), task: '={{ $json.nope }}' }],
	])('is taken where nothing is missed: %j', async (parameters) => {
		await serve();
		expect(await run({ parameters })).toHaveLength(1);
	});
});

test('invalid JSON leads to a way that holds for quotes in the data', async () => {
	await serve();
	const parameters = { payloadMode: 'json', payloadJson: '{"task": "say "hi""}' };
	const way = '{{ JSON.stringify($json.text) }} without quotes around it';
	await expectFailure(run({ parameters }), 400, '', way);
});

test('spaces around the session and the step are not sent', async () => {
	await serve();
	await run({ parameters: { sessionId: ' s1 ', startStepName: ' start ' } });
	expect(bodiesOf(service)).toMatchObject([{ sessionId: 's1', startStepName: 'start' }]);
});

describe('the payload', () => {
	/** Sends a payload and gives back what arrived. */
	async function sendPayload(payloadJson: string): Promise<string | undefined> {
		await serve();
		await run({ parameters: { payloadMode: 'json', payloadJson } });
		return bodiesOf(service)[0]?.initialPayload;
	}

	test('of a JSON text that is an object goes out as it stands, spaces and key order included', async () => {
		expect(await sendPayload('{ "z": 1,  "a": [2] }')).toBe('{ "z": 1,  "a": [2] }');
	});

	test('of an object goes out as its JSON text', async () => {
		const object = '={{ ({ task: "x", deep: { n: null } }) }}';
		expect(await sendPayload(object)).toBe('{"task":"x","deep":{"n":null}}');
	});

	test('of task and input is the JSON text of an object with these two keys', async () => {
		await serve();
		await run({ parameters: { task: 'a "b"', input: 'ü\n' } });
		expect(bodiesOf(service)).toMatchObject([
			{ initialPayload: '{"task":"a \\"b\\"","input":"ü\\n"}' },
		]);
	});

	const noJson = /^'Payload \(JSON\)' is not valid JSON/;

	test.each([
		['[1]', /must be a JSON object, not an array$/],
		['={{ [1] }}', /must be a JSON object, not an array$/],
		['null', /must be a JSON object, not null$/],
		['5', /must be a JSON object, not a number$/],
		['"x"', /must be a JSON object, not text$/],
		["{'a': 1}", noJson],
		['{"task": {{ $json.x }}}', noJson],
		['{', noJson],
		['', /is empty for this item$/],
		[' \n', /is empty for this item$/],
		['{"a": 1,}', /is not valid JSON \(at position 8\)$/],
	])('%j is refused', async (payload, message) => {
		const { message: told } = await failureOf(sendPayload(payload));
		expect(told).toMatch(message);
		expect(service.connections).toBe(0);
	});
});

describe('what ends a wait', () => {
	const allowed = { filterField: ' type ', filterValue: ['a'] };
	const common = { startStepName: 'start', waitForMessages: true, ...allowed };
	const by = (matchField: string, matchValue: string[], waitUntil = 'match') => ({
		waitUntil,
		matchField,
		matchValue,
	});

	test.each([
		[by('type', ['a'], 'silence'), undefined],
		[by('type', ['a'], 'close'), undefined],
		[by(' type ', ['a', 'b']), { field: 'type', values: ['a', 'b'] }],
		[by('type', []), { field: 'type', values: [''] }],
		[by('', ['a']), { field: '', values: ['a'] }],
	])('by %j is %j', (given, matchCondition) => {
		const reading = { mode: 'fields', timezone: 'UTC' } as const;
		const params = readParameters([...fields, ...options], { ...common, ...given }, reading);
		expect(readWaitSettings(params)).toMatchObject({
			matchCondition,
			failureCondition: undefined,
			filterCondition: { field: 'type', values: ['a'] },
		});
		expect(readWaitSettings({ ...params, waitForMessages: false })).toBeUndefined();
	});
});
