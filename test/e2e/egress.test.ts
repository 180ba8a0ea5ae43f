import { generateKeyPairSync } from 'node:crypto';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { buildEndpoints, buildSignedInCredential } from '../../dev/google/credential.ts';
import { type GoogleServer, startGoogle } from '../../dev/google/server.ts';
import { connectInRow, manualTrigger, node, startTestN8n, type TestN8n } from './startTestN8n';
import { secrets } from './station';

/** What an internal service says to whoever asks. */
const internal = 'internal-answer-4711';

let service: AgentService;
let permitted: AgentService;
let google: GoogleServer;
let n8n: TestN8n;

// n8n's own switch: private addresses are off limits, but for one name.
const policy = { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' };

beforeAll(async () => {
	const refusal = { status: 403, body: internal };
	service = await startAgentService({
		apiKey: secrets.apiKey,
		execute: () => refusal,
		upgrade: () => refusal,
	});
	permitted = await startAgentService({ apiKey: secrets.apiKey });
	google = await startGoogle();
	n8n = await startTestN8n({ env: policy });
});
afterAll(async () => {
	await n8n.remove();
	await google.close();
	await permitted.close();
	await service.close();
});
afterEach(() => {
	expect(service.connections).toBe(0);
	expect(google.requests.map(({ method }) => method)).toEqual([]);
});

const byAddress = () => ({ deploymentUrl: service.url, webSocketUrl: service.webSocketUrl });
const byName = (url: string) => url.replace('127.0.0.1', 'localhost');

async function credentials(addresses: object = byAddress()) {
	const { apiKey, signature, userPublicKey } = secrets;
	return {
		agentApi: await n8n.api.createCredential('agentApi', 'A', { ...addresses, apiKey }),
		agentSignatureApi: await n8n.api.createCredential('agentSignatureApi', 'S', {
			userId: '0xa1',
			userPublicKey,
			signature,
		}),
	};
}

async function run(type: string, parameters: object, own: object) {
	const one = node(
		'Node',
		`n8n-nodes-agent-workspace.${type}`,
		{ ...parameters },
		{ credentials: own },
	);
	const nodes = [manualTrigger(), one];
	return await n8n.api.runOnce({
		name: 'egress',
		nodes,
		connections: connectInRow('Start', 'Node'),
	});
}

const blocked = {
	message: expect.stringContaining('n8n does not allow') as string,
	description: expect.stringMatching(/Nothing was sent\. .*N8N_SSRF_ALLOWED_HOSTNAMES/) as string,
};

const call = { startStepName: 'start', task: 'Say hello', sessionId: 's' };
const waiting = { ...call, waitForMessages: true, waitUntil: 'count' };

describe('where n8n forbids private addresses', () => {
	test.each([
		['an execute call', call],
		['a call that waits for messages', waiting],
	])('%s is not sent, and says so', async (_, parameters) => {
		const execution = await run('agentExecute', parameters, await credentials());
		expect(execution.resultData.error).toMatchObject(blocked);
		expect(execution.raw).not.toContain(internal);
	});

	test('a trigger opens no channel, and its failed execution says why', async () => {
		const type = 'n8n-nodes-agent-workspace.agentSessionTrigger';
		const trigger = node(
			'Trigger',
			type,
			{ sessionIds: 's' },
			{ credentials: await credentials() },
		);
		const nodes = [trigger, node('Done', 'n8n-nodes-base.noOp')];
		const stored = await n8n.api.createWorkflow({
			name: 't',
			nodes,
			connections: connectInRow('Trigger', 'Done'),
		});
		await n8n.api.activate(stored);
		const failed = await n8n.api.untilTriggered(stored);
		expect(failed.resultData.error).toMatchObject(blocked);
		await n8n.api.deactivate(stored);
	});

	test.each([
		['both addresses', () => byAddress(), () => service.url],
		[
			'the address of the channels only',
			() => ({ ...byAddress(), deploymentUrl: byName(permitted.url) }),
			() => service.webSocketUrl,
		],
	])('the Test button of the Agent API asks nobody there: %s', async (_, addresses, named) => {
		const result = await n8n.api.testCredential('agentApi', 'A', {
			...addresses(),
			apiKey: secrets.apiKey,
		});
		expect(result).toMatchObject({
			status: 'Error',
			message: expect.stringContaining('n8n does not allow') as string,
		});
		expect(result.message).toContain(new URL(named()).host);
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
		const data = buildSignedInCredential(google.url, {
			accessToken: 'ya29.x',
			refreshToken: 'x',
		});
		const workspaceOAuth2Api = await n8n.api.createCredential('workspaceOAuth2Api', 'W', data);
		const execution = await run('workspace', parameters, { workspaceOAuth2Api });
		expect(execution.resultData.error).toMatchObject(blocked);
	});

	test('nor does a service account get a token', async () => {
		const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
		const data = {
			email: 'robot@project.example',
			privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
			driveAccess: 'allFiles',
			...buildEndpoints(google.url),
		};
		const result = await n8n.api.testCredential('workspaceServiceAccountApi', 'R', data);
		expect(result).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/n8n does not allow.*Nothing was sent/) as string,
		});
		const own = {
			workspaceServiceAccountApi: await n8n.api.createCredential(
				'workspaceServiceAccountApi',
				'R',
				data,
			),
		};
		const parameters = {
			authentication: 'serviceAccount',
			resource: 'mail',
			operation: 'list',
		};
		const execution = await run('workspace', parameters, own);
		expect(execution.resultData.error).toMatchObject(blocked);
	});
});
