import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { buildEndpoints, buildSignedInCredential } from '../../dev/google/credential.ts';
import { type Credentials, secrets, storeAgent } from './credentials';
import { forbiddenAddress } from './globalSetup';
import { manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { agentType, inRow, triggerType, workspaceType } from './workflows';

/** What a service at the forbidden address says to whoever asks. */
const internal = 'internal-answer-4711';

const forbidden = createServer((_request, response) => response.writeHead(403).end(internal));
let connections = 0;
forbidden.on('connection', () => connections++);
let forbiddenHost: string;
let permitted: AgentService;
let n8n: SharedN8n;

beforeAll(async () => {
	await once(forbidden.listen(0, forbiddenAddress), 'listening');
	forbiddenHost = `${forbiddenAddress}:${(forbidden.address() as AddressInfo).port}`;
	permitted = await startAgentService({ apiKey });
	n8n = await useSharedN8n();
});
afterAll(async () => {
	await permitted.close();
	forbidden.closeAllConnections();
	forbidden.close();
});
afterEach(() => {
	expect(connections).toBe(0);
});

const { apiKey } = secrets;
const atForbidden = () => ({
	url: `http://${forbiddenHost}`,
	webSocketUrl: `ws://${forbiddenHost}`,
	apiKey,
});
const credentials = async () => await storeAgent(n8n.api, atForbidden());

async function run(type: string, parameters: object, own: Credentials) {
	const one = node('Node', type, { ...parameters }, { credentials: own });
	return await n8n.api.runOnce(inRow('egress', manualTrigger(), one));
}

const blocked = {
	message: expect.stringContaining('n8n does not allow') as string,
	description: expect.stringMatching(/Nothing was sent\. .*N8N_SSRF_ALLOWED_HOSTNAMES/) as string,
};

const call = { startStepName: 'start', task: 'Say hello', sessionId: 's' };
const waiting = { ...call, waitForMessages: true, waitUntil: 'count' };

test('the service is there for whoever may reach it', async () => {
	const answer = await fetch(`http://${forbiddenHost}`);
	expect(await answer.text()).toBe(internal);
	connections = 0;
});

describe('where n8n forbids an address', () => {
	test.each([
		['an execute call', call],
		['a call that waits for messages', waiting],
	])('%s is not sent, and says so', async (_, parameters) => {
		const execution = await run(agentType, parameters, await credentials());
		expect(execution.resultData.error).toMatchObject(blocked);
		expect(execution.raw).not.toContain(internal);
	});

	test('a trigger opens no channel, and its failed execution says why', async () => {
		const trigger = node(
			'Trigger',
			triggerType,
			{ sessionIds: 's' },
			{ credentials: await credentials() },
		);
		const stored = await n8n.api.createWorkflow(
			inRow('t', trigger, node('Done', 'n8n-nodes-base.noOp')),
		);
		await n8n.api.activate(stored);
		const failed = await n8n.api.untilTriggered(stored);
		expect(failed.resultData.error).toMatchObject(blocked);
		await n8n.api.deactivate(stored);
	});

	test.each([
		['both addresses', () => ({})],
		['the address of the channels only', () => ({ deploymentUrl: permitted.url })],
	])('the Test button of the Agent API asks nobody there: %s', async (_, more) => {
		const { url: deploymentUrl, ...others } = atForbidden();
		const data = { deploymentUrl, ...others, ...more() };
		const result = await n8n.api.testCredential('agentApi', 'A', data);
		expect(result).toMatchObject({
			status: 'Error',
			message: expect.stringContaining('n8n does not allow') as string,
		});
		expect(result.message).toContain(forbiddenHost);
		expect(result.message).toContain('Nothing was sent');
	});

	test.each([
		['mail', { resource: 'mail', operation: 'list' }],
		[
			'file',
			{
				resource: 'file',
				operation: 'upload',
				contentSource: 'text',
				name: 'a.txt',
				content: 'x',
			},
		],
	])('a Workspace node reaches no API: %s', async (_, parameters) => {
		const data = buildSignedInCredential(atForbidden().url, {
			accessToken: 'ya29.x',
			refreshToken: 'x',
		});
		const workspaceOAuth2Api = await n8n.api.createCredential('workspaceOAuth2Api', 'W', data);
		const execution = await run(workspaceType, parameters, { workspaceOAuth2Api });
		expect(execution.resultData.error).toMatchObject(blocked);
	});

	test('nor does a service account get a token', async () => {
		const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
		const data = {
			email: 'robot@project.example',
			privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
			driveAccess: 'allFiles',
			...buildEndpoints(atForbidden().url),
		};
		const result = await n8n.api.testCredential('workspaceServiceAccountApi', 'R', data);
		expect(result).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/n8n does not allow.*Nothing was sent/) as string,
		});
		const type = 'workspaceServiceAccountApi';
		const own = { [type]: await n8n.api.createCredential(type, 'R', data) };
		const parameters = {
			authentication: 'serviceAccount',
			resource: 'mail',
			operation: 'list',
		};
		const execution = await run(workspaceType, parameters, own);
		expect(execution.resultData.error).toMatchObject(blocked);
	});
});
