import { inspect } from 'node:util';
import type { IDataObject, INodeExecutionData, StructuredChunk } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	type ExecuteFields,
	startAgentService,
} from '../../../dev/agent-service/server';
import { failureOf, withBinaryData } from '../../createExecuteContext';
import { until } from '../session/tap';
import { apiKey, runExecute, type RunOptions, signer, numbered } from './executeRun';

// Turns of a session, what is known after a failure, and what is seen while the node waits.
describe('conversation', () => {
	let service: AgentService;

	async function serve(options: AgentServiceOptions = {}): Promise<void> {
		service = await startAgentService({ apiKey, ...options });
	}

	beforeAll(withBinaryData);
	afterEach(async () => {
		await until(() => service.countOpenChannels() === 0);
		await service.close();
	});

	const inputOf = ({ initialPayload }: Pick<ExecuteFields, 'initialPayload'>) =>
		(JSON.parse(initialPayload) as { input: string }).input;
	/** Answers with what it was given. */
	const echo = (request: Pick<ExecuteFields, 'initialPayload'>) => [
		{ type: 'answer', text: inputOf(request) },
	];

	type Waiting = RunOptions & { readonly wait?: IDataObject; readonly options?: IDataObject };

	const run = ({ wait, options, parameters, ...rest }: Waiting = {}) =>
		runExecute(service, {
			items: items('x'),
			...rest,
			parameters: {
				sessionId: 's1',
				input: '={{ $json.n }}',
				waitForMessages: true,
				waitUntil: 'count',
				...wait,
				...parameters,
				options: options ?? {},
			},
		});
	const items = (...inputs: string[]): INodeExecutionData[] =>
		inputs.map((n) => ({ json: { n } }));
	const outputs = (output: INodeExecutionData[]) => output.map(({ json }) => json.output);
	const errorOf = ([item]: INodeExecutionData[]) =>
		item?.json.error as IDataObject & { details: IDataObject };

	describe('turns of a session', () => {
		test('items with one session ID get each its own answer, in order', async () => {
			await serve({ messages: echo, messageIntervalMilliseconds: 20 });
			expect(outputs(await run({ items: items('first', 'second', 'third') }))).toEqual([
				'first',
				'second',
				'third',
			]);
			expect(service.requests.map(({ body }) => inputOf(body as ExecuteFields))).toEqual([
				'first',
				'second',
				'third',
			]);
		});

		test('items of other sessions do not wait for them', async () => {
			await serve({ messages: () => [] });
			const running = run({
				items: items('s1', 's1', 's2', 's2'),
				parameters: { sessionId: '={{ $json.n }}' },
				options: { parallelRequests: 2 },
			});
			for (const turn of [1, 2]) {
				await until(() => service.requests.length === 2 * turn);
				const sessions = service.requests
					.slice(-2)
					.map(({ body }) => (body as ExecuteFields).sessionId);
				expect(sessions.sort()).toEqual(['s1', 's2']);
				await until(
					() =>
						service.countOpenChannels('s1') === 1 &&
						service.countOpenChannels('s2') === 1,
				);
				service.send('s1', `s1 turn ${turn}`);
				service.send('s2', `s2 turn ${turn}`);
			}
			expect(outputs(await running)).toEqual([
				's1 turn 1',
				's1 turn 2',
				's2 turn 1',
				's2 turn 2',
			]);
		});

		test.each<[string, IDataObject]>([
			['count', { waitUntil: 'count' }],
			['match', { waitUntil: 'match', matchField: 'type', matchValue: 'answer' }],
			['silence', { waitUntil: 'silence', silenceSeconds: 0.3 }],
		])(
			'what a server repeats on connect ends no wait (%s), and is no answer',
			async (_name, wait) => {
				await serve({ messages: echo, messageIntervalMilliseconds: 50, replay: 2 });
				await run({ items: items('first'), wait });
				const [item] = await run({ items: items('second'), wait });
				expect(item?.json).toMatchObject({
					output: 'second',
					lastMessage: { type: 'answer', text: 'second' },
					messages: [{ message: { text: 'second' } }],
				});
			},
		);

		test('the end by a text, of several', async () => {
			await serve({ messages: () => ['thinking', { text: 'done' }, '[DONE]', 'late'] });
			const wait = { waitUntil: 'match', matchField: '', matchValue: '[END], [DONE]' };
			const [item] = await run({ wait });
			expect(item?.json).toMatchObject({
				endedBy: 'match',
				lastMessage: '[DONE]',
				output: '[DONE]',
			});
		});

		test('output is the text of the last message that has one, at the field that is named', async () => {
			await serve({ messages: () => [{ data: { reply: 'hello' } }, { data: {} }] });
			const [item] = await run({
				wait: { messageCount: 2 },
				options: { textField: 'data.reply' },
			});
			expect(item?.json).toMatchObject({ output: 'hello', lastMessage: { data: {} } });
		});

		test('only messages that the filter names count and are shown', async () => {
			await serve({
				messages: () => [
					{ type: 'progress' },
					...echo({ initialPayload: '{"input":"x"}' }),
				],
			});
			const [item] = await run({
				options: { filterField: 'type', filterValue: 'answer, note' },
			});
			expect(item?.json.messages).toMatchObject([{ message: { type: 'answer' } }]);
		});

		test.each<[string, Waiting, string]>([
			[
				'an answer',
				{ parameters: { waitForMessages: false } },
				"'output' is null, because no text was found in the field 'text'. Fields found: sessionId, startStepName, status. To get one of them as 'output', enter it as 'Text Field' in the options. If the agent sends its answer over the session channel, turn on 'Wait for Messages'.",
			],
			[
				'messages',
				{},
				"'output' is null, because no text was found in the field 'text'. Fields found: reply. To get one of them as 'output', enter it as 'Text Field' in the options. If the agent sends its answer over the session channel, turn on 'Wait for Messages'.",
			],
		])(
			'where %s has no text, a hint says why the output is null',
			async (_name, waiting, hint) => {
				const hints: string[] = [];
				await serve({ messages: () => [{ reply: { deep: 'hello' } }] });
				const [item] = await run({ ...waiting, onHint: (text) => hints.push(text) });
				expect([item?.json.output, hints]).toEqual([null, [hint]]);
			},
		);

		test.each<[unknown, string | null]>([
			[{ text: 'hello' }, 'hello'],
			['hello', 'hello'],
			[{ answer: 1 }, null],
			[Buffer.from([0xff]), null],
		])('output without a wait is the text of the answer (%j)', async (body, output) => {
			await serve();
			service.script({ body });
			const [item] = await run({ parameters: { waitForMessages: false } });
			expect(Object.keys(item?.json ?? {})[0]).toBe('output');
			expect(item?.json.output).toBe(output);
		});
	});

	describe('what is known after a failure', () => {
		const goOn = { node: { onError: 'continueRegularOutput' as const } };

		test('a call without an answer names its session', async () => {
			await serve();
			service.script({ fault: 'resetAfterRead' });
			const error = errorOf(await run({ ...goOn, parameters: { waitForMessages: false } }));
			expect(error).toMatchObject({ code: 503, details: { sessionId: 's1' } });
			expect(Object.keys(error).sort()).toEqual(['code', 'details', 'message', 'status']);
			service.script({ fault: 'resetAfterRead' });
			const thrown = await failureOf(
				run({ parameters: { waitForMessages: false, sessionId: '' } }),
			);
			const { sessionId } = service.requests[1]?.body as ExecuteFields;
			expect(thrown.description).toContain(`The session ID is ${sessionId}.`);
			expect(thrown.context.data).toEqual({ sessionId });
		});

		test('a call that was surely not accepted has nothing to tell', async () => {
			await serve();
			service.script({ status: 422 });
			expect(
				errorOf(await run({ ...goOn, parameters: { waitForMessages: false } })),
			).not.toHaveProperty('details');
		});

		test('a wait that is not over in time keeps the answer and the messages', async () => {
			await serve({ messages: () => [{ type: 'step', n: 1 }, 'two'] });
			const output = await run({
				...goOn,
				wait: { messageCount: 3 },
				options: { waitTimeoutSeconds: 0.2 },
			});
			expect(errorOf(output)).toMatchObject({
				code: 504,
				details: {
					sessionId: 's1',
					response: { status: 'accepted' },
					messages: [
						{ sequence: 1, format: 'json', message: { type: 'step', n: 1 } },
						{ message: 'two' },
					],
				},
			});
		});

		test('a stop keeps them, too', async () => {
			await serve({ messages: () => ['one'] });
			const stop = new AbortController();
			const running = run({
				...goOn,
				wait: { messageCount: 2 },
				signal: stop.signal,
				// The message has arrived.
				onChunk: () => {
					stop.abort();
					return Promise.resolve();
				},
			});
			expect(errorOf(await running)).toMatchObject({
				code: 499,
				details: { sessionId: 's1', messages: [{ message: 'one' }] },
			});
		});

		test('what the agent reports as a failure fails the item, with its text', async () => {
			await serve({
				messages: () => [{ type: 'step' }, { type: 'error', text: 'no such file' }],
			});
			const wait = { waitUntil: 'silence', silenceSeconds: 60 };
			const error = await failureOf(
				run({ wait, options: { failureValue: 'error, failed' } }),
			);
			expect(error).toMatchObject({
				httpCode: '500',
				message: 'The agent reported a failure',
			});
			expect(error.description).toBe('no such file. The session ID is s1.');
			expect(error.context.data).toMatchObject({
				messages: [{ message: { type: 'step' } }, {}],
			});
			expect(service.requests).toHaveLength(1);
		});

		test('no more is kept than a few pages, the latest, and no secret', async () => {
			const messages = Array.from({ length: 300 }, (_, n) => ({
				n,
				text: 'x'.repeat(1000),
				key: apiKey,
			}));
			await serve({
				messages: () => [...messages, `${signer.signature} ${'y'.repeat(50_000)}`],
			});
			const output = await run({
				...goOn,
				wait: { messageCount: 400 },
				options: { waitTimeoutSeconds: 0.5 },
			});
			const { details } = errorOf(output);
			const kept = details.messages as IDataObject[];
			expect(JSON.stringify(details).length).toBeLessThan(60_000);
			expect(kept).toHaveLength(10);
			expect(kept.at(-1)?.message).toMatch(/^[^y]*y+…$/);
			for (const secret of [apiKey, signer.signature])
				expect(inspect(output, { depth: 9 })).not.toContain(secret);
		});
	});

	describe('while the node waits', () => {
		const spoken = () => ['Hel', { type: 'step' }, { text: 'lo' }];

		/** What a chat gets. */
		function chat() {
			const chunks: StructuredChunk[] = [];
			const onChunk = async (chunk: StructuredChunk) => {
				// Slower than the messages come: the order is kept all the same.
				await new Promise((resolve) =>
					setTimeout(resolve, chunk.type === 'begin' ? 20 : 1),
				);
				chunks.push(chunk);
			};
			const shown = () =>
				chunks.map(({ type, content, metadata }) => [type, content, metadata.itemIndex]);
			return { onChunk, shown };
		}

		test('each text goes out as it comes, in order', async () => {
			await serve({ messages: spoken });
			const { onChunk, shown } = chat();
			const [item] = await run({ wait: { messageCount: 3 }, onChunk });
			expect(shown()).toEqual([
				['begin', undefined, 0],
				['item', 'Hel', 0],
				['item', '\n\nlo', 0],
				['end', undefined, 0],
			]);
			expect(item?.json.output).toBe('lo');
		});

		test.each<[string, unknown[], string]>([
			[
				'pieces',
				['The ', { text: 'answer ' }, { type: 'step' }, 'is 42.'],
				'The answer is 42.',
			],
			['pieces and the whole text', ['The ', 'answer', 'The answer'], 'The answer'],
			['one piece and the whole text', ['Done', { type: 'answer', text: 'Done' }], 'Done'],
			['equal pieces', ['\n', '12', '12', ' items'], '\n1212 items'],
			['equal pieces and the whole text', ['3', '3', { type: 'answer', text: '33' }], '33'],
			['blank pieces', ['\n', '\n', '\n', 'x'], '\n\n\nx'],
		])('joined, %s are one text in the chat and the output', async (_name, texts, whole) => {
			await serve({ messages: () => texts as string[] });
			const { onChunk, shown } = chat();
			const hasEnd = JSON.stringify(texts).includes('"type":"answer"');
			const wait = hasEnd
				? { waitUntil: 'match', matchField: 'type', matchValue: 'answer' }
				: { messageCount: texts.length };
			const [item] = await run({ wait, options: { textPieces: 'joined' }, onChunk });
			expect(item?.json.output).toBe(whole);
			expect(
				shown()
					.map(([, content]) => content ?? '')
					.join(''),
			).toBe(whole);
		});

		test('an answer by HTTP alone is shown, too', async () => {
			await serve();
			service.script({ body: { text: 'hello' } });
			const { onChunk, shown } = chat();
			await run({ parameters: { waitForMessages: false }, onChunk });
			expect(shown()).toEqual([
				['begin', undefined, 0],
				['item', 'hello', 0],
				['end', undefined, 0],
			]);
		});

		test('what a message reports as a failure is no answer', async () => {
			await serve({ messages: () => ['Hel', { type: 'error', text: 'no such file' }] });
			const { onChunk, shown } = chat();
			const goOn = { onError: 'continueRegularOutput' as const };
			await run({
				wait: { messageCount: 3 },
				options: { failureValue: 'error' },
				onChunk,
				node: goOn,
			});
			expect(shown().map(([, content]) => content)).toEqual([undefined, 'Hel', undefined]);
		});

		test.each([true, false])(
			'an error says in its description what happened, where n8n streams only that (%s)',
			async (isStreamed) => {
				await serve();
				service.fail(401);
				const { onChunk } = chat();
				const error = await failureOf(run(isStreamed ? { onChunk } : {}));
				expect(error.description?.startsWith(`${error.message}. Check the API key`)).toBe(
					isStreamed,
				);
			},
		);

		test('the first goes out before the call is answered', async () => {
			await serve({ messages: () => [] });
			const { onChunk, shown } = chat();
			service.script({ delayMilliseconds: 400 });
			const running = run({ onChunk });
			await until(() => service.requests.length === 1);
			service.send('s1', 'early');
			await until(() => shown().length === 2);
			await running;
			expect(shown().slice(1)).toEqual([
				['item', 'early', 0],
				['end', undefined, 0],
			]);
		});

		test.each<[string, Waiting]>([
			['it is switched off', { options: { enableStreaming: false } }],
			[
				'the node is a tool',
				{
					node: { type: 'test.nodeTool' },
					items: [{ json: {} }],
					parameters: { input: 'x' },
				},
			],
		])('nothing goes out when %s', async (_name, more) => {
			await serve({ messages: spoken });
			const { onChunk, shown } = chat();
			await run({ wait: { messageCount: 3 }, onChunk, ...more });
			expect(shown()).toEqual([]);
		});

		test('a listener that is gone fails nothing', async () => {
			await serve({ messages: spoken });
			const [item] = await run({
				wait: { messageCount: 3 },
				onChunk: () => Promise.reject(new Error('gone')),
			});
			expect(item?.json.output).toBe('lo');
		});

		test('a wait that fails ends what has begun', async () => {
			await serve({ messages: () => ['Hel'] });
			const { onChunk, shown } = chat();
			await failureOf(
				run({ wait: { messageCount: 3 }, options: { waitTimeoutSeconds: 0.2 }, onChunk }),
			);
			expect(shown().map(([type]) => type)).toEqual(['begin', 'item', 'end']);
		});
	});
});

