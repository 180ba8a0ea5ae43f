import { readFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';

import { type AgentService, startAgentService } from '../../../dev/agent-service/server';
import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import {
	type EgressFilter,
	createConnectRequestReader,
} from '../../../nodes/Agent/session/connectRequest';
import { canaries, FakeSession } from './fakeSession';
import { findProxy } from '../../../nodes/Agent/session/webSocket';
import { createExecuteContext, failureOf } from '../../createExecuteContext';
import { holdTime } from '../../heldTime';
import { apiKey, runExecute } from '../AgentExecute/executeRun';
import { ConnectProxy } from './connectProxy';
import { Tap, until } from './tap';
import { TriggerRun } from '../AgentSessionTrigger/triggerRun';

/** n8n's own switch, as N8N_SSRF_PROTECTION_ENABLED sets it: loopback and private addresses are off limits. */
const policy = Container.get(SsrfProtectionConfig);
let service: AgentService;

beforeEach(async () => {
	service = await startAgentService({ apiKey });
	policy.enabled = true;
});
afterEach(async () => {
	policy.enabled = false;
	await service.close();
});

function filter(): EgressFilter {
	const { helpers } = createExecuteContext({ nodeType: new AgentExecute() });
	return helpers.getSecureEgressFilter();
}

test.each([
	['an execute call', {}],
	['a call that waits for messages', { waitForMessages: true, waitUntil: 'close' }],
])('%s goes nowhere, and says so', async (_, parameters) => {
	const running = runExecute(service, { parameters: { task: 'Do it', ...parameters } });
	const { message, description } = await failureOf(running);
	expect(message).toContain('n8n does not allow');
	expect(description).toContain('Nothing was sent');
	expect(service.connections).toBe(0);
});

test('a trigger opens no channel to a name that stands for a forbidden address, and says why', async () => {
	const webSocketUrl = service.webSocketUrl.replace('127.0.0.1', 'localhost');
	const run = await new TriggerRun({
		service: { url: service.url, apiKey, webSocketUrl },
	}).start();
	// It tries again after half a minute.
	await holdTime(async (time) => {
		while (run.failedExecutions.length === 0) await time.pass(1000);
	});
	await run.close();
	const [failure] = run.failedExecutions;
	expect(failure?.message).toContain('n8n does not allow');
	expect(failure?.description).toContain('Nothing was sent');
	expect(service.connections).toBe(0);
});

test('a name that stands for a forbidden address only when it is connected to is caught there', async () => {
	const validateUrl = () => Promise.resolve({ ok: true as const, result: undefined });
	const url = `${service.webSocketUrl.replace('127.0.0.1', 'localhost')}/ws?apiKey=${apiKey}`;
	const tap = new Tap(url, { egress: { ...wrapped(filter()), validateUrl } });
	await tap.closed;
	expect(tap.endings).toMatchObject([{ kind: 'network', error: { category: 'blocked' } }]);
	expect(service.connections).toBe(0);
});

function wrapped(egress: EgressFilter): EgressFilter {
	return {
		validateUrl: (url) => egress.validateUrl(url),
		validateConnectionHost: (host) =>
			egress.validateConnectionHost?.(host) ?? { ok: true, result: undefined },
		createSecureLookup: () => egress.createSecureLookup(),
	};
}

test('a forbidden proxy is not connected to either', async () => {
	const proxy = await new ConnectProxy().listen();
	process.env.HTTP_PROXY = proxy.address();
	const open = () => new Tap(`ws://192.0.2.1/ws?apiKey=${apiKey}`, { egress: filter() });
	expect(open).toThrow(expect.objectContaining({ name: 'SsrfBlockedIpError' }) as Error);
	delete process.env.HTTP_PROXY;
	expect(proxy.asked).toEqual([]);
	await proxy.close();
});

test('an n8n that cannot check proxies lets the channel use them', async () => {
	const proxy = await new ConnectProxy().listen();
	proxy.behaviour = 502;
	process.env.HTTP_PROXY = proxy.address();
	const egress = { ...wrapped(filter()), validateConnectionHost: undefined };
	const tap = new Tap(`ws://192.0.2.1/ws?apiKey=${apiKey}`, { egress });
	delete process.env.HTTP_PROXY;
	await tap.closed;
	expect(proxy.asked).toHaveLength(1);
	await proxy.close();
});

/** An attempt to open a channel under a policy whose answer is the test's. */
async function attempt(validateUrl: EgressFilter['validateUrl']) {
	const session = new FakeSession();
	session.egress = { ...wrapped(filter()), validateUrl };
	await session.clock.advance(0);
	return session;
}

test('a name that is not found is told as such, with its code, and without the secrets', async () => {
	const unknown = new Error(`getaddrinfo ${canaries.signature}`);
	const error = Object.assign(unknown, { code: 'ENOTFOUND' });
	const { account, network } = await attempt(() => Promise.reject(error));
	const notFound = expect.objectContaining({ errorCode: 'ENOTFOUND' }) as unknown;
	expect(account.ended.map(({ closeReason }) => closeReason)).toEqual([
		{ kind: 'network', error: notFound, message: 'getaddrinfo 0x•••' },
	]);
	expect(network.sockets).toEqual([]);
});

test('n8n is asked about the address without what is secret in it', async () => {
	const asked: string[] = [];
	const { network } = await attempt((url) => {
		asked.push(String(url));
		return Promise.resolve({ ok: true as const, result: undefined });
	});
	expect(asked).toEqual(['ws://agent.example:3010/ws']);
	expect(network.last.request.url).toContain(canaries.apiKey);
});

test('before n8n had a policy for sockets there is none', async () => {
	const api = { webSocketUrl: 'wss://agent.example', apiKey };
	const signer = { ...canaries, userId: '0xuser', allowedHosts: '' };
	const getCredentials = (type: string) =>
		Promise.resolve({ ...(type === 'agentApi' ? api : signer) });
	const readConnectRequest = createConnectRequestReader({ getCredentials, helpers: {} });
	expect(await readConnectRequest('s1')).toHaveProperty('egress', undefined);
});

const names = ['http_proxy', 'https_proxy', 'all_proxy', 'ws_proxy', 'wss_proxy', 'no_proxy'];
const variables = [...names, ...names.map((name) => name.toUpperCase())];
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
const clear = () => {
	for (const name of variables) Reflect.deleteProperty(process.env, name);
};

beforeEach(clear);
afterAll(() => {
	clear();
	for (const [name, value] of Object.entries(before))
		if (value !== undefined) process.env[name] = value;
});

describe('proxyFor', () => {
	const proxy = 'http://proxy.test:3128';

	it.each([
		['ws://agent.test/ws', { HTTP_PROXY: proxy }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy }],
		['ws://agent.test/ws', { http_proxy: proxy }],
		['wss://agent.test/ws', { https_proxy: proxy }],
		['ws://agent.test/ws', { ALL_PROXY: proxy }],
		['wss://agent.test/ws', { all_proxy: proxy }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy, NO_PROXY: 'other.test,.agent.test' }],
		['ws://agent.test:3010/ws', { HTTP_PROXY: proxy, NO_PROXY: 'agent.test:3011' }],
		['ws://agent.test/ws', { HTTP_PROXY: 'proxy.test:3128' }],
	])('%s goes through the proxy of %j', (url, environment) => {
		Object.assign(process.env, environment);
		expect(findProxy(url)?.host).toBe('proxy.test:3128');
	});

	it.each([
		['ws://agent.test/ws', {}],
		['ws://agent.test/ws', { HTTPS_PROXY: proxy }],
		['wss://agent.test/ws', { HTTP_PROXY: proxy }],
		['wss://agent.test/ws', { WSS_PROXY: proxy }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy, NO_PROXY: '*' }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy, NO_PROXY: 'agent.test' }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy, no_proxy: 'x.test, agent.test' }],
		['wss://a.agent.test/ws', { HTTPS_PROXY: proxy, NO_PROXY: '.agent.test' }],
		['ws://agent.test:3010/ws', { ALL_PROXY: proxy, NO_PROXY: 'agent.test:3010' }],
		['wss://agent.test/ws', { HTTPS_PROXY: proxy, NO_PROXY: 'agent.test:443' }],
		['ws://[::1]:3010/ws', { HTTP_PROXY: proxy, NO_PROXY: '[::1]' }],
	])('%s goes past the proxy of %j', (url, environment) => {
		Object.assign(process.env, environment);
		expect(findProxy(url)).toBeUndefined();
	});

	it.each(['socks5://canary@proxy.test', 'http://', '://canary'])(
		'%s is no proxy, and is not repeated',
		(address) => {
			process.env.HTTP_PROXY = address;
			expect(() => findProxy('ws://agent.test/ws')).toThrow(
				/^(?!.*canary).*proxy environment variable/,
			);
		},
	);
});

