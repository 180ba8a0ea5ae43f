import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';

import {
	type AgentService,
	type AgentServiceOptions,
	type ExecuteStep,
	startAgentService,
} from '../../../dev/agent-service/server.ts';
import { failureOf, withBinaryData } from '../../createExecuteContext';
import { apiKey, numbered, runExecute, type RunOptions, signer } from './executeRun';
import { countStoredResults } from '../../sharedState';

let service: AgentService;

async function serve(options: AgentServiceOptions = {}): Promise<void> {
	service = await startAgentService({ apiKey, ...options });
}

beforeAll(withBinaryData);
afterEach(async () => {
	await service.close();
});

const run = (options?: RunOptions) => runExecute(service, options);

describe('behind a chat', () => {
	const newSession =
		/^Each message of the chat starts a new session, .*\{\{ \$json\.sessionId \}\}\.$/;

	test.each<[string, Record<string, unknown>, RunOptions['parameters'], RegExp[]]>([
		['neither session nor wait', { chatInput: 'Hi' }, {}, [newSession]],
		['no wait', { chatInput: 'Hi' }, { sessionId: '={{ $json.id }}' }, []],
		['no chat', {}, {}, []],
	])('a hint tells what a newcomer misses: %s', async (_, json, parameters, expected) => {
		await serve({ answer: () => ({ text: 'Started.' }) });
		const hints: string[] = [];
		await run({
			items: [{ json: { id: 's1', ...json } }],
			parameters,
			onHint: (hint) => hints.push(hint),
		});
		expect(hints).toEqual(expected.map((one) => expect.stringMatching(one) as string));
	});
});

describe('the request', () => {
	test('is a POST of exactly the seven fields, with the key in its header', async () => {
		await serve();
		const before = Date.now();
		const [item] = await run({
			parameters: { sessionId: 'my session', task: 'a', input: 'b' },
		});
		expect(service.requests).toHaveLength(1);
		const [request] = service.requests;
		expect(request).toMatchObject({ method: 'POST', url: '/execute' });
		expect(request?.headers).toMatchObject({
			'x-api-key': apiKey,
			'content-type': 'application/json',
		});
		const { timestamp, ...body } = request?.body as { timestamp: number };
		expect(body).toEqual({
			sessionId: 'my session',
			initialPayload: '{"task":"a","input":"b"}',
			startStepName: 'start',
			...signer,
		});
		expect(timestamp).toBeGreaterThanOrEqual(before);
		expect(item).toMatchObject({
			json: {
				sessionId: 'my session',
				userId: '0xa1',
				startStepName: 'start',
				timestamp,
				statusCode: 200,
			},
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
		expect(service.requests.map(({ url }) => url)).toEqual([
			'/agents/v2/execute',
			'/agents/v2/execute',
		]);
	});

	test('has a new UUID as session for each item without one', async () => {
		await serve();
		const items = await run({ items: numbered(3) });
		const sessions = items.map(({ json }) => json.sessionId);
		expect(new Set(sessions).size).toBe(3);
		for (const session of sessions)
			expect(session).toMatch(
				/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
			);
	});

	test('takes identity and timestamp from the options of the item', async () => {
		await serve();
		const own = {
			userId: '0xb',
			userPublicKey: '0xc',
			signature: '0xd',
			timestamp: 1795253731904,
		};
		await run({ parameters: { options: own } });
		expect(service.requests[0]?.body).toMatchObject(own);
	});

	test('carries the issued timestamp when the signature came with one', async () => {
		await serve();
		await run({ signer: { timestampMode: 'issued', issuedTimestamp: 1795253731904 } });
		expect(service.requests[0]?.body).toMatchObject({ timestamp: 1795253731904 });
	});

	test('reaches a self-signed server only when the credential says so', async () => {
		await serve({ tls: true });
		const error = await failureOf(run());
		expect(error).toMatchObject({
			httpCode: '503',
			message: expect.stringContaining('does not know who issued') as string,
		});
		expect(error.description).toContain('NODE_EXTRA_CA_CERTS');
		expect(await run({ api: { allowUnauthorizedCerts: true } })).toHaveLength(1);
	});
});

describe('the answer', () => {
	test.each<[string, ExecuteStep, unknown]>([
		['JSON', { body: { ok: [1] } }, { ok: [1] }],
		['text', { body: 'hello' }, 'hello'],
		['HTML', { body: '<h1>Hi</h1>', contentType: 'text/html' }, '<h1>Hi</h1>'],
		['nothing', { body: '', status: 204 }, null],
	])('%s is passed on', async (_name, step, response) => {
		await serve();
		service.script(step);
		const [item] = await run();
		expect(item?.json.response).toEqual(response);
	});

	test('that is a file becomes binary.data', async () => {
		await serve();
		const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff]);
		service.script({ body: bytes, contentType: 'application/pdf' });
		const [item] = await run();
		expect(item?.json.response).toBeNull();
		expect(item?.binary?.data).toMatchObject({
			mimeType: 'application/pdf',
			data: bytes.toString('base64'),
		});
	});

	test('over 64 MiB is refused, naming the limit, without a second call', async () => {
		await serve();
		service.script({ bodyBytes: 65 * 1024 * 1024 });
		expect(await failureOf(run())).toMatchObject({
			httpCode: '502',
			message: expect.stringContaining('64 MiB') as string,
		});
		expect(service.requests).toHaveLength(1);
	});

	test.each(['cutBody', 'resetBody'] as const)(
		'that breaks off (%s) is a failure, without a second call',
		async (fault) => {
			await serve();
			service.script({ fault, body: 'x'.repeat(1000) });
			expect(await failureOf(run())).toMatchObject({
				httpCode: '502',
				message: expect.stringContaining('was cut off') as string,
			});
			expect(service.requests).toHaveLength(1);
		},
	);
});

