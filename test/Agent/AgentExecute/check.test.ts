import type { IDataObject } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../../dev/agent-service/server.ts';
import {
	buildPayload,
	checkPayload,
	fields,
	options,
	readWaitSettings,
} from '../../../nodes/Agent/AgentExecute/parameters';
import { readParameters } from '../../../nodes/fields/params';
import { failureOf, withBinaryData } from '../../createExecuteContext';
import { apiKey, numbered, runExecute, type RunOptions, signer } from './executeRun';
import { countStoredResults } from '../../sharedState';

describe('check', () => {
	// All items are checked before anything is sent.

	let service: AgentService;

	async function serve(options: AgentServiceOptions = {}): Promise<void> {
		service = await startAgentService({ apiKey, ...options });
	}

	const run = (options: RunOptions) => runExecute(service, options);

	beforeAll(withBinaryData);
	afterEach(() => service.close());

	const wrong: Array<[string, IDataObject]> = [
		[
			'a payload',
			{ payloadMode: 'json', payloadJson: '={{ $json.n === 4 ? [] : { n: $json.n } }}' },
		],
		['a step', { startStepName: '={{ $json.n === 4 ? "" : "start" }}' }],
		[
			'an option',
			{
				options: {
					timeLimits: { limits: { timeoutSeconds: '={{ $json.n === 4 ? "soon" : 9 }}' } },
				},
			},
		],
		['an expression', { task: '={{ $json.n === 4 ? $("Nowhere").item.json.x : "x" }}' }],
		[
			'a timestamp',
			{
				options: {
					...signer,
					timestamp: '={{ $json.n === 4 ? 1795253731 : 1795253731904 }}',
				},
			},
		],
		[
			'the end of a wait',
			{
				waitForMessages: true,
				waitUntil: 'count',
				messageCount: '={{ $json.n === 4 ? -1 : 1 }}',
			},
		],
	];

	test.each(wrong)(
		'%s that is wrong in the fifth stops the node, and nothing is sent',
		async (_, parameters) => {
			await serve();
			const error = await failureOf(run({ items: numbered(6), parameters }));
			expect([error.context.itemIndex, error.httpCode]).toEqual([4, '400']);
			expect(service.connections).toBe(0);
		},
	);

	test.each(wrong.slice(0, 5))(
		'under Continue on Fail %s fails that item only',
		async (_, parameters) => {
			await serve();
			const items = await run({
				items: numbered(6),
				parameters,
				node: { onError: 'continueRegularOutput' },
			});
			expect(items.map(({ json }) => 'error' in json)).toEqual([
				false,
				false,
				false,
				false,
				true,
				false,
			]);
			expect(service.requests).toHaveLength(5);
		},
	);

	test('a credential that cannot be used is the failure of every item', async () => {
		await serve();
		const node = { onError: 'continueRegularOutput' as const };
		const items = await run({ items: numbered(3), node, api: { apiKey: '' } });
		expect(items.map(({ json }) => (json.error as { code: number }).code)).toEqual([
			400, 400, 400,
		]);
	});

	test('no items are none to check', async () => {
		await serve();
		expect(await run({ items: [], api: { apiKey: '' } })).toEqual([]);
	});

	test('under Retry On Fail a refusal forgets nothing of what was sent', async () => {
		let refuse = true;
		await serve({
			execute: ({ body }) =>
				refuse && (body as { sessionId: string }).sessionId === 's1'
					? { status: 422 }
					: undefined,
		});
		const parameters = { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } };
		const options = {
			node: { retryOnFail: true },
			executionId: 'refused-between',
			items: numbered(3),
		};
		await failureOf(run({ ...options, parameters }));
		await failureOf(run({ ...options, parameters: { ...parameters, startStepName: ' ' } }));
		refuse = false;
		expect(await run({ ...options, parameters })).toHaveLength(3);
		const sessions = service.requests.map(
			({ body }) => (body as { sessionId: string }).sessionId,
		);
		expect(sessions).toEqual(['s0', 's1', 's1', 's2']);
		expect(countStoredResults()).toBe(0);
	});

	test('n8n gets its turn in between, when they are many', async () => {
		await serve();
		let time = 0;
		const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 1));
		let turns = 0;
		const count = () => {
			turns++;
			counting = setImmediate(count);
		};
		let counting = setImmediate(count);
		const parameters = { startStepName: '={{ $json.n < 999 ? "start" : "" }}' };
		const error = await failureOf(run({ items: numbered(1000), parameters }));
		clearImmediate(counting);
		now.mockRestore();
		expect(error.context.itemIndex).toBe(999);
		expect(turns).toBeGreaterThanOrEqual(40);
	});

	describe('a stop during the check', () => {
		/** Time goes on by 1 ms at every look; the stop comes between two slices. */
		async function stoppedRun(options: RunOptions) {
			await serve();
			let time = 0;
			const now = jest.spyOn(performance, 'now').mockImplementation(() => (time += 1));
			const stop = new AbortController();
			setImmediate(() => {
				stop.abort();
			});
			try {
				return await run({ items: numbered(1000), signal: stop.signal, ...options });
			} finally {
				now.mockRestore();
			}
		}

		test('ends it, and nothing is sent', async () => {
			const parameters = { startStepName: '={{ $json.n < 999 ? "start" : "" }}' };
			expect(await failureOf(stoppedRun({ parameters }))).toMatchObject({
				message: 'The execution was stopped',
				description: 'The agent was not started.',
			});
			expect(service.connections).toBe(0);
		});

		test('under Continue on Fail every item says so', async () => {
			const parameters = { startStepName: '={{ $json.n < 999 ? "start" : "" }}' };
			const items = await stoppedRun({
				parameters,
				node: { onError: 'continueRegularOutput' },
			});
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
		const sent = () => service.requests.map(({ body }) => body as Record<string, unknown>);

		test.each<[string, IDataObject, string]>([
			['signature', { ...complete, signature: '' }, 'signature'],
			['signature of spaces', { ...complete, signature: '  ' }, 'signature'],
			['signature that is null', { ...complete, signature: null }, 'signature'],
			['user', { ...complete, user: '' }, 'user ID'],
			['public key', { user: '0xb', signature: '0xd', time: 1 }, 'user public key'],
			[
				'timestamp',
				{ user: '0xb', key: '0xc', signature: '0xd' },
				'Timestamp (Milliseconds)',
			],
			['timestamp that is 0', { ...complete, time: 0 }, 'Timestamp (Milliseconds)'],
			['timestamp that is 0 as text', { ...complete, time: '0' }, 'Timestamp (Milliseconds)'],
			['timestamp of 0 and spaces', { ...complete, time: ' 0 ' }, 'Timestamp (Milliseconds)'],
			['value at all', {}, 'user ID'],
		])('an item with an empty %s is refused', async (_, json, missing) => {
			await serve();
			const items = [{ json: complete }, { json }, { json: complete }];
			const error = await failureOf(run({ items, parameters: { options: own } }));
			expect(error.message).toBe(
				missing.startsWith('Timestamp')
					? `'${missing}' is not a time in milliseconds`
					: `The ${missing} is missing`,
			);
			expect([error.context.itemIndex, error.httpCode, service.connections]).toEqual([
				1,
				'400',
				0,
			]);
		});

		test('an option that has some of the values only is refused', async () => {
			await serve();
			const { userId, userPublicKey, signature } = own;
			const others = { userId, userPublicKey, signature };
			const items = [{ json: complete }];
			const error = await failureOf(run({ items, parameters: { options: others } }));
			expect(error.message).toContain("'Timestamp (Milliseconds)' is not a time");
		});

		test('a timestamp that is no number is refused, not taken from the credential', async () => {
			await serve();
			const items = [{ json: { ...complete, time: { at: 1 } } }];
			const error = await failureOf(run({ items, parameters: { options: own } }));
			expect(error.message).toBe(
				"'Timestamp (Milliseconds)' must be a whole number, not an object",
			);
			expect(service.connections).toBe(0);
		});

		test('under Continue on Fail the others go out', async () => {
			await serve();
			const items = [{ json: complete }, { json: { ...complete, signature: '' } }];
			const output = await run({
				items,
				parameters: { options: own },
				node: { onError: 'continueRegularOutput' },
			});
			expect(output.map(({ json }) => Object.keys(json)[0])).toEqual(['output', 'error']);
			expect(sent()).toHaveLength(1);
		});

		test('each item is sent as its own user', async () => {
			await serve();
			await run({
				items: [{ json: complete }, { json: { ...complete, user: '0xe' } }],
				parameters: { options: { ...own, parallelRequests: 1 } },
			});
			expect(sent()).toMatchObject([
				{ userId: '0xb', userPublicKey: '0xc', signature: '0xd', timestamp: complete.time },
				{ userId: '0xe', userPublicKey: '0xc', signature: '0xd', timestamp: complete.time },
			]);
		});
	});

	describe('a signature credential that names its hosts', () => {
		const elsewhere = { allowedHosts: 'agent.example.com' };

		test.each<[string, IDataObject]>([
			['a call', {}],
			[
				'a call with values of its own',
				{
					options: {
						userId: '1',
						userPublicKey: '2',
						signature: '3',
						timestamp: 1_795_253_731_904,
					},
				},
			],
		])('%s to another host is refused, and nothing is sent', async (_, parameters) => {
			await serve();
			const error = await failureOf(run({ signer: elsewhere, parameters }));
			expect([error.httpCode, error.message]).toEqual([
				'400',
				`The Agent Signature API credential is not allowed for ${new URL(service.url).host}`,
			]);
			expect(error.description).toContain('agent.example.com');
			expect(service.connections).toBe(0);
		});

		test('so is a call whose messages would come from another host', async () => {
			await serve();
			const api = { webSocketUrl: 'wss://elsewhere.example' };
			const parameters = {
				waitForMessages: true,
				waitUntil: 'close',
				options: { openChannel: 'after' },
			};
			const error = await failureOf(
				run({ signer: { allowedHosts: '127.0.0.1' }, api, parameters }),
			);
			expect(error.message).toContain('is not allowed for elsewhere.example');
			expect(service.connections).toBe(0);
		});

		test('its own host is called', async () => {
			await serve();
			expect(await run({ signer: { allowedHosts: '127.0.0.1' } })).toHaveLength(1);
		});
	});

	describe('an expression that comes out empty', () => {
		const session = "The expression in 'Session ID' is empty for this item";
		const payload = "The expression in 'Payload (JSON)' is empty for this item";
		const task = "'Task' and 'Input' are empty for this item";

		test.each<[IDataObject, string | undefined]>([
			[{ sessionId: '={{ $json.nope }}' }, session],
			[{ sessionId: '={{ "  " }}' }, session],
			[{ sessionId: '={{ $json.nope?.id }}' }, session],
			[{ sessionId: "={{ $json.nope ?? '' }}" }, session],
			[{ sessionId: "={{ $json.nope /* as in $fromAI('session') */ }}" }, session],
			[{ payloadMode: 'json', payloadJson: '={{ $json.nope }}' }, payload],
			[{ payloadMode: 'json', payloadJson: '={{ "" }}' }, payload],
			[{ task: '={{ $json.nope }}' }, "The expression in 'Task' is empty for this item"],
			[
				{ task: 'Summarize', input: '={{ $json.nope }}' },
				"The expression in 'Input' is empty for this item",
			],
			[{ task: "={{ $json.nope ?? '' }}" }, task],
			[{ task: 'Summarize', input: "={{ $json.nope ?? '' }}" }, undefined],
			[{ task: '', input: '' }, task],
			[{ task: ' ', input: '={{ "" }}' }, task],
			[{ sessionId: '', task: '', input: 'x' }, undefined],
			[{ payloadMode: 'json', payloadJson: '{}', task: '' }, undefined],
			[{ payloadMode: 'json', payloadJson: '{}', task: '={{ $json.nope }}' }, undefined],
		])('%j: %s', async (parameters, message) => {
			await serve();
			if (message === undefined) {
				await run({ parameters });
				return;
			}
			const error = await failureOf(run({ parameters }));
			expect([error.httpCode, error.message, service.requests.length]).toEqual([
				'400',
				message,
				0,
			]);
			if (message !== task)
				expect(error.description).toContain('turn on Include Other Input Fields');
			// An expression may leave out only a text.
			const mayBeBlank = /'(Task|Input)' is/.test(message);
			expect(error.description?.includes("?? ''")).toBe(mayBeBlank);
		});
	});

	test('invalid JSON leads to a way that holds for quotes in the data', async () => {
		await serve();
		const parameters = { payloadMode: 'json', payloadJson: '{"task": "say "hi""}' };
		const error = await failureOf(run({ parameters }));
		expect(error.description).toContain(
			'{{ JSON.stringify($json.text) }} without quotes around it',
		);
	});

	test('spaces around the session and the step are not sent', async () => {
		await serve();
		await run({ parameters: { sessionId: ' s1 ', startStepName: ' start ' } });
		expect(service.requests[0]?.body).toMatchObject({
			sessionId: 's1',
			startStepName: 'start',
		});
	});
});

