// Conversations with a service whose channel drops, repeats and restarts: every turn gets its own answer, and each call goes out once.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type {
	AgentService,
	AgentServiceOptions,
	ExecuteFields,
	ReceivedRequest,
} from '../../dev/agent-service/server';
import { runExecute, serveEach } from '../Agent/AgentExecute/executeRun';
import { useSteadyClock } from '../steadyClock';

let service: AgentService;
useSteadyClock();
/** Starts a service whose answers repeat the input, with IDs. */
const start = serveEach((started) => (service = started));
const serve = (interval: number, options: AgentServiceOptions = {}) =>
	start({ messages: echo, messageIntervalMilliseconds: interval, ...options });

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

it('a server that keeps the newest channel of a session only', async () => {
	await serve(5, { kickCode: 4000 });
	const items = turns(40, 4);
	balance(items, await converse(items, {}));
});

it.each<[number, IDataObject]>([
	[2, {}],
	[5, { waitUntil: 'count', messageCount: 2 }],
	[100, {}],
	[100, { waitUntil: 'silence', silenceSeconds: 3 }],
])(
	'a channel that drops in the middle of each turn, and whose server repeats %d messages with IDs: %j',
	async (replay, wait) => {
		const drop = ({ body }: ReceivedRequest) => {
			const { sessionId } = body as ExecuteFields;
			setTimeout(() => {
				service.dropChannels(sessionId);
			}, 30);
			return undefined;
		};
		await serve(20, { replay, execute: drop });
		const items = turns(12, 4);
		balance(items, await converse(items, { ...wait, options: { deduplicationField: 'id' } }));
	},
);

const after = { openChannel: 'after', deduplicationField: 'id' };

it.each<[string, IDataObject]>([
	['match', {}],
	['silence', { waitUntil: 'silence', silenceSeconds: 0.3 }],
])(
	'what a server repeats ends no wait whose channel opens after the call, with IDs: %s',
	async (_, wait) => {
		await serve(20, { replay: 100 });
		const items = turns(12, 4);
		balance(items, await converse(items, { ...wait, options: after }));
	},
);

it('nor do the turns of an earlier execution', async () => {
	await serve(20, { replay: 100 });
	const items = turns(4, 1);
	const output = [];
	for (const item of items) output.push(...(await converse([item], { options: after })));
	balance(items, output);
});
