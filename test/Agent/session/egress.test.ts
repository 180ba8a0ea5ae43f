import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';

import { startAgentService, type AgentService } from '../../../dev/agent-service/server';
import { checkAddress, egressFilterOf, type EgressFilter } from '../../../nodes/Agent/session/egress';
import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { executeContext, failureOf } from '../../executeContext';
import { apiKey, runExecute } from '../AgentExecute/executeRun';
import { TriggerRun, until } from '../AgentSessionTrigger/triggerRun';
import { ConnectProxy } from './connectProxy';
import { Tap } from './tap';

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

const notAllowed = expect.stringContaining('n8n does not allow') as string;
const nothingSent = expect.stringContaining('Nothing was sent') as string;

function filter(): EgressFilter {
	const { helpers } = executeContext({ nodeType: new AgentExecute() });
	const egress = egressFilterOf(helpers);
	if (!egress) throw new Error('n8n gives no filter');
	return egress;
}

test.each(['127.0.0.1', 'localhost'])('a trigger opens no channel to %s, and says why', async (host) => {
	const at = { url: service.url, apiKey, webSocketUrl: service.webSocketUrl.replace('127.0.0.1', host) };
	const run = new TriggerRun({ service: at });
	await run.start();
	await until(() => run.failedExecutions.length > 0);
	await run.close();
	expect(run.failedExecutions[0]).toMatchObject({ message: notAllowed, description: nothingSent });
	expect(service.connections).toBe(0);
});

test.each([
	['an execute call', {}],
	['a call that waits for messages', { waitForMessages: true, waitUntil: 'close' }],
])('%s goes nowhere, and says so', async (_, parameters) => {
	const error = await failureOf(runExecute(service, { parameters }));
	expect(error).toMatchObject({ message: notAllowed, description: nothingSent });
	expect(service.connections).toBe(0);
});

test('a name that stands for a forbidden address only when it is connected to is caught there', async () => {
	const validateUrl = () => Promise.resolve({ ok: true as const, result: undefined });
	const url = `${service.webSocketUrl.replace('127.0.0.1', 'localhost')}/ws?apiKey=${apiKey}`;
	const tap = new Tap(url, { egress: { ...wrapped(filter()), validateUrl } });
	await tap.closed;
	expect(tap.errors[0]?.name).toBe('SsrfBlockedIpError');
	expect(service.connections).toBe(0);
});

function wrapped(egress: EgressFilter): EgressFilter {
	return {
		validateUrl: (url) => egress.validateUrl(url),
		validateConnectionHost: (host) => egress.validateConnectionHost(host),
		createSecureLookup: () => egress.createSecureLookup(),
	};
}

test('a forbidden proxy is not connected to either', async () => {
	const proxy = await new ConnectProxy().listen();
	process.env.HTTP_PROXY = proxy.address();
	const tap = new Tap(`ws://192.0.2.1/ws?apiKey=${apiKey}`, { egress: filter() });
	await tap.closed;
	delete process.env.HTTP_PROXY;
	expect(tap.errors[0]?.name).toBe('BlockedAddress');
	expect(proxy.asked).toEqual([]);
	await proxy.close();
});

test('a name that is not found is told as such, with its code', async () => {
	const validateUrl = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
	const check = checkAddress({ ...wrapped(filter()), validateUrl }, 'ws://no-such-host.invalid');
	await expect(check).rejects.toMatchObject({ name: 'UnknownAddress', code: 'ENOTFOUND' });
});

test('before n8n had a policy for sockets there is none', () => {
	expect(egressFilterOf({})).toBeUndefined();
});
