import https from 'node:https';

import {
	type AgentService,
	type ExecuteStep,
	startAgentService,
} from '../../dev/agent-service/server';

const fields = {
	sessionId: 's1',
	userId: '0x01',
	userPublicKey: '0x02',
	initialPayload: '{"task":"t","input":"i"}',
	startStepName: 'start',
	signature: '0x03',
	timestamp: 1_767_225_600_000,
};

let service: AgentService;
beforeEach(async () => {
	service = await startAgentService();
});
afterEach(async () => {
	await service.close();
});

const post = (body: unknown = fields, headers: Record<string, string> = {}) =>
	fetch(`${service.url}/execute`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', 'x-api-key': service.apiKey, ...headers },
		body: typeof body === 'string' ? body : JSON.stringify(body),
		redirect: 'manual',
	});

const errorOf = async (response: Response) =>
	((await response.json()) as { error: { message: string } }).error.message;

test('answers a correct call, logs it and counts it for its session', async () => {
	const response = await post();
	expect(response.status).toBe(200);
	expect(await response.json()).toEqual({
		sessionId: 's1',
		startStepName: 'start',
		status: 'accepted',
	});
	expect(service.requests).toHaveLength(1);
	expect(service.requests[0]).toMatchObject({
		method: 'POST',
		url: '/execute',
		body: fields,
		faults: [],
	});
	expect(service.requests[0]?.headers['x-api-key']).toBe(service.apiKey);
	expect(service.sessions.get('s1')?.executions).toBe(1);
});

test.each([
	['a missing field', { ...fields, userId: undefined }, 'userId is not a string'],
	['a number for a text', { ...fields, signature: 1 }, 'signature is not a string'],
	['an eighth field', { ...fields, more: 1 }, 'unknown: more'],
	[
		'a timestamp in seconds',
		{ ...fields, timestamp: 1_767_225_600 },
		'timestamp is not an integer of milliseconds',
	],
	[
		'a timestamp as text',
		{ ...fields, timestamp: '1767225600000' },
		'timestamp is not an integer of milliseconds',
	],
	[
		'a payload that is no JSON',
		{ ...fields, initialPayload: 'x' },
		'initialPayload is not the JSON of an object',
	],
	['a list', [], 'the body is not a JSON object'],
	['no JSON', 'x', 'the body is not a JSON object'],
])('refuses %s with 400', async (_, body, message) => {
	const response = await post(body);
	expect(response.status).toBe(400);
	expect(await errorOf(response)).toContain(message);
});

test('refuses a wrong key, another method, another path', async () => {
	expect((await post(fields, { 'x-api-key': 'wrong' })).status).toBe(401);
	const headers = { 'x-api-key': service.apiKey };
	expect((await fetch(`${service.url}/execute`, { headers })).status).toBe(405);
	expect((await fetch(`${service.url}/other`, { headers })).status).toBe(404);
});

test('serves below a path prefix', async () => {
	const prefixed = await startAgentService({ pathPrefix: '/agents/v2/' });
	expect(prefixed.url).toMatch(/\/agents\/v2$/);
	const response = await fetch(`${prefixed.url}/execute`, {
		method: 'POST',
		headers: { 'x-api-key': prefixed.apiKey },
	});
	expect(response.status).toBe(400);
	await prefixed.close();
});

test('plays scripted statuses, headers and bodies, one per request', async () => {
	service.fail(503);
	service.script(
		{ status: 429, retryAfter: 7 },
		{ status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
		{ body: '<html></html>', contentType: 'text/html' },
		{ body: Buffer.from([0, 255]) },
		{ bodyBytes: 100_000 },
		{ body: 'slow', dripMilliseconds: 1, delayMilliseconds: 5 },
	);
	expect((await post()).status).toBe(503);
	expect((await post()).headers.get('retry-after')).toBe('7');
	expect((await post()).headers.get('location')).toBe('http://127.0.0.1:1/');
	const page = await post();
	expect([page.headers.get('content-type'), await page.text()]).toEqual([
		'text/html',
		'<html></html>',
	]);
	expect(Buffer.from(await (await post()).arrayBuffer())).toEqual(Buffer.from([0, 255]));
	expect(await (await post()).text()).toHaveLength(100_000);
	expect(await (await post()).text()).toBe('slow');
	expect((await post()).status).toBe(200);
});

test.each<NonNullable<ExecuteStep['fault']>>([
	'resetBeforeRead',
	'resetAfterRead',
	'cutBody',
	'resetBody',
])('breaks off with %s', async (fault) => {
	service.script({ fault });
	await expect(post().then((response) => response.text())).rejects.toThrow();
	expect(service.requests).toHaveLength(fault === 'resetBeforeRead' ? 0 : 1);
	expect((await post()).status).toBe(200);
});

test('is silent until its peer gives up', async () => {
	service.script({ fault: 'silence' });
	const given = fetch(`${service.url}/execute`, {
		method: 'POST',
		headers: { 'x-api-key': service.apiKey },
		body: '{}',
		signal: AbortSignal.timeout(100),
	});
	await expect(given).rejects.toThrow(/aborted/);
});

test('decides by the request where nothing is scripted', async () => {
	const choosy = await startAgentService({
		answer: ({ sessionId }) => ({ hello: sessionId }),
		execute: ({ body }) =>
			(body as typeof fields).sessionId === 'bad' ? { status: 500 } : undefined,
	});
	const call = (sessionId: string) =>
		fetch(`${choosy.url}/execute`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-api-key': choosy.apiKey },
			body: JSON.stringify({ ...fields, sessionId }),
		});
	expect((await call('bad')).status).toBe(500);
	expect(await (await call('good')).json()).toEqual({ hello: 'good' });
	await choosy.close();
});

test('serves https with a certificate that nobody trusts', async () => {
	const secure = await startAgentService({ tls: true });
	await expect(fetch(`${secure.url}/execute`)).rejects.toThrow();
	const status = await new Promise((resolve, reject) => {
		https
			.get(
				`${secure.url}/execute`,
				{ rejectUnauthorized: false, agent: false },
				({ statusCode }) => {
					resolve(statusCode);
				},
			)
			.on('error', reject);
	});
	expect(status).toBe(401);
	await secure.close();
});

test('says which port is in use', async () => {
	await expect(startAgentService({ port: service.port })).rejects.toMatchObject({
		code: 'EADDRINUSE',
		port: service.port,
	});
});
