import { inspect } from 'node:util';
import type { IDataObject, INodeExecutionData, StructuredChunk } from 'n8n-workflow';

import type { AgentService, ExecuteFields } from '../../../dev/agent-service/server';
import { failureOf } from '../../createExecuteContext';
import { useSteadyClock } from '../../steadyClock';
import { until } from '../session/tap';
import {
	apiKey,
	bodiesOf,
	goOn,
	numbered,
	oneAtATime,
	runExecute,
	type RunOptions,
	serveEach,
	sessionsOf,
	signer,
} from './executeRun';

// Turns of a session, what is known after a failure, and what is seen while the node waits.

let service: AgentService;
const serve = serveEach((started) => (service = started));
useSteadyClock();

type Waiting = RunOptions & { readonly wait?: IDataObject; readonly options?: IDataObject };
const withoutWait = { parameters: { waitForMessages: false } };
const waitAdvice =
	" If the agent sends its answer over the session channel, turn on 'Wait for Messages'.";
const failingSoon = { waitTimeoutSeconds: 0.2 };

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
const items = (...inputs: string[]): INodeExecutionData[] => inputs.map((n) => ({ json: { n } }));
const outputs = (output: INodeExecutionData[]) => output.map(({ json }) => json.output);
const errorOf = ([item]: INodeExecutionData[]) =>
	item?.json.error as IDataObject & { details: IDataObject };

describe('turns of a session', () => {
	test('items of other sessions do not wait for them', async () => {
		await serve({ messages: () => [] });
		const running = run({
			items: items('s1', 's1', 's2', 's2'),
			parameters: { sessionId: '={{ $json.n }}' },
			options: { parallelRequests: 2 },
		});
		for (const turn of [1, 2]) {
			await until(() => service.requests.length === 2 * turn);
			expect(sessionsOf(service).slice(-2).sort()).toEqual(['s1', 's2']);
			for (const session of ['s1', 's2']) {
				await until(() => service.countOpenChannels(session) === 1);
				service.send(session, `${session} turn ${turn}`);
			}
		}
		const answers = ['s1 turn 1', 's1 turn 2', 's2 turn 1', 's2 turn 2'];
		expect(outputs(await running)).toEqual(answers);
	});

	test('the end by a text, of several', async () => {
		await serve({ messages: () => ['thinking', { text: 'done' }, '[DONE]', 'late'] });
		const wait = { waitUntil: 'match', matchField: '', matchValue: '[END], [DONE]' };
		const [item] = await run({ wait });
		const messages = [{}, {}, { message: '[DONE]' }];
		const [lastMessage, output] = ['[DONE]', 'done'];
		expect(item?.json).toMatchObject({ endedBy: 'match', lastMessage, messages, output });
	});

	test('a wait whose messages the filter left out says so', async () => {
		await serve({ messages: () => [{ type: 'step' }, { type: 'done' }] });
		const options = { filterField: 'type', filterValue: 'answer' };
		const error = await failureOf(run({ wait: failingSoon, options }));
		expect(error.description).toMatch(/^'Accepted Message Values' left out all messages/);
	});

	test('output is the text of the last message that has one, at the field that is named', async () => {
		await serve({ messages: () => [{ data: { reply: 'hello' } }, { data: {} }] });
		const options = { textField: 'data.reply' };
		const [item] = await run({ wait: { messageCount: 2 }, options });
		expect(item?.json).toMatchObject({ output: 'hello', lastMessage: { data: {} } });
	});

	test.each<[string, Waiting, string, string]>([
		['an answer', withoutWait, 'sessionId, startStepName, status', waitAdvice],
		['messages', {}, 'reply', ''],
	])(
		'where %s has no text, a hint says why, and to wait only if it did not',
		async (_, waiting, found, advice) => {
			const hints: string[] = [];
			await serve({ messages: () => [{ reply: { deep: 'hello' } }] });
			const [item] = await run({ ...waiting, onHint: (text) => hints.push(text) });
			const hint = `'output' is null, because no text was found in the field 'text'. Fields found: ${found}. To get one of them as 'output', enter it as 'Text Field' in the options.${advice}`;
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
		const [item] = await run(withoutWait);
		expect(Object.keys(item?.json ?? {})[0]).toBe('output');
		expect(item?.json.output).toBe(output);
	});
});

