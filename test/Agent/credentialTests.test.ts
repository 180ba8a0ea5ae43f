import { randomBytes } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { gzipSync } from 'node:zlib';
import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../dev/agent-service/server';
import { credentialTest } from '../../nodes/Agent/credentialTests';
import {
	checkAgentApi,
	checkAgentSignatureApi,
} from '../../nodes/Agent/credentialTests/agentCredentials';
import { LongAnswer } from '../longAnswer';
import { startScriptedServer } from '../Workspace/scriptedServer';
import { ConnectProxy } from './session/connectProxy';
import { until } from './session/tap';

describe('Agent API', () => {
	const apiKey = 'canary-api-key-55aa';
	let service: AgentService;

	async function serve(options: AgentServiceOptions = {}): Promise<void> {
		service = await startAgentService({ apiKey, ...options });
	}
	afterEach(() => service.close());

	const check = (more: ICredentialDataDecryptedObject = {}) =>
		checkAgentApi(new CredentialTestContext().helpers, {
			deploymentUrl: service.url,
			webSocketUrl: service.webSocketUrl,
			apiKey,
			...more,
		});

	test('both addresses are tried, the second one without a secret', async () => {
		await serve();
		expect(await check()).toMatchObject({ status: 'OK' });
		expect(service.requests).toMatchObject([
			{ method: 'GET', headers: { 'x-api-key': apiKey } },
		]);
		expect(service.upgrades).toMatchObject([{ url: '/ws' }]);
		await until(() => service.countOpenChannels() === 0);
		expect([service.pings.size, service.received]).toEqual([0, []]);
		// Nothing of n8n's requests is looked at any longer.
		expect(channel('http.client.request.start').hasSubscribers).toBe(false);
	});

	test('a certificate that nobody trusts is taken where the credential says so', async () => {
		await serve({ tls: true });
		expect(await check({ allowUnauthorizedCerts: true })).toMatchObject({ status: 'OK' });
	});

	test.each([
		[200, undefined, undefined],
		[299, 'text/html; charset=utf-8', '{place} is a web page, not the agent service.'],
		[300, undefined, '{place} is a redirect (300)'],
		[399, undefined, '{place} is a redirect (399)'],
		[400, 'text/html', undefined],
		[501, undefined, undefined],
		[502, undefined, '{place} does not respond: the service behind it is not running (502)'],
		[503, undefined, '{place} does not respond: the service behind it is not running (503)'],
		[504, undefined, '{place} does not respond: the service behind it is not running (504)'],
		[505, undefined, undefined],
	])(
		'of both addresses, status %d of type %s is told as %s',
		async (status, contentType, problem) => {
			const headers: Record<string, string> =
				contentType === undefined ? {} : { 'Content-Type': contentType };
			await serve({ upgrade: () => ({ status, headers }) });
			const server = await startScriptedServer((response) =>
				response.writeHead(status, headers).end(),
			);
			const called = `The Deployment URL (${new URL(server.url).host}/execute)`;
			const opened = `The WebSocket URL (127.0.0.1:${service.port}/ws)`;
			const verdicts = [
				[called, await check({ deploymentUrl: server.url })],
				[opened, await check()],
			] as const;
			await server.close();
			for (const [place, verdict] of verdicts) {
				const told = problem?.replace('{place}', place) ?? 'Both addresses respond';
				expect(verdict.message).toContain(told);
				expect(verdict.status).toBe(problem === undefined ? 'OK' : 'Error');
			}
		},
	);

	test.each([401, 403])('an API key that is refused with %d is told', async (status) => {
		await serve();
		const server = await startScriptedServer((response) => response.writeHead(status).end());
		const { host } = new URL(server.url);
		expect(await check({ deploymentUrl: server.url })).toEqual({
			status: 'Error',
			message: `The Deployment URL (${host}/execute) refused the API key (${status})`,
		});
		await server.close();
	});

	test("a proxy's refusal is told as the proxy's", async () => {
		await serve();
		const proxy = await new ConnectProxy().listen();
		proxy.behaviour = 503;
		const { HTTPS_PROXY: before, NO_PROXY: beforeToo } = process.env;
		Object.assign(process.env, { HTTPS_PROXY: proxy.address(), NO_PROXY: '127.0.0.1' });
		const { message } = await check({ webSocketUrl: `wss://localhost:${service.port}` });
		for (const [name, value] of Object.entries({ HTTPS_PROXY: before, NO_PROXY: beforeToo })) {
			if (value === undefined) Reflect.deleteProperty(process.env, name);
			else process.env[name] = value;
		}
		await proxy.close();
		expect(message).toContain(
			`The proxy did not connect n8n to localhost:${service.port}: it responded with HTTP 503`,
		);
	});

	// Two dots: nobody is asked for it.
	test('a name that is not found is told', async () => {
		await serve();
		const { message } = await check({ webSocketUrl: 'ws://no..where' });
		const told = 'The WebSocket URL (no..where/ws) does not respond: the host name';
		expect(message).toContain(told);
	});

	test('a credential without values says what is missing', async () => {
		await serve();
		const context = new CredentialTestContext() as never;
		// n8n fills in the defaults.
		const data = { allowedHosts: '' };
		const empty = { id: '1', name: 'x', type: 'x', data } as never;
		const noKey =
			'The Agent API credential has no API key. Enter the API key from the team that operates your agent.';
		const api = await credentialTest.agentApiTest.call(context, empty);
		expect(api).toEqual({ status: 'Error', message: noKey });
		const { status, message } = await credentialTest.agentSignatureApiTest.call(context, empty);
		expect(status).toBe('Error');
		expect(message).toContain('The user ID is missing. Enter the user ID');
	});

	test.each([
		['webSocketUrl', 'WebSocket URL', '/ws', ''],
		['webSocketUrl', 'WebSocket URL', '/ws', '/'],
		['deploymentUrl', 'Deployment URL', '/execute', ''],
		['deploymentUrl', 'Deployment URL', '/execute', '/'],
	] as const)('%s: a %s with %s%s is told', async (field, label, segment, end) => {
		await serve();
		const url = field === 'webSocketUrl' ? service.webSocketUrl : service.url;
		expect(await check({ [field]: url + segment + end })).toEqual({
			status: 'Error',
			message: `Enter the ${label} without '${segment}'. The node adds it`,
		});
	});

	const refusedScheme =
		/127\.0\.0\.1:1\/ws\) does not respond: the connection was refused \(ECONNREFUSED\)\. Check its scheme/;
	const noTls =
		/secure \(TLS\) connection failed \([A-Z_]+\)\. Check its scheme \(http:\/\/ or https:\/\/, ws:\/\/ or wss:\/\/\)/;
	const answering = (status: number, headers = {}) => ({ upgrade: () => ({ status, headers }) });
	const page = { 'Content-Type': 'text/html' };

	// {ws} stands for the address of the channel, {host} for what follows its scheme.
	test.each<[string, AgentServiceOptions, webSocketUrl: string, RegExp]>([
		['a wrong path', {}, '{ws}/elsewhere', /\/elsewhere\/ws\) was not found \(404\)/],
		['nobody there', {}, 'ws://127.0.0.1:1', refusedScheme],
		['TLS where there is none', {}, 'wss{host}', noTls],
		['a certificate that nobody trusts', { tls: true }, '{ws}', /does not know who issued/],
		['a redirect', answering(302, { Location: '/x?secret' }), '{ws}', /redirect \(302\)/],
		['a service that is down', answering(503), '{ws}', /is not running \(503\)/],
		['a web page', answering(200, page), '{ws}', /web page/],
		['a reset', { upgrade: () => ({ fault: 'reset' }) }, '{ws}', /the connection was reset/],
	])('%s is told in a sentence', async (_name, options, place, message) => {
		await serve(options);
		const { webSocketUrl: own } = service;
		const webSocketUrl = place.replace('{ws}', own).replace('{host}', own.slice(2));
		const verdict = await check({ webSocketUrl });
		expect(verdict.status).toBe('Error');
		expect(verdict.message).toMatch(message);
		expect(verdict.message).not.toMatch(/canary|secret/);
	});

	test('an answer that is cut when it is no longer read harms nothing', async () => {
		await serve();
		const packed = gzipSync(randomBytes(1024 * 1024));
		const server = await startScriptedServer((response) => {
			response
				.setHeader('Content-Encoding', 'gzip')
				.write(packed.subarray(0, packed.length / 2));
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
		const server = await startScriptedServer(long.answer);
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
				if (allows(new URL(options.uri)))
					return helpers.request(options) as Promise<unknown>;
				const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });
				return Promise.reject(blocked);
			};
			return await checkAgentApi({ ...helpers, request } as typeof helpers, {
				deploymentUrl: service.url,
				webSocketUrl: service.webSocketUrl.replace('127.0.0.1', 'localhost'),
				apiKey,
			});
		};

		test("is asked for the channel through n8n's helper, which checks the address", async () => {
			await serve();
			const asked: string[] = [];
			const result = await checkWith(({ href }) => {
				asked.push(href);
				return true;
			});
			expect(result).toEqual({ status: 'OK', message: 'Both addresses respond' });
			const channel = service.webSocketUrl.replace('ws://127.0.0.1', 'http://localhost');
			expect(asked).toEqual([`${service.url}/execute`, `${channel}/ws`]);
			expect(service.upgrades).toHaveLength(1);
		});

		test('gets none if its name is not allowed', async () => {
			await serve();
			const { status, message } = await checkWith(({ pathname }) => pathname === '/execute');
			expect(status).toBe('Error');
			expect(message).toContain('n8n does not allow');
			expect(service.upgrades).toHaveLength(0);
		});
	});

	test.each([
		['https:// at a port that speaks no TLS', {}, 'http:', 'https:'],
		['http:// at a port that speaks TLS', { tls: true }, 'https:', 'http:'],
	])(
		'%s is a matter of the scheme, not of certificates or agents',
		async (_, options, from, to) => {
			await serve(options);
			const { message } = await check({ deploymentUrl: service.url.replace(from, to) });
			expect(message).toContain('Check its scheme (http:// or https://');
			expect(message).not.toMatch(/certificate|agent|session/i);
		},
	);
});