describe('a channel through a proxy', () => {
	const query = 'sessionId=s1&userPublicKey=p&signature=canary&timestamp=1&apiKey=test-api-key';
	let service: AgentService;
	let proxy: ConnectProxy;

	beforeEach(async () => {
		service = await startAgentService();
		proxy = await new ConnectProxy().listen();
		process.env.HTTP_PROXY = proxy.address();
	});
	afterEach(async () => {
		await proxy.close();
		await service.close();
	});

	const url = (host = 'agent.test') => `ws://${host}:${service.port}/ws?${query}`;

	it('opens, with a name that only the proxy knows, and leaves no connection', async () => {
		const tap = new Tap(url());
		await tap.opened;
		expect(proxy.asked).toEqual([`agent.test:${service.port}`]);
		service.send('s1', 'hello');
		await until(() => tap.messages.length === 1);
		tap.socket.terminate();
		await tap.closed;
		await until(() => proxy.connections === 0 && service.countOpenChannels() === 0);
	});

	it('opens encrypted, and the proxy never sees the query', async () => {
		const secure = await startAgentService({ tls: true });
		process.env.HTTPS_PROXY = proxy.address();
		const tap = new Tap(`wss://agent.test:${secure.port}/ws?${query}`, {
			allowUnauthorizedCerts: true,
		});
		await tap.opened;
		expect(proxy.asked.join()).not.toContain('canary');
		tap.socket.terminate();
		await tap.closed;
		await secure.close();
	});

	it("sends the proxy's user name and password, and shows them to nobody else", async () => {
		process.env.HTTP_PROXY = proxy.address('canaryuser:canary%2Fpass@');
		const tap = new Tap(url());
		await tap.opened;
		expect(proxy.authorizations).toEqual([
			`Basic ${Buffer.from('canaryuser:canary/pass').toString('base64')}`,
		]);
		expect(JSON.stringify(service.upgrades)).not.toContain('canaryuser');
		tap.socket.terminate();
		await tap.closed;
	});

	it.each([407, 502, 503])("reports the proxy's status %i", async (status) => {
		proxy.behaviour = status;
		const tap = new Tap(url());
		await tap.closed;
		expect(tap.answer).toMatchObject({ statusCode: status });
		await until(() => proxy.connections === 0);
	});

	/** A proxy whose certificate this process trusts. */
	async function startSecureProxy() {
		const folder = path.join(__dirname, '../../../dev/agent-service/certificate');
		const read = (name: string) => readFileSync(path.join(folder, `test-only.${name}.pem`));
		const cert = read('cert');
		tls.setDefaultCACertificates([cert.toString()]);
		return await new ConnectProxy({ key: read('key'), cert }).listen();
	}

	it.each([
		['that never answers', () => new ConnectProxy().listen(), 'stall'],
		['that never answers, encrypted on the way to it', startSecureProxy, 'stall'],
		['encrypted on the way to it', startSecureProxy, 'tunnel'],
	] as const)('%s can be given up, and keeps no connection', async (_, start, behaviour) => {
		const trusted = tls.getCACertificates('default');
		const own = await start();
		own.behaviour = behaviour;
		process.env.HTTP_PROXY = own.address();
		const tap = new Tap(url());
		await (behaviour === 'tunnel' ? tap.opened : until(() => own.asked.length === 1));
		tap.socket.terminate();
		await tap.closed;
		await until(() => own.connections === 0);
		await own.close();
		tls.setDefaultCACertificates(trusted);
	});
});
