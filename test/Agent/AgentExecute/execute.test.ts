import type { IDataObject } from 'n8n-workflow';

import type { AgentService, ExecuteStep } from '../../../dev/agent-service/server.ts';
import { failureOf } from '../../createExecuteContext';
import {
	apiKey,
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
import { holdTime } from '../../heldTime';
import { countStoredResults, forgetStoredResults } from '../../sharedState';
import { startScriptedServer } from '../../Workspace/scriptedServer';
import { turns } from '../../turns';
import { until } from '../session/tap';

let service: AgentService;
const serve = serveEach((started) => (service = started));
const run = (options?: RunOptions) => runExecute(service, options);

/** Parameters by which each item has a session of its own. */
const ownSessions = (options: IDataObject = {}) => ({ sessionId: '={{ "s" + $json.n }}', options });
const limitedTo = (limits: IDataObject) => ({ options: { timeLimits: { limits } } });

describe('behind a chat', () => {
	const newSession =
		/^Each message of the chat starts a new session, .*\{\{ \$json\.sessionId \}\}\.$/;

	test.each<[string, IDataObject, RunOptions['parameters'], RegExp[]]>([
		['neither session nor wait', { chatInput: 'Hi' }, {}, [newSession]],
		['no wait', { chatInput: 'Hi' }, { sessionId: '={{ $json.id }}' }, []],
		['no chat', {}, {}, []],
	])('a hint tells what a newcomer misses: %s', async (_, json, parameters, expected) => {
		await serve({ answer: () => ({ text: 'Started.' }) });
		const hints: string[] = [];
		const items = [{ json: { id: 's1', ...json } }];
		await run({ items, parameters, onHint: (hint) => hints.push(hint) });
		expect(hints).toEqual(expected.map((one) => expect.stringMatching(one) as string));
	});
});

describe('the request', () => {
	test('is a POST of exactly the seven fields, with the key in its header', async () => {
		await serve();
		const before = Date.now();
		const parameters = { sessionId: 'my session', task: 'a', input: 'b' };
		const [item] = await run({ parameters });
		expect(service.requests).toMatchObject([
			{
				...{ method: 'POST', url: '/execute' },
				headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
			},
		]);
		const { timestamp, ...body } = service.requests[0]?.body as { timestamp: number };
		const shown = { sessionId: 'my session', startStepName: 'start' };
		expect(body).toEqual({ ...shown, ...signer, initialPayload: '{"task":"a","input":"b"}' });
		expect(timestamp).toBeGreaterThanOrEqual(before);
		expect(item).toMatchObject({
			json: { ...shown, userId: '0xa1', timestamp, statusCode: 200 },
			pairedItem: { item: 0 },
		});
	});

	test('goes out where n8n keeps no custom data', async () => {
		await serve({ answer: () => ({ text: 'Done.' }) });
		const [item] = await run({ keepsNoCustomData: true });
		expect(item?.json).toMatchObject({ output: 'Done.', statusCode: 200 });
	});

	test('goes below a path prefix, with or without a slash at the end', async () => {
		await serve({ pathPrefix: '/agents/v2' });
		await run();
		await run({ api: { deploymentUrl: `${service.url}/` } });
		const urls = service.requests.map(({ url }) => url);
		expect(urls).toEqual(['/agents/v2/execute', '/agents/v2/execute']);
	});

	test('has a new UUID as session for each item without one', async () => {
		await serve();
		const sessions = (await run({ items: numbered(3) })).map(({ json }) => json.sessionId);
		expect(new Set(sessions).size).toBe(3);
		const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
		for (const session of sessions) expect(session).toMatch(uuid);
	});

	const timestamp = 1795253731904;
	const own = { userId: '0xb', userPublicKey: '0xc', signature: '0xd', timestamp };

	test.each<[string, RunOptions, IDataObject]>([
		['identity and timestamp of the item', { parameters: { options: own } }, own],
		[
			'the timestamp that was issued with the signature',
			{ signer: { timestampMode: 'issued', issuedTimestamp: timestamp } },
			{ timestamp },
		],
	])('carries %s', async (_, options, expected) => {
		await serve();
		await run(options);
		expect(service.requests[0]?.body).toMatchObject(expected);
	});
});

describe('the answer', () => {
	test('that is a file becomes binary.data', async () => {
		await serve();
		const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff]);
		service.script({ body: bytes, contentType: 'application/pdf' });
		expect(await run()).toMatchObject([
			{
				json: { response: null },
				binary: { data: { mimeType: 'application/pdf', data: bytes.toString('base64') } },
			},
		]);
	});

	test('over 64 MiB is refused, naming the limit, without a second call', async () => {
		await serve();
		service.script({ bodyBytes: 65 * 1024 * 1024 });
		await expectFailure(run(), 502, '64 MiB');
		expect(service.requests).toHaveLength(1);
	});
});