describe('Agent Signature', () => {
	const right = {
		userId: '0x5aed',
		userPublicKey: '04bfca',
		signature: '0xDEADbeef',
		timestampMode: 'current',
		allowedHosts: '',
	};

	const issuedAt = (issuedTimestamp: number) => ({ timestampMode: 'issued', issuedTimestamp });

	test('values of the right form pass, with and without 0x', () => {
		expect(checkAgentSignatureApi(right)).toMatchObject({ status: 'OK' });
		const issued = issuedAt(1795253731904);
		expect(checkAgentSignatureApi({ ...right, ...issued })).toMatchObject({ status: 'OK' });
	});

	const noHost = "contains 'a b', which is not a host name. Enter names";
	const noHex = "'User Public Key' contains characters other";

	test.each([
		['an empty user ID', { userId: '' }, 'The user ID is missing'],
		['a host that is none', { allowedHosts: 'a b' }, noHost],
		['a list of hosts that is none', { allowedHosts: 7 }, 'gives no hosts'],
		['a letter that is no hex digit', { userPublicKey: '0xyz' }, noHex],
		['an issued timestamp in seconds', issuedAt(1795253731), 'is not a time in milliseconds'],
		[
			'no issued timestamp',
			{ timestampMode: 'issued' },
			'received no timestamp with the signature',
		],
		['an issued timestamp of 0', issuedAt(0), "set 'Timestamp' in the credential to 'Current'"],
	])('%s is named', (_name, wrong, message) => {
		const result = checkAgentSignatureApi({ ...right, ...wrong });
		expect(result.status).toBe('Error');
		expect(result.message).toContain(message);
		expect(result.message).not.toContain(right.signature);
	});
});