describe('what is known after a failure', () => {
	test('a call without an answer names its session', async () => {
		await serve();
		service.script({ fault: 'resetAfterRead' });
		const error = errorOf(await run({ node: goOn, ...withoutWait }));
		expect(error).toMatchObject({ code: 503, details: { sessionId: 's1' } });
		expect(Object.keys(error).sort()).toEqual(['code', 'details', 'message', 'status']);
		service.script({ fault: 'resetAfterRead' });
		const parameters = { waitForMessages: false, sessionId: '' };
		const thrown = await failureOf(run({ parameters }));
		const { sessionId } = service.requests[1]?.body as ExecuteFields;
		expect(thrown.description).toContain(`The session ID is ${sessionId}.`);
		expect(thrown.context.data).toEqual({ sessionId });
	});

	test('a call that was surely not accepted has nothing to tell', async () => {
		await serve();
		service.script({ status: 422 });
		const error = errorOf(await run({ node: goOn, ...withoutWait }));
		expect(error).not.toHaveProperty('details');
	});

	test('a wait that is not over in time keeps the answer and the messages', async () => {
		await serve({ messages: () => [{ type: 'step', n: 1 }, 'two'] });
		const wait = { messageCount: 3 };
		const error = errorOf(await run({ node: goOn, wait, options: failingSoon }));
		const step = { sequence: 1, format: 'json', message: { type: 'step', n: 1 } };
		expect(error.code).toBe(504);
		expect(error.details).toMatchObject({
			sessionId: 's1',
			response: { status: 'accepted' },
			messages: [step, { message: 'two' }],
		});
	});

	test('a stop keeps them, too', async () => {
		await serve({ messages: () => ['one'] });
		const stop = new AbortController();
		// The message has arrived.
		const onChunk = () => {
			stop.abort();
			return Promise.resolve();
		};
		const { signal } = stop;
		const output = await run({ node: goOn, wait: { messageCount: 2 }, signal, onChunk });
		expect(errorOf(output)).toMatchObject({
			code: 499,
			details: { sessionId: 's1', messages: [{ message: 'one' }] },
		});
	});

	test('what the agent reports as a failure fails the item, with its text', async () => {
		const failed = { type: 'error', text: 'no such file' };
		await serve({ messages: () => [{ type: 'step' }, failed] });
		const wait = { waitUntil: 'silence', silenceSeconds: 60 };
		const options = { failureValue: 'error, failed' };
		const error = await failureOf(run({ wait, options }));
		expect(error).toMatchObject({
			httpCode: '500',
			message: 'The agent reported a failure',
			description: 'no such file. The session ID is s1.',
			context: { data: { messages: [{ message: { type: 'step' } }, {}] } },
		});
		expect(service.requests).toHaveLength(1);
	});

	test('no more is kept than a few pages, the latest, and no secret', async () => {
		const long = { text: 'x'.repeat(1000), key: apiKey };
		const messages = numbered(300).map(({ json }) => ({ ...json, ...long }));
		const last = `${signer.signature} ${'y'.repeat(50_000)}`;
		await serve({ messages: () => [...messages, last] });
		const wait = { messageCount: 400 };
		const output = await run({ node: goOn, wait, options: { waitTimeoutSeconds: 0.5 } });
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
			const milliseconds = chunk.type === 'begin' ? 20 : 1;
			await new Promise((resolve) => setTimeout(resolve, milliseconds));
			chunks.push(chunk);
		};
		/** Such as 'item 0: Hello'. */
		const shown = () =>
			chunks.map(({ type, content, metadata: { itemIndex } }) =>
				content === undefined ? `${type} ${itemIndex}` : `${type} ${itemIndex}: ${content}`,
			);
		const text = () => chunks.map(({ content = '' }) => content).join('');
		return { onChunk, shown, text };
	}

	test('each text goes out as it comes, in order', async () => {
		await serve({ messages: spoken });
		const { onChunk, shown } = chat();
		const [item] = await run({ wait: { messageCount: 3 }, onChunk });
		expect(shown()).toEqual(['begin 0', 'item 0: Hel', 'item 0: \n\nlo', 'end 0']);
		expect(item?.json.output).toBe('lo');
	});

	test('a text that came before the call was accepted is a paragraph of its own', async () => {
		await serve({ messages: () => ['Hello'] });
		service.fail(429);
		const { onChunk, shown } = chat();
		const running = run({ onChunk });
		await until(() => service.requests.length === 1);
		service.send('s1', 'earlier');
		await running;
		expect(shown()).toEqual(['begin 0', 'item 0: earlier', 'item 0: \n\nHello', 'end 0']);
	});

	const whole = (text: string) => ({ type: 'answer', text });

	test.each<[string, unknown[], string]>([
		['pieces', ['The ', { text: 'answer ' }, { type: 'step' }, 'is 42'], 'The answer is 42'],
		['pieces and the whole text', ['The ', 'answer', 'The answer'], 'The answer'],
		['one piece and the whole text', ['Done', whole('Done')], 'Done'],
		['equal pieces', ['\n', '12', '12', ' items'], '\n1212 items'],
		['equal pieces and the whole text', ['3', '3', whole('33')], '33'],
		['blank pieces', ['\n', '\n', '\n', 'x'], '\n\n\nx'],
	])('joined, %s are one text in the chat and the output', async (_name, texts, joined) => {
		await serve({ messages: () => texts as string[] });
		const { onChunk, text } = chat();
		const hasEnd = JSON.stringify(texts).includes('"type":"answer"');
		const wait = hasEnd
			? { waitUntil: 'match', matchField: 'type', matchValue: 'answer' }
			: { messageCount: texts.length };
		const [item] = await run({ wait, options: { textPieces: 'joined' }, onChunk });
		expect([item?.json.output, text()]).toEqual([joined, joined]);
	});

	test.each<[string, unknown[], string, string, string]>([
		['is no answer', ['Hello', 'world', '[DONE]'], 'last', 'Hello\n\nworld', 'world'],
		['is no answer', ['Hello', 'world', '[DONE]'], 'joined', 'Helloworld', 'Helloworld'],
		['is the answer if there is no other', [{}, '[DONE]'], 'last', '[DONE]', '[DONE]'],
	])(
		'a text that only ends the wait %s: %j (%s)',
		async (_, texts, textPieces, shown, output) => {
			await serve({ messages: () => texts as string[] });
			const { onChunk, text } = chat();
			const wait = { waitUntil: 'match', matchField: '', matchValue: 'rejected, [DONE]' };
			const [item] = await run({ wait, options: { textPieces }, onChunk });
			expect([text(), item?.json.output]).toEqual([shown, output]);
		},
	);

	test('an answer by HTTP alone is shown, too', async () => {
		await serve();
		service.script({ body: { text: 'hello' } });
		const { onChunk, shown } = chat();
		await run({ ...withoutWait, onChunk });
		expect(shown()).toEqual(['begin 0', 'item 0: hello', 'end 0']);
	});

	test('what a message reports as a failure is no answer', async () => {
		await serve({ messages: () => ['Hel', { type: 'error', text: 'no such file' }] });
		const { onChunk, shown } = chat();
		const options = { failureValue: 'error' };
		await run({ wait: { messageCount: 3 }, options, onChunk, node: goOn });
		expect(shown()).toEqual(['begin 0', 'item 0: Hel', 'end 0']);
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
		expect(shown()).toEqual(['begin 0', 'item 0: early', 'end 0']);
	});

	const asTool = { node: { type: 'test.nodeTool' }, parameters: { input: 'x' } };

	test.each<[string, Waiting]>([
		['it is switched off', { options: { enableStreaming: false } }],
		['the node is a tool', { items: [{ json: {} }], ...asTool }],
	])('nothing goes out when %s', async (_name, more) => {
		await serve({ messages: spoken });
		const { onChunk, shown } = chat();
		await run({ wait: { messageCount: 3 }, onChunk, ...more });
		expect(shown()).toEqual([]);
	});

	test('a listener that is gone fails nothing', async () => {
		await serve({ messages: spoken });
		const onChunk = () => Promise.reject(new Error('gone'));
		const [item] = await run({ wait: { messageCount: 3 }, onChunk });
		expect(item?.json.output).toBe('lo');
	});

	test('a wait that fails ends what has begun', async () => {
		await serve({ messages: () => ['Hel'] });
		const { onChunk, shown } = chat();
		await failureOf(run({ wait: { messageCount: 3 }, options: failingSoon, onChunk }));
		expect(shown()).toEqual(['begin 0', 'item 0: Hel', 'end 0']);
	});
});

// Expressions may give something else when an item's turn comes.
const inJson = (payloadJson: string) => ({ payloadMode: 'json', payloadJson });

test.each<[string, IDataObject]>([
	['a task', { task: '={{ "t" + $json.calls }}' }],
	['a JSON text', inJson(`={{ '{"a":"' + $json.calls + '"}' }}`)],
	['an object', inJson('={{ ({ a: $json.calls }) }}')],
])(
	'%s by expression is read once, at the check, and goes out as it was then',
	async (_, parameters) => {
		await serve();
		const readings = [0, 0, 0];
		const items = readings.map((_none, n) => {
			const get = () => (readings[n] = (readings[n] ?? 0) + 1);
			return { json: Object.defineProperty({}, 'calls', { enumerable: true, get }) };
		});
		await runExecute(service, { items, parameters: { ...parameters, options: oneAtATime } });
		expect(readings).toEqual([1, 1, 1]);
		const digits = bodiesOf(service).map(({ initialPayload }) =>
			initialPayload.replace(/\D/g, ''),
		);
		expect(digits).toEqual(['1', '1', '1']);
	},
);
