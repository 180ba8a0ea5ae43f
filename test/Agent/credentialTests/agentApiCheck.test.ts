import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { CredentialTestContext } from 'n8n-core';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../../dev/agent-service/server';
import { checkAgentApi } from '../../../nodes/Agent/credentialTests/agentCredentials';
import { LongAnswer } from '../../longAnswer';
import { scriptedServer } from '../../Workspace/server';

const apiKey = 'canary-api-key-55aa';
let service: AgentService;

async function serve(options: AgentServiceOptions = {}): Promise<void> {
	service = await startAgentService({ apiKey, ...options });
}
afterEach(() => service.close());

const check = (more: Readonly<Record<string, string>> = {}) =>
	checkAgentApi(new CredentialTestContext().helpers, {
		deploymentUrl: service.url,
		webSocketUrl: service.webSocketUrl,
		apiKey,
		...more,
	});

test('both addresses are tried, the second one without a secret', async () => {
	await serve();
	expect(await check()).toMatchObject({ status: 'OK' });
	expect(service.requests.map(({ method, headers }) => [method, headers['x-api-key']])).toEqual([
		['GET', apiKey],
	]);
	expect(service.upgrades.map(({ url }) => url)).toEqual(['/ws']);
	expect(service.openSockets()).toBe(0);
});

test('a channel that opens without a session is none that stays', async () => {
	await serve({ upgrade: () => ({ status: 400 }) });
	expect(await check()).toMatchObject({ status: 'OK' });
});

test.each<[string, AgentServiceOptions, Readonly<Record<string, string>>, RegExp]>([
	['a wrong path', {}, { webSocketUrl: '{ws}/elsewhere' }, /\/elsewhere\/ws\) \(404\)/],
	[
		'nobody there',
		{},
		{ webSocketUrl: 'ws://127.0.0.1:1' },
		/127\.0\.0\.1:1\/ws\): the connection was refused\. Check/,
	],
	[
		'TLS where there is none',
		{},
		{ webSocketUrl: 'wss{host}' },
		/secure \(TLS\) connection failed.*supports wss:\/\//,
	],
	[
		'a certificate that nobody trusts',
		{ tls: true },
		{ deploymentUrl: '{url}' },
		/certificate is not trusted/,
	],
	[
		'a redirect',
		{ upgrade: () => ({ status: 302, headers: { Location: '/x?secret' } }) },
		{},
		/redirect \(302\)/,
	],
	['a service that is down', { upgrade: () => ({ status: 503 }) }, {}, /is not running \(503\)/],
	[
		'a web page',
		{ upgrade: () => ({ status: 200, headers: { 'Content-Type': 'text/html' } }) },
		{},
		/web page/,
	],
	['a reset', { upgrade: () => ({ fault: 'reset' }) }, {}, /the connection was reset/],
])('%s is told in a sentence', async (_name, options, credential, message) => {
	await serve(options);
	const places = {
		'{ws}': service.webSocketUrl,
		'{url}': service.url,
		'{host}': service.webSocketUrl.slice(2),
	};
	const filled: Record<string, string> = {};
	for (const [key, value] of Object.entries(credential)) {
		filled[key] = Object.entries(places).reduce((text, [name, place]) => text.replace(name, place), value);
	}
	const verdict = await check(filled);
	expect(verdict.status).toBe('Error');
	expect(verdict.message).toMatch(message);
	expect(verdict.message).not.toMatch(/canary|secret/);
});

test('https:// on an HTTP port is no matter of certificates', async () => {
	await serve();
	const { message } = await check({ deploymentUrl: service.url.replace('http:', 'https:') });
	expect(message).toMatch(/whether the service supports https:\/\//);
	expect(message).not.toContain('certificate');
});

test('an answer that is cut when it is no longer read harms nothing', async () => {
	await serve();
	const packed = gzipSync(randomBytes(1024 * 1024));
	const server = await scriptedServer((response) => {
		response.setHeader('Content-Encoding', 'gzip').write(packed.subarray(0, packed.length / 2));
		response.once('close', () => response.socket?.resetAndDestroy());
	});
	try {
		expect(await check({ deploymentUrl: server.url })).toMatchObject({ status: 'OK' });
	} finally {
		await server.close();
	}
});

test('an answer without an end is not read', async () => {
	await serve();
	const long = new LongAnswer();
	const server = await scriptedServer(long.answer);
	try {
		expect(await check({ deploymentUrl: server.url })).toMatchObject({ status: 'OK' });
		expect(long.sentMebibytes).toBeLessThan(16);
	} finally {
		await server.close();
	}
});

describe("a name that stands for an address of n8n's own network", () => {
	/** n8n's policy as its helper applies it: by name or by address. */
	const checkWith = async (allows: (url: URL) => boolean) => {
		const { helpers } = new CredentialTestContext();
		const request = (options: { uri: string }) => {
			if (allows(new URL(options.uri))) return helpers.request(options) as Promise<unknown>;
			const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });
			return Promise.reject(blocked);
		};
		return await checkAgentApi({ ...helpers, request } as typeof helpers, {
			deploymentUrl: service.url,
			webSocketUrl: service.webSocketUrl.replace('127.0.0.1', 'localhost'),
			apiKey,
		});
	};

	test('gets no socket: the name was allowed when it stood for another one', async () => {
		await serve();
		const result = await checkWith(({ port, pathname, hostname }) => {
			expect(port).toBe(String(service.port));
			return pathname === '/execute' || hostname === 'localhost';
		});
		expect(result).toEqual({
			status: 'OK',
			message: expect.stringMatching(/The test did not try the WebSocket URL/) as string,
		});
		expect(service.upgrades).toHaveLength(0);
	});

	test('gets one if its address is allowed', async () => {
		await serve();
		expect(await checkWith(() => true)).toMatchObject({ status: 'OK' });
		expect(service.upgrades).toHaveLength(1);
	});
});

test.each(['/ws', '/ws/'])('a WebSocket URL with %s is told', async (end) => {
	await serve();
	expect(await check({ webSocketUrl: service.webSocketUrl + end })).toEqual({
		status: 'Error',
		message: "Enter the WebSocket URL without '/ws'. The node adds it",
	});
	expect(service.connections).toBe(0);
});

test('http at a port that speaks TLS says what to change, and nothing of an agent', async () => {
	await serve({ tls: true });
	const { message } = await check({ deploymentUrl: service.url.replace('https', 'http') });
	expect(message).toContain('whether it must begin with https://');
	expect(message).not.toMatch(/agent|session/i);
});
