import { once } from 'node:events';
import WebSocket from 'ws';

import { type AgentService, startAgentService } from '../../dev/agent-service/server';

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
	const { sessionId, startStepName } = fields;
	expect(await response.json()).toEqual({ sessionId, startStepName, status: 'accepted' });
	const headers = { 'x-api-key': service.apiKey };
	expect(service.requests).toMatchObject([
		{ method: 'POST', url: '/execute', body: fields, headers, faults: [] },
	]);
	expect(service.sessions.get('s1')?.executions).toBe(1);
});

const noTime = 'timestamp is not an integer of milliseconds';

test.each([
	['a missing field', { ...fields, userId: undefined }, 'userId is not a string'],
	['a number for a text', { ...fields, signature: 1 }, 'signature is not a string'],
	['an eighth field', { ...fields, more: 1 }, 'unknown: more'],
	['a timestamp in seconds', { ...fields, timestamp: 1_767_225_600 }, noTime],
	['a timestamp as text', { ...fields, timestamp: '1767225600000' }, noTime],
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

test('refuses a channel with a wrong key or without a parameter', async () => {
	const status = async (query: Record<string, string>) => {
		const right = { sessionId: 's1', userPublicKey: '0x1', signature: '0x2' };
		const all = { ...right, timestamp: '1767225600', apiKey: service.apiKey, ...query };
		const search = new URLSearchParams(all);
		const socket = new WebSocket(`${service.webSocketUrl}/ws?${search.toString()}`);
		const answered = once(socket, 'unexpected-response');
		const [, { statusCode }] = (await answered) as [unknown, { statusCode: number }];
		return statusCode;
	};
	expect(await status({ apiKey: 'wrong' })).toBe(401);
	expect(await status({ signature: '' })).toBe(400);
	expect(await status({ timestamp: 'now' })).toBe(400);
});
