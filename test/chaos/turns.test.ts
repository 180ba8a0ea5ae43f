// Conversations with a service whose channel drops, repeats and restarts: every turn gets its own answer, and each call goes out once.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import {
	type AgentService,
	type ExecuteFields,
	startAgentService,
} from '../../dev/agent-service/server';
import { withBinaryData } from '../createExecuteContext';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { until } from '../Agent/session/tap';
import { useSteadyClock } from '../steadyClock';

let service: AgentService;

beforeAll(withBinaryData);
useSteadyClock();
afterEach(async () => {
	await until(() => service.countOpenChannels() === 0);
	await service.close();
});

const inputOf = ({ initialPayload }: ExecuteFields) =>
	(JSON.parse(initialPayload) as { input: string }).input;
const echo = (request: ExecuteFields) => [
	{ id: `step ${inputOf(request)}`, type: 'step' },
	{ id: `answer ${inputOf(request)}`, type: 'answer', text: inputOf(request) },
];
const turns = (count: number, sessions: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, n) => ({
		json: { n: `turn ${n}`, session: `s${n % sessions}` },
	}));

const converse = (items: INodeExecutionData[], wait: IDataObject) =>
	runExecute(service, {
		items,
		parameters: {
			sessionId: '={{ $json.session }}',
			input: '={{ $json.n }}',
			waitForMessages: true,
			waitUntil: 'match',
			matchField: 'type',
			matchValue: 'answer',
			...wait,
		},
	});

/** The calls that went out and the answers that came, each once. */
function balance(items: readonly INodeExecutionData[], output: readonly INodeExecutionData[]) {
	const asked = items.map(({ json }) => json.n);
	expect(output.map(({ json }) => json.output)).toEqual(asked);
	const called = service.requests.map(({ body }) => inputOf(body as ExecuteFields));
	expect(called.sort()).toEqual([...asked].sort());
}

describe('a server that sends its last messages again to each channel', () => {
	it.each<[string, IDataObject]>([
		['match', {}],
		['count', { waitUntil: 'count', messageCount: 2 }],
	])('every turn gets its own answer (%s)', async (_name, wait) => {
		service = await startAgentService({
			apiKey,
			messages: echo,
			replay: 3,
			messageIntervalMilliseconds: 5,
		});
		const items = turns(40, 4);
		balance(items, await converse(items, wait));
	});

	const after = { openChannel: 'after', deduplicationField: 'id' };
	it.each<[string, number, IDataObject]>([
		['match, the whole session', 100, { options: after }],
		['silence', 100, { waitUntil: 'silence', silenceSeconds: 0.3, options: after }],
	])(
		'nor does what it repeats end a wait whose channel opens after the call, with IDs (%s)',
		async (_name, replay, wait) => {
			service = await startAgentService({
				apiKey,
				messages: echo,
				replay,
				messageIntervalMilliseconds: 20,
			});
			const items = turns(12, 4);
			balance(items, await converse(items, wait));
		},
	);

	it('nor the turns of an earlier execution', async () => {
		service = await startAgentService({
			apiKey,
			messages: echo,
			replay: 100,
			messageIntervalMilliseconds: 20,
		});
		const items = turns(4, 1);
		const output = [];
		for (const item of items) output.push(...(await converse([item], { options: after })));
		balance(items, output);
	});
});

it('a server that keeps the newest channel of a session only', async () => {
	service = await startAgentService({
		apiKey,
		messages: echo,
		kickCode: 4000,
		messageIntervalMilliseconds: 5,
	});
	const items = turns(40, 4);
	balance(items, await converse(items, {}));
});

describe('a channel that drops in the middle of each turn, and whose server repeats messages with IDs', () => {
	const options = { deduplicationField: 'id' };
	it.each<[string, number, IDataObject]>([
		['the turn', 2, {}],
		['the turn before, too', 5, { waitUntil: 'count', messageCount: 2 }],
		['the whole session', 100, {}],
		['the whole session', 100, { waitUntil: 'silence', silenceSeconds: 3 }],
	])('%s (the last %d messages, %j)', async (_name, replay, wait) => {
		service = await startAgentService({
			apiKey,
			messages: echo,
			replay,
			messageIntervalMilliseconds: 20,
			execute: (request) => {
				const { sessionId } = request.body as ExecuteFields;
				setTimeout(() => {
					service.dropChannels(sessionId);
				}, 30);
				return undefined;
			},
		});
		const items = turns(12, 4);
		balance(items, await converse(items, { ...wait, options }));
	});
});
