// What is read again when an item's turn comes, because an expression may give something else by then.
import type { IDataObject } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../../dev/agent-service/server.ts';
import { failureOf, withBinaryData } from '../../executeContext';
import { apiKey, numbered, runExecute, type RunOptions } from './executeRun';

let service: AgentService;

async function serve(options: AgentServiceOptions = {}): Promise<void> {
	service = await startAgentService({ apiKey, ...options });
}

const run = (options: RunOptions) => runExecute(service, options);

beforeAll(withBinaryData);
afterEach(() => service.close());

/** Items with a value that changes: how many calls the service has had so far. */
const changing = (count: number, calls: (n: number) => number = () => service.requests.length) =>
	numbered(count).map(({ json }, n) => ({
		json: Object.defineProperty(json, 'calls', { enumerable: true, get: () => calls(n) }),
	}));

const sent = (key: string) => service.requests.map(({ body }) => (body as IDataObject)[key]);

const own = {
	userId: '={{ "0x" + $json.n }}',
	userPublicKey: '0xb',
	signature: '={{ $json.n === 1 && $json.calls > 0 ? "" : "0xc" }}',
	parallelRequests: 1,
};
const message = "The option 'Signature' is empty for this item, but 'User ID' is not";

test('a timestamp by expression is of the time when the item goes out', async () => {
	await serve();
	const options = { timestamp: '={{ 1795253731904 + $json.calls }}', parallelRequests: 1 };
	await run({ items: changing(3), parameters: { options } });
	expect(sent('timestamp')).toEqual([1795253731904, 1795253731905, 1795253731906]);
});

test.each<[number, string, IDataObject]>([
	[1, 'plain values', { userId: '0xa' }],
	[1, 'fields of the item', { userId: '={{ $json.user }}', timestamp: '={{ $json.time }}' }],
	[2, 'an expression for the user', { userId: '={{ "0x" + $json.n }}' }],
])('options are read %d times for %s', async (times, _, options) => {
	await serve();
	let readings = 0;
	const items = changing(1, () => readings++);
	Object.assign(items[0]?.json ?? {}, { user: '0xb', time: 1795253731904 });
	// n8n reads the options of the first item once more, for those of the whole node.
	items.unshift({ json: {} });
	await run({
		items,
		parameters: { options: { ...options, maxTries: '={{ 5 + 0 * ($json.calls ?? 0) }}' } },
	});
	expect([readings, service.requests.length]).toEqual([times, 2]);
});

test('a value that has become wrong by then fails that item, and says that nothing was sent for it', async () => {
	await serve();
	const error = await failureOf(run({ items: changing(3), parameters: { options: own } }));
	expect([error.context.itemIndex, error.httpCode, error.message]).toEqual([1, '400', message]);
	expect(error.description).toMatch(/ Nothing was sent for this item\.$/);
	expect(service.requests).toHaveLength(1);
});

test('under Continue on Fail it fails that item alone', async () => {
	await serve();
	const node = { onError: 'continueRegularOutput' as const };
	const items = await run({ items: changing(3), parameters: { options: own }, node });
	expect(items.map(({ json }) => (json.error as IDataObject | undefined)?.message)).toEqual([
		undefined,
		message,
		undefined,
	]);
	expect(sent('userId')).toEqual(['0x0', '0x2']);
});

test('an item that an earlier try sent is answered from there, though its values are out of date', async () => {
	let refuse = true;
	await serve({
		execute: ({ body }) =>
			refuse && (body as { sessionId: string }).sessionId === 's2' ? { status: 422 } : undefined,
	});
	// The first reading of a try is the check's.
	let readings = 0;
	const items = changing(3, (n) => (n === 1 && !refuse ? readings++ : 0));
	const options: RunOptions = {
		items,
		parameters: { sessionId: '={{ "s" + $json.n }}', options: own },
		node: { retryOnFail: true },
		executionId: 'out-of-date',
	};
	expect((await failureOf(run(options))).httpCode).toBe('422');
	refuse = false;
	expect(await run(options)).toHaveLength(3);
	expect(service.requests).toHaveLength(4);
});

test('after a stop nothing is read again', async () => {
	const stop = new AbortController();
	await serve({
		execute: () => {
			stop.abort();
			return undefined;
		},
	});
	const node = { onError: 'continueRegularOutput' as const };
	const items = await run({
		items: changing(3),
		parameters: { options: own },
		node,
		signal: stop.signal,
	});
	expect(items.map(({ json }) => (json.error as { code: number }).code)).toEqual([499, 499, 499]);
});

test.each<[string, IDataObject]>([
	['a task', { task: '={{ "t" + $json.calls }}' }],
	['a JSON text', { payloadMode: 'json', payloadJson: `={{ '{"a":"' + $json.calls + '"}' }}` }],
	['an object', { payloadMode: 'json', payloadJson: '={{ ({ a: $json.calls }) }}' }],
])('%s by expression is read once, at the check, and goes out as it was then', async (_, parameters) => {
	await serve();
	const readings = numbered(3).map(() => 0);
	const items = changing(3, (n) => (readings[n] = (readings[n] ?? 0) + 1));
	await run({ items, parameters: { ...parameters, options: { parallelRequests: 1 } } });
	expect(readings).toEqual([1, 1, 1]);
	const digits = (sent('initialPayload') as string[]).map((text) => text.replace(/\D/g, ''));
	expect(digits).toEqual(['1', '1', '1']);
});
