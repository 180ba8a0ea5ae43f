import type { AgentService } from '../../dev/agent-service/server.ts';
import { inRow, node } from '../../dev/n8n/nodes.ts';
import type { N8nApi } from '../../dev/n8n/rest.ts';
import { pause } from '../channel/waiting.ts';

export const apiKey = 'queue-bench-key';

export type Credentials = Readonly<Record<string, { readonly id: string; readonly name: string }>>;

/** A workflow with calls that take their time, one after another, started by a webhook or by a trigger. */
export interface Lane {
	/** Path of its webhook, its session, or its channel in Redis. */
	readonly name: string;
	readonly workflowId: string;
	readonly steps: number;
}

export async function agentCredentials(api: N8nApi, agent: AgentService): Promise<Credentials> {
	const { url, webSocketUrl } = agent;
	const signature = { userId: '0x01', userPublicKey: '0x02', signature: '0x03' };
	return {
		agentApi: await api.createCredential('agentApi', 'Agent', { deploymentUrl: url, webSocketUrl, apiKey }),
		agentSignatureApi: await api.createCredential('agentSignatureApi', 'Signature', signature),
		httpHeaderAuth: await api.createCredential('httpHeaderAuth', 'Header', {
			name: 'x-api-key',
			value: apiKey,
		}),
	};
}

export async function redisCredential(api: N8nApi, port: number): Promise<Credentials[string]> {
	return await api.createCredential('redis', 'Redis', { host: '127.0.0.1', port, password: '', user: '' });
}

/** Where a call finds the number of its execution. */
const fromWebhook = '$("Trigger").first().json.body.id';
const fromMessage = '$("Trigger").first().json.message.id';

function ours(lane: string, step: number, id: string, credentials: Credentials) {
	const parameters = {
		sessionId: `=${lane}-{{ ${id} }}`,
		startStepName: lane,
		task: `${step}`,
		input: `={{ String(${id}) }}`,
	};
	return node(`Call ${step}`, 'n8n-nodes-agent-workspace.agentExecute', parameters, { credentials });
}

function control(lane: string, step: number, id: string, { agent: { url }, credentials }: Place) {
	const field = (name: string, value: string) => ({ name, value });
	const parameters = {
		method: 'POST',
		url: `${url}/execute`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		bodyParameters: {
			parameters: [
				field('sessionId', `=${lane}-{{ ${id} }}`),
				field('startStepName', lane),
				field('initialPayload', `={{ JSON.stringify({ task: '${step}', input: String(${id}) }) }}`),
				field('userId', '0x01'),
				field('userPublicKey', '0x02'),
				field('signature', '0x03'),
				field('timestamp', '={{ Date.now() }}'),
			],
		},
		options: {},
	};
	const more = { typeVersion: 4.2, credentials: { httpHeaderAuth: credentials.httpHeaderAuth } };
	return node(`Call ${step}`, 'n8n-nodes-base.httpRequest', parameters, more);
}

/**
 * `ours` and `control` do the same after a webhook, with Agent Execute and with n8n's HTTP Request node;
 * `trigger` and `triggerControl` do it for a message, of our session trigger and of n8n's Redis Trigger.
 */
export type LaneKind = 'ours' | 'control' | 'trigger' | 'triggerControl';

interface Place {
	readonly api: N8nApi;
	readonly agent: AgentService;
	/** Those of `agentCredentials`, and `redis` for the lane of the Redis Trigger. */
	readonly credentials: Credentials;
}

/** Creates and publishes a lane. */
export async function publishLane(kind: LaneKind, name: string, steps: number, place: Place): Promise<Lane> {
	const { api, credentials } = place;
	const isStartedByWebhook = kind === 'ours' || kind === 'control';
	const id = isStartedByWebhook ? fromWebhook : fromMessage;
	const call = (step: number) =>
		kind === 'control' || kind === 'triggerControl'
			? control(name, step, id, place)
			: ours(name, step, id, credentials);
	const trigger = isStartedByWebhook
		? webhook(name)
		: kind === 'trigger'
			? sessionTrigger(name, credentials)
			: redisTrigger(name, credentials);
	const calls = Array.from({ length: steps }, (_, at) => call(at + 1));
	const stored = await api.createWorkflow({
		name,
		nodes: [trigger, ...calls],
		connections: inRow('Trigger', ...calls.map((one) => one.name)),
	});
	await api.activate(stored);
	if (isStartedByWebhook) await untilRegistered(api, name);
	return { name, workflowId: stored.id, steps };
}

/** Waits until main knows the webhook, which takes a moment after the workflow is published. */
export async function untilRegistered(api: N8nApi, path: string): Promise<void> {
	const deadline = performance.now() + 60_000;
	for (;;) {
		const answer = await fetch(`${api.url}/webhook/${path}`, { headers: { connection: 'close' } });
		// A wrong method starts nothing, and the answer names the right one.
		if ((await answer.text()).includes('Did you mean to make a POST')) return;
		if (performance.now() > deadline) throw new Error(`The webhook ${path} was not registered`);
		await pause(100);
	}
}

export function webhook(path: string) {
	const parameters = { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} };
	return node('Trigger', 'n8n-nodes-base.webhook', parameters, { typeVersion: 2, webhookId: path });
}

function sessionTrigger(session: string, credentials: Credentials) {
	const parameters = { sessionIds: session };
	return node('Trigger', 'n8n-nodes-agent-workspace.agentSessionTrigger', parameters, { credentials });
}

function redisTrigger(channel: string, { redis }: Credentials) {
	const parameters = { channels: channel, options: { jsonParseBody: true } };
	return node('Trigger', 'n8n-nodes-base.redisTrigger', parameters, { credentials: { redis } });
}