// Expressions may give something else when an item's turn comes.
describe('turns', () => {
	let service: AgentService;

	async function serve(options: AgentServiceOptions = {}): Promise<void> {
		service = await startAgentService({ apiKey, ...options });
	}

	const run = (options: RunOptions) => runExecute(service, options);

	beforeAll(withBinaryData);
	afterEach(() => service.close());

	const sent = (key: string) => service.requests.map(({ body }) => (body as IDataObject)[key]);

	test.each<[string, IDataObject]>([
		['a task', { task: '={{ "t" + $json.calls }}' }],
		[
			'a JSON text',
			{ payloadMode: 'json', payloadJson: `={{ '{"a":"' + $json.calls + '"}' }}` },
		],
		['an object', { payloadMode: 'json', payloadJson: '={{ ({ a: $json.calls }) }}' }],
	])(
		'%s by expression is read once, at the check, and goes out as it was then',
		async (_, parameters) => {
			await serve();
			const readings = numbered(3).map(() => 0);
			const items = numbered(3).map(({ json }, n) => ({
				json: Object.defineProperty(json, 'calls', {
					enumerable: true,
					get: () => (readings[n] = (readings[n] ?? 0) + 1),
				}),
			}));
			await run({ items, parameters: { ...parameters, options: { parallelRequests: 1 } } });
			expect(readings).toEqual([1, 1, 1]);
			const digits = (sent('initialPayload') as string[]).map((text) =>
				text.replace(/\D/g, ''),
			);
			expect(digits).toEqual(['1', '1', '1']);
		},
	);
});