test('a call that was not accepted is repeated with the same session', async () => {
	await serve();
	service.script({ status: 429 }, { status: 503, retryAfter: 0 });
	const [item] = await run();
	expect(item?.json.statusCode).toBe(200);
	expect(sessionsOf(service)).toEqual(Array(3).fill(item?.json.sessionId));
});

test('a call that is answered too slowly in time ends with 504, and is not repeated', async () => {
	await serve();
	service.script({ body: 'x'.repeat(50), dripMilliseconds: 200 });
	await holdTime(async (time) => {
		const failed = expectFailure(
			run({ parameters: limitedTo({ timeoutSeconds: 60 }) }),
			504,
			'',
		);
		await time.until(() => service.requests.length === 1);
		await time.pass(60_000);
		await failed;
	});
	expect(service.requests).toHaveLength(1);
});

/** The body is read for three seconds, or until the limit of the call. */
test.each<[string, ExecuteStep, number, string]>([
	['400', { status: 400 }, 0, 'The agent was not started'],
	['401', { status: 401 }, 59_500, 'Check the API key'],
	['429 with Retry-After', { status: 429, retryAfter: 7200 }, 0, 'asks n8n to wait 7200 s'],
])('a refusal with %s counts, even if its body never ends', async (_, step, waited, text) => {
	await serve();
	let answer = () => {};
	const after = new Promise<void>((resolve) => (answer = resolve));
	service.script({ ...step, after, body: 'x'.repeat(10_000), dripMilliseconds: 400 });
	await holdTime(async (time) => {
		const parameters = limitedTo({ timeoutSeconds: 60 });
		const failed = expectFailure(run({ parameters }), step.status ?? 0, '(4', text);
		await time.until(() => service.requests.length === 1);
		await time.pass(waited);
		answer();
		await time.pass(3000);
		await failed;
	});
	expect(service.requests).toHaveLength(1);
});

test('a redirect is refused, and the secrets go nowhere else', async () => {
	await serve();
	const other = await startScriptedServer((response) => response.end('{}'));
	const location = `${other.url}/login?secret=1`;
	for (const status of [301, 302, 307, 308]) {
		service.script({ status, headers: { location } });
		const error = await expectFailure(run(), status, 'responded with a redirect');
		expect(error.message).not.toContain('secret=1');
	}
	expect(other.received).toEqual([]);
	await other.close();
});

describe('input that cannot be sent', () => {
	const deployedAt = (deploymentUrl: string) => ({ api: { deploymentUrl } });
	const withPayload = (payloadJson: string) => ({
		parameters: { payloadMode: 'json', payloadJson },
	});
	const signedAt = (timestamp: number) => ({ parameters: { options: { ...signer, timestamp } } });
	test.each<[string, RunOptions, string]>([
		['a URL with credentials', deployedAt('http://u:canary@127.0.0.1'), 'not a complete URL'],
		['invalid JSON', withPayload('{'), 'not valid JSON'],
		['a payload that is a list', withPayload('[]'), 'must be a JSON object'],
		['a timestamp in seconds', signedAt(1795253731), 'is not a time in milliseconds'],
		['no signature', { signer: { signature: '' } }, 'signature is missing'],
	])('%s is refused with 400 before any request', async (_name, options, text) => {
		await serve();
		const { message, description } = await expectFailure(run(options), 400, text);
		expect(description).toBeTruthy();
		expect(JSON.stringify([message, description])).not.toContain('canary');
		expect(service.connections).toBe(0);
	});
});

