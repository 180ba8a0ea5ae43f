import { rm } from 'node:fs/promises';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { signedIn } from '../../dev/google/credential.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { Execution, NodeItem, WorkflowDefinition } from '../../dev/n8n/rest.ts';
import { freePort, type N8nServer, spawnN8n, type SpawnedN8n, startN8n } from '../../dev/n8n/server.ts';
import { template } from '../e2e/globalSetup';
import { inRow, items, manualTrigger, node } from '../e2e/n8n';
import { type QueueServices, startQueueServices } from '../../dev/n8n/queueServices.ts';

const apiKey = 'queue-test-key';
let services: QueueServices;
let agent: AgentService;
let google: GoogleServer;
let main: N8nServer;
let worker: SpawnedN8n;
let folders: string[];
let credentials: Record<string, { id: string; name: string }>;

beforeAll(async () => {
	services = await startQueueServices();
	agent = await startAgentService({ apiKey });
	google = await startGoogle();
	folders = [await template.copy(), await template.copy()];
	const [mainFolder = '', workerFolder = ''] = folders;
	// The template's own key would win over the one of the queue.
	for (const folder of folders) await rm(`${folder}/.n8n/config`);
	main = await startN8n({ userFolder: mainFolder, env: services.env });
	worker = await startWorker(workerFolder);
	credentials = await createCredentials();
});
afterAll(async () => {
	await endWorker(worker);
	await main.stop();
	await google.close();
	await agent.close();
	await services.stop();
	for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function startWorker(userFolder: string): Promise<SpawnedN8n> {
	const healthPort = await freePort();
	const env = { ...services.env, QUEUE_HEALTH_CHECK_PORT: String(healthPort) };
	const spawned = await spawnN8n({ userFolder, env, command: ['worker', '--concurrency=5'] });
	while (!spawned.output().includes('n8n worker is now ready')) {
		if (spawned.child.exitCode !== null) throw new Error(spawned.output());
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	return spawned;
}

async function endWorker({ child }: SpawnedN8n): Promise<void> {
	const closed = new Promise((resolve) => child.once('close', resolve));
	child.kill('SIGTERM');
	await closed;
}

async function createCredentials(): Promise<Record<string, { id: string; name: string }>> {
	const { api } = main;
	return {
		agentApi: await api.createCredential('agentApi', 'Agent', {
			deploymentUrl: agent.url,
			webSocketUrl: agent.webSocketUrl,
			apiKey,
		}),
		agentSignatureApi: await api.createCredential('agentSignatureApi', 'Signature', {
			userId: '0xa1',
			userPublicKey: '0xb2',
			signature: '0xc3',
		}),
		workspaceOAuth2Api: await api.createCredential(
			'workspaceOAuth2Api',
			'Workspace',
			signedIn(google.url, {
				accessToken: google.tokens.issue(),
				refreshToken: google.tokens.issueRefresh(),
			}),
		),
	};
}

function outputOf({ resultData }: Execution, name: string): NodeItem[] {
	return resultData.runData[name]?.at(-1)?.data?.main?.[0] ?? [];
}

async function run(definition: WorkflowDefinition): Promise<Execution> {
	const execution = await main.api.runOnce(definition);
	// n8n says on which process an execution ran only in its log.
	expect(worker.output()).toContain(`execution ${execution.id}`);
	return execution;
}

test('a worker starts an agent and waits for its messages', async () => {
	agent.script({ messages: [{ type: 'progress' }, { type: 'done', text: 'ready' }] });
	const parameters = {
		startStepName: 'start',
		waitForMessages: true,
		waitUntil: 'match',
		matchField: 'type',
		matchValue: 'done',
	};
	const execution = await run({
		name: 'agent on a worker',
		nodes: [
			manualTrigger(),
			node('Agent', 'n8n-nodes-agent-workspace.agentExecute', parameters, { credentials }),
		],
		connections: inRow('Start', 'Agent'),
	});
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'Agent')[0]?.json).toMatchObject({
		statusCode: 200,
		endedBy: 'match',
		messages: [{ sequence: 1 }, { sequence: 2, message: { type: 'done', text: 'ready' } }],
	});
	expect(agent.openSockets()).toBe(0);
});

test('a worker sends emails, and a file goes up from the binary data of the database', async () => {
	const workspace = (name: string, parameters: object) =>
		node(name, 'n8n-nodes-agent-workspace.workspace', { ...parameters }, { credentials });
	const toFile = node(
		'File',
		'n8n-nodes-base.convertToFile',
		{ operation: 'toText', sourceProperty: 'text' },
		{ typeVersion: 1.1 },
	);
	const execution = await run({
		name: 'workspace on a worker',
		nodes: [
			manualTrigger(),
			items('Items', [{ text: 'one' }, { text: 'two' }]),
			toFile,
			workspace('Send', {
				operation: 'send',
				to: 'ann@example.com',
				subject: 'Hi',
				body: 'Text',
				options: { attachments: 'data' },
			}),
		],
		connections: inRow('Start', 'Items', 'File', 'Send'),
	});
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'Send')).toHaveLength(2);
	expect(google.gmail.sent).toHaveLength(2);
	expect(google.violations).toEqual([]);
});

test('a published trigger on main starts executions on the worker', async () => {
	const trigger = node(
		'Trigger',
		'n8n-nodes-agent-workspace.agentSessionTrigger',
		{ sessionIds: 'queue-session' },
		{ credentials },
	);
	const workflow = await main.api.createWorkflow({
		name: 'trigger in queue mode',
		nodes: [trigger, node('After', 'n8n-nodes-base.noOp')],
		connections: inRow('Trigger', 'After'),
	});
	await main.api.activate(workflow);
	while (agent.openSockets('queue-session') === 0) await new Promise((resolve) => setTimeout(resolve, 50));
	agent.send('queue-session', { hello: 'worker' });
	const execution = await main.api.untilTriggered(workflow);
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'After')[0]?.json).toMatchObject({ sequence: 1, message: { hello: 'worker' } });
	expect(worker.output()).toContain(`execution ${execution.id}`);
	await main.api.deactivate(workflow);
	while (agent.openSockets('queue-session') > 0) await new Promise((resolve) => setTimeout(resolve, 50));
});