describe('a call is repeated', () => {
	test.each<[string, ExecuteStep]>([
		['429', { status: 429 }],
		['429 with Retry-After', { status: 429, retryAfter: 0 }],
		['503 with Retry-After', { status: 503, retryAfter: 0 }],
	])('after %s', async (_name, step) => {
		await serve();
		service.script(step, step);
		const [item] = await run();
		expect(item?.json.statusCode).toBe(200);
		expect(service.requests).toHaveLength(3);
	});

	test('with the same session', async () => {
		await serve();
		service.fail(429);
		await run();
		const [first, second] = service.requests.map(
			({ body }) => (body as { sessionId: string }).sessionId,
		);
		expect(second).toBe(first);
	});

	test.each<[string, ExecuteStep]>([
		['401', { status: 401 }],
		['400', { status: 400 }],
		['500', { status: 500 }],
		['502', { status: 502 }],
		['503 without Retry-After', { status: 503 }],
		['a reset after the call was read', { fault: 'resetAfterRead' }],
		['a reset before it was read', { fault: 'resetBeforeRead' }],
	])('never after %s', async (_name, step) => {
		await serve();
		service.script(step);
		await failureOf(run());
		expect(service.connections).toBe(1);
	});

	test('never when the service asks for more time than the node may spend; the wait is stated', async () => {
		await serve();
		service.script({ status: 429, retryAfter: 7200 });
		const error = await failureOf(run());
		expect(error).toMatchObject({
			httpCode: '429',
			description: expect.stringContaining(
				"The agent service asks n8n to wait 7200 seconds, but 'Max Retry Wait (Seconds)' allows 60.",
			) as string,
		});
		expect(service.requests).toHaveLength(1);
	});

	test('never when it asks for more than is left of that time; what is left is stated, too', async () => {
		await serve();
		service.script({ status: 429, retryAfter: 1 }, { status: 429, retryAfter: 3 });
		const parameters = { options: { timeLimits: { limits: { maxRetryWaitSeconds: 3 } } } };
		expect(await failureOf(run({ parameters }))).toMatchObject({
			description: expect.stringMatching(
				/^The agent service asks n8n to wait 3 seconds, but 'Max Retry Wait \(Seconds\)' allows 3, of which [12] have passed\./,
			) as string,
		});
		expect(service.requests).toHaveLength(2);
	});

	test('never without time to wait', async () => {
		await serve();
		service.fail(429, 429);
		const parameters = { options: { timeLimits: { limits: { maxRetryWaitSeconds: 0 } } } };
		expect(await failureOf(run({ parameters }))).toMatchObject({ httpCode: '429' });
		expect(service.requests).toHaveLength(1);
	});

	test('when nothing listened', async () => {
		await serve();
		await service.close();
		const port = service.url.split(':').at(-1);
		const late = createServer((_request, response) => response.end('{}'));
		const outcome = run({ api: { deploymentUrl: `http://127.0.0.1:${String(port)}` } });
		await new Promise((resolve) => setTimeout(resolve, 100));
		await new Promise<void>((resolve) => late.listen(Number(port), '127.0.0.1', resolve));
		try {
			expect(await outcome).toHaveLength(1);
		} finally {
			late.close();
		}
	});
});