describe('parameters', () => {
	const none = { task: '', input: '', payloadJson: '{}' };
	const json = (payloadJson: unknown) => {
		const params = { ...none, payloadMode: 'json', payloadJson } as const;
		checkPayload(params);
		return buildPayload(params);
	};

	test('task and input become the JSON text of an object with these two keys', () => {
		expect(
			buildPayload({ ...none, payloadMode: 'taskAndInput', task: 'a "b"', input: 'ü\n' }),
		).toBe('{"task":"a \\"b\\"","input":"ü\\n"}');
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
		expect(() => json('{"a": 1,}')).toThrow(
			"'Payload (JSON)' is not valid JSON (at position 8)",
		);
		expect(() => json('')).toThrow(/valid JSON$/);
	});

	const allFields = [...fields, ...options];

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
		const common = {
			startStepName: 'start',
			waitForMessages: true,
			filterField: ' type ',
			filterValue: ['a'],
		};
		const reading = { mode: 'fields', timezone: 'UTC' } as const;
		const params = readParameters(allFields, { ...common, ...given }, reading);
		expect(readWaitSettings(params)).toMatchObject({
			matchCondition: match,
			failureCondition: undefined,
			filterCondition: { field: 'type', values: ['a'] },
		});
		expect(readWaitSettings({ ...params, waitForMessages: false })).toBeUndefined();
	});
});