describe('several items', () => {
	test('keep their order though later ones are answered first', async () => {
		await serve();
		service.script(...numbered(20).map((_, n) => ({ delayMilliseconds: (20 - n) * 5 })));
		const parameters = ownSessions({ parallelRequests: 20 });
		const items = await run({ items: numbered(20), parameters });
		expect(items.map(({ json, pairedItem }) => [json.sessionId, pairedItem])).toEqual(
			numbered(20).map((_, n) => [`s${n}`, { item: n }]),
		);
	});

	test('go on though an option of the first one has a failing expression', async () => {
		await serve();
		const textField = '={{ $json.n === 0 ? $("Nowhere").item.json.x : "text" }}';
		const parameters = { options: { textField } };
		const items = await run({ items: numbered(2), node: goOn, parameters });
		const outcomes = items.map(({ json }) => [json.statusCode, typeof json.error]);
		expect(outcomes).toEqual([
			[undefined, 'object'],
			[200, 'undefined'],
		]);
	});

	test('under Continue on Fail: the failed one becomes an error item, the others go on', async () => {
		await serve(refusing('s1'));
		const items = await run({ items: numbered(3), node: goOn, parameters: ownSessions() });
		const message =
			'The agent service rejected the call (422): {"message":"bad step"}. The agent was not started.';
		const error = { code: 422, message, status: 'UNKNOWN' };
		expect(items[1]).toEqual({ json: { error }, pairedItem: { item: 1 } });
		expect([items[0], items[2]].map((item) => item?.json.statusCode)).toEqual([200, 200]);
	});

	test('keep the fields of their input if the option says so, also those that fail', async () => {
		await serve({ ...refusing('s1'), answer: () => ({ text: 'Done' }) });
		const parameters = ownSessions({ includeInputFields: true });
		const items = await run({ items: numbered(2), node: goOn, parameters });
		expect(items.map(({ json }) => json)).toMatchObject([
			{ n: 0, output: 'Done', sessionId: 's0' },
			{ n: 1, error: { code: 422 } },
		]);
	});

	test.each([
		['s0', 4],
		['s1', 0],
	])(
		'with Retry On Fail and Continue on Fail n8n looks at the first item: after a failure of %s %d outcomes are kept',
		async (failing, kept) => {
			forgetStoredResults();
			await serve(refusing(failing));
			const node = { retryOnFail: true, maxTries: 2, ...goOn };
			const items = numbered(5);
			const executionId = `first-${failing}`;
			const options = { items, node, parameters: ownSessions(), executionId };
			await run(options);
			expect(countStoredResults()).toBe(kept);
			if (kept > 0) await run(options);
			expect(countStoredResults()).toBe(0);
			expect(service.requests).toHaveLength(kept > 0 ? 6 : 5);
		},
	);
});

test.each<[string, ExecuteStep, string]>([
	['a call in flight', { fault: 'silence' }, 'may have started the agent'],
	['the wait between tries', { status: 429, retryAfter: 30 }, 'The agent was not started.'],
	['an answer', { body: 'x'.repeat(500), dripMilliseconds: 20 }, 'may have started the agent'],
])('stopping the execution ends %s', async (_, step, text) => {
	await serve();
	service.script(step);
	const stop = new AbortController();
	const outcome = failureOf(run({ signal: stop.signal }));
	await until(() => service.requests.length === 1);
	await turns(50);
	stop.abort();
	expect(await outcome).toMatchObject({
		message: 'The execution was stopped',
		description: expect.stringContaining(text) as string,
	});
});

test('a call that fails names the agents that were started before it, because a second run would start them again', async () => {
	await serve();
	service.script({ status: 200 }, { status: 200 }, { status: 400 });
	const running = run({ items: numbered(4), parameters: ownSessions(oneAtATime) });
	const done =
		'Already done, of 4 items (n8n counts from 0): item 0: agent in session s0; item 1: agent in session s1. If the node runs again';
	const failure = await expectFailure(running, 400, '', done);
	expect(service.requests).toHaveLength(3);
	expect(failure.context.itemIndex).toBe(2);
});