test('a call that is not answered in time ends with 504, and is not repeated', async () => {
	await serve();
	service.script({ fault: 'silence' });
	const parameters = { options: { timeLimits: { limits: { timeoutSeconds: 1 } } } };
	expect(await failureOf(run({ parameters }))).toMatchObject({
		httpCode: '504',
		message: expect.stringContaining('1 s') as string,
	});
	service.script({ body: 'x'.repeat(50), dripMilliseconds: 200 });
	expect(await failureOf(run({ parameters }))).toMatchObject({ httpCode: '504' });
	expect(service.requests).toHaveLength(2);
});

test('a redirect is refused, and the secrets go nowhere else', async () => {
	await serve();
	let elsewhere = 0;
	const other = createServer((_request, response) => {
		elsewhere++;
		response.end('{}');
	});
	await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
	try {
		const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/login?secret=1`;
		for (const status of [301, 302, 307, 308]) {
			service.script({ status, headers: { location } });
			const error = await failureOf(run());
			expect(error).toMatchObject({
				httpCode: String(status),
				message: expect.stringContaining('responded with a redirect') as string,
			});
			expect(error.message).not.toContain('secret=1');
		}
		expect(elsewhere).toBe(0);
	} finally {
		other.close();
	}
});

describe('input that cannot be sent', () => {
	test.each<[string, RunOptions, string]>([
		['no URL', { api: { deploymentUrl: '' } }, 'Deployment URL'],
		['a relative URL', { api: { deploymentUrl: '/agents' } }, 'Deployment URL'],
		[
			'a URL with credentials in it',
			{ api: { deploymentUrl: 'http://u:canary@127.0.0.1' } },
			'is not a complete URL',
		],
		[
			'a step name of spaces',
			{ parameters: { startStepName: '  ' } },
			"'Start Step Name' is required",
		],
		[
			'invalid JSON',
			{ parameters: { payloadMode: 'json', payloadJson: '{' } },
			'not valid JSON',
		],
		[
			'a payload that is a list',
			{ parameters: { payloadMode: 'json', payloadJson: '[]' } },
			'must be a JSON object',
		],
		[
			'a timestamp in seconds',
			{ parameters: { options: { ...signer, timestamp: 1795253731 } } },
			'is not a time in milliseconds',
		],
		['no signature', { signer: { signature: '' } }, 'signature is missing'],
		[
			'a timeout that is no number',
			{ parameters: { options: { timeLimits: { limits: { timeoutSeconds: 'soon' } } } } },
			"'Timeout (Seconds)' must be a whole number from 1 to 3600",
		],
	])('%s is refused with 400 before any request', async (_name, options, text) => {
		await serve();
		const error = await failureOf(run(options));
		expect(error).toMatchObject({
			httpCode: '400',
			message: expect.stringContaining(text) as string,
		});
		expect(error.description).toBeTruthy();
		expect(JSON.stringify([error.message, error.description])).not.toContain('canary');
		expect(service.connections).toBe(0);
	});
});

describe('several items', () => {
	test('keep their order though later ones are answered first, as many at once as the option says', async () => {
		let inFlight = 0;
		let most = 0;
		await serve();
		const steps = numbered(20).map((_, n) => ({
			delayMilliseconds: (20 - n) * 5,
			body: { n },
		}));
		service.script(...steps);
		const counting = setInterval(() => {
			inFlight = service.requests.length;
			most = Math.max(most, inFlight);
		}, 1);
		const items = await run({
			items: numbered(20),
			parameters: { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 20 } },
		});
		clearInterval(counting);
		expect(items.map(({ json, pairedItem }) => [json.sessionId, pairedItem])).toEqual(
			numbered(20).map((_, n) => [`s${n}`, { item: n }]),
		);
	});

	test('go on though an option of the first one has a failing expression', async () => {
		await serve();
		const items = await run({
			items: numbered(2),
			node: { onError: 'continueRegularOutput' },
			parameters: {
				options: { textField: '={{ $json.n === 0 ? $("Nowhere").item.json.x : "text" }}' },
			},
		});
		expect(items.map(({ json }) => [json.statusCode, typeof json.error])).toEqual([
			[undefined, 'object'],
			[200, 'undefined'],
		]);
	});

	test('with one at a time go out in their order', async () => {
		await serve();
		await run({
			items: numbered(5),
			parameters: { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } },
		});
		expect(
			service.requests.map(({ body }) => (body as { sessionId: string }).sessionId),
		).toEqual(['s0', 's1', 's2', 's3', 's4']);
	});

	test('under Continue on Fail: the failed one becomes an error item, the others go on', async () => {
		await serve({
			execute: ({ body }) =>
				(body as { sessionId: string }).sessionId === 's1'
					? { status: 422, body: { message: 'bad step' } }
					: undefined,
		});
		const items = await run({
			items: numbered(3),
			node: { onError: 'continueRegularOutput' },
			parameters: { sessionId: '={{ "s" + $json.n }}' },
		});
		expect(items[1]).toEqual({
			json: {
				error: {
					code: 422,
					message:
						'The agent service rejected the call (422): {\"message\":\"bad step\"}. The agent was not started.',
					status: 'UNKNOWN',
				},
			},
			pairedItem: { item: 1 },
		});
		expect([items[0], items[2]].map((item) => item?.json.statusCode)).toEqual([200, 200]);
	});

	test('keep the fields of their input if the option says so, also those that fail', async () => {
		await serve({
			execute: ({ body }) =>
				(body as { sessionId: string }).sessionId === 's1'
					? { status: 422, body: { message: 'bad step' } }
					: { body: { text: 'Done' } },
		});
		const items = await run({
			items: numbered(2),
			node: { onError: 'continueRegularOutput' },
			parameters: {
				sessionId: '={{ "s" + $json.n }}',
				options: { includeInputFields: true },
			},
		});
		expect(items.map(({ json }) => json)).toMatchObject([
			{ n: 0, output: 'Done', sessionId: 's0' },
			{ n: 1, error: { code: 422 } },
		]);
	});

	test('stop at the first failure otherwise, naming the item', async () => {
		await serve({
			execute: ({ body }) =>
				(body as { sessionId: string }).sessionId === 's1' ? { status: 422 } : undefined,
		});
		const parameters = { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } };
		const error = await failureOf(run({ items: numbered(4), parameters }));
		expect(error.context.itemIndex).toBe(1);
		expect(service.requests).toHaveLength(2);
	});

	test.each<[string, ExecuteStep]>([
		['is unknown', { fault: 'resetAfterRead' }],
		['is a failure of the service', { status: 500 }],
		['is a gateway that gave up', { status: 504 }],
		['is an answer that is too large', { bodyBytes: 65 * 1024 * 1024 }],
		['was cut short', { fault: 'cutBody', body: 'x'.repeat(1000) }],
	])("under n8n's Retry On Fail: one whose outcome %s is not sent again", async (_name, step) => {
		await serve();
		service.script(step);
		const options = {
			node: { retryOnFail: true, maxTries: 2 },
			executionId: `ambiguous-${_name}`,
		};
		const first = await failureOf(run(options));
		expect((await failureOf(run(options))).message).toBe(first.message);
		expect(service.requests).toHaveLength(1);
		expect(countStoredResults()).toBe(0);
	});

	test.each([
		['s0', 4],
		['s1', 0],
	])(
		'with Retry On Fail and Continue on Fail n8n looks at the first item: after a failure of %s %d outcomes are kept',
		async (failing, kept) => {
			await serve({
				execute: ({ body }) =>
					(body as { sessionId: string }).sessionId === failing
						? { status: 422 }
						: undefined,
			});
			const options = {
				items: numbered(5),
				node: { retryOnFail: true, maxTries: 2, onError: 'continueRegularOutput' as const },
				parameters: { sessionId: '={{ "s" + $json.n }}' },
				executionId: `first-${failing}`,
			};
			await run(options);
			expect(countStoredResults()).toBe(kept);
			if (kept > 0) await run(options);
			expect(countStoredResults()).toBe(0);
			expect(service.requests).toHaveLength(kept > 0 ? 6 : 5);
		},
	);

	test("under n8n's Retry On Fail: those that succeeded are not sent again", async () => {
		let refuse = true;
		await serve({
			execute: ({ body }) =>
				refuse && (body as { sessionId: string }).sessionId === 's2'
					? { status: 422 }
					: undefined,
		});
		const options = {
			items: numbered(4),
			node: { retryOnFail: true, maxTries: 3 },
			parameters: { sessionId: '={{ "s" + $json.n }}' },
			executionId: 'retry-1',
		};
		await failureOf(run(options));
		refuse = false;
		expect(await run(options)).toHaveLength(4);
		const sessions = service.requests.map(
			({ body }) => (body as { sessionId: string }).sessionId,
		);
		expect(sessions.sort()).toEqual(['s0', 's1', 's2', 's2', 's3']);
		expect(countStoredResults()).toBe(0);
	});
});

test('stopping the execution ends the call in flight and the waits between tries', async () => {
	await serve();
	const steps: Array<[ExecuteStep, string]> = [
		[{ fault: 'silence' as const }, 'may have started the agent'],
		[{ status: 429, retryAfter: 30 }, 'The agent was not started.'],
		[{ body: 'x'.repeat(500), dripMilliseconds: 20 }, 'may have started the agent'],
	];
	for (const [step, text] of steps) {
		service.script(step);
		const stop = new AbortController();
		const outcome = failureOf(run({ signal: stop.signal }));
		while (service.requests.length === 0)
			await new Promise((resolve) => setTimeout(resolve, 5));
		await new Promise((resolve) => setTimeout(resolve, 50));
		stop.abort();
		expect(await outcome).toMatchObject({
			message: 'The execution was stopped',
			description: expect.stringContaining(text) as string,
		});
		service.requests.length = 0;
	}
});

test('a call that fails names the agents that were started before it, because a second run would start them again', async () => {
	await serve();
	service.script({ status: 200 }, { status: 200 }, { status: 400 });
	const parameters = { sessionId: '={{ "s" + $json.n }}', options: { parallelRequests: 1 } };
	const failure = await failureOf(run({ items: numbered(4), parameters }));
	expect(service.requests).toHaveLength(3);
	expect(failure.context.itemIndex).toBe(2);
	expect(failure.description).toContain(
		'Already done, of 4 items (n8n counts from 0): item 0: agent in session s0; item 1: agent in session s1. If the node runs again',
	);
});

test('an execution that was stopped before the call sends nothing, and says so', async () => {
	await serve();
	expect(await failureOf(run({ signal: AbortSignal.abort() }))).toMatchObject({
		message: 'The execution was stopped',
		description: 'The agent was not started.',
	});
	expect(service.connections).toBe(0);
});

test('no secret is in any error, though the service gives them back', async () => {
	await serve();
	const all = [apiKey, signer.signature, signer.userPublicKey];
	const steps: ExecuteStep[] = [
		{ status: 401, body: { message: `bad ${all.join(' ')}` } },
		{ status: 500, body: all.join(' ') },
		{ status: 302, headers: { location: `/x?apiKey=${apiKey}` } },
		{ fault: 'resetAfterRead' },
		{ fault: 'cutBody', body: all.join(' ').repeat(20) },
	];
	for (const step of steps) {
		service.script(step);
		const error = await failureOf(run());
		const seen = [
			error.message,
			error.description,
			error.stack,
			JSON.stringify(error),
			inspect(error),
		].join('\n');
		for (const secret of all) expect(seen).not.toContain(secret);
	}
});
