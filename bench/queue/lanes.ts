import type { AgentService } from '../../dev/agent-service/server.ts';
import { node } from '../../dev/n8n/nodes.ts';
import type { N8nApi } from '../../dev/n8n/n8nApi.ts';
import {
	callByHttp,
	type Credentials,
	pause,
	publishInRow,
	publishWebhook,
	sessionTrigger,
} from '../n8n.ts';

/** A workflow with calls that take their time, one after another, started by a webhook or by a trigger. */
export interface Lane {
	/** Path of its webhook, its session, or its channel in Redis. */
	readonly name: string;
	readonly steps: number;
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
	return node(`Call ${step}`, 'n8n-nodes-agent-workspace.agentExecute', parameters, {
		credentials,
	});
}

function control(lane: string, step: number, id: string, { agent: { url }, credentials }: Place) {
	const values = {
		sessionId: `=${lane}-{{ ${id} }}`,
		step: lane,
		payload: `={{ JSON.stringify({ task: '${step}', input: String(${id}) }) }}`,
	};
	return callByHttp(`Call ${step}`, url, values, credentials);
}

/**
 * `ours` and `control` do the same after a webhook, with Agent Execute and with n8n's HTTP Request node;
 * `trigger` and `triggerControl` do it for a message, of our session trigger and of n8n's Redis Trigger.
 */
export type LaneKind = 'ours' | 'control' | 'trigger' | 'triggerControl';

interface Place {
	readonly api: N8nApi;
	readonly agent: AgentService;
	/** Those of `createCallCredentials`, and `redis` for the lane of the Redis Trigger. */
	readonly credentials: Credentials;
}

export async function publishLane(
	kind: LaneKind,
	name: string,
	steps: number,
	place: Place,
): Promise<Lane> {
	const { api, credentials } = place;
	const isStartedByWebhook = kind === 'ours' || kind === 'control';
	const id = isStartedByWebhook ? fromWebhook : fromMessage;
	const call = (step: number) =>
		kind === 'control' || kind === 'triggerControl'
			? control(name, step, id, place)
			: ours(name, step, id, credentials);
	const calls = Array.from({ length: steps }, (_, at) => call(at + 1));
	const trigger = kind === 'trigger' ? sessionTrigger : redisTrigger;
	if (isStartedByWebhook) await publishWebhook(api, name, calls);
	else await publishInRow(api, name, [trigger(name, credentials), ...calls]);
	return { name, steps };
}

function redisTrigger(channel: string, { redis }: Credentials) {
	const parameters = { channels: channel, options: { jsonParseBody: true } };
	return node('Trigger', 'n8n-nodes-base.redisTrigger', parameters, { credentials: { redis } });
}

/** What became of the executions of a lane that were accepted. */
export interface Account {
	readonly accepted: number;
	/** The sender was told that nothing happens. */
	readonly refused: number;
	/** Accepted, but the last call was never made. */
	readonly lost: number;
	/** Calls made more than once. */
	readonly twice: number;
}

/** Which executions a lane accepted, and which of their calls arrived at the service. */
export class Ledger {
	readonly lane: Lane;
	readonly accepted = new Set<string>();
	refused = 0;
	readonly #agent: AgentService;

	constructor(lane: Lane, agent: AgentService) {
		this.lane = lane;
		this.#agent = agent;
	}

	/** Starts an execution by the lane's webhook. */
	async post(url: string, id: string): Promise<void> {
		const answer = await fetch(`${url}/webhook/${this.lane.name}`, {
			method: 'POST',
			// A connection that is kept would be cut by a restart at any moment.
			headers: { 'content-type': 'application/json', connection: 'close' },
			body: JSON.stringify({ id }),
			signal: AbortSignal.timeout(30_000),
		}).catch(() => undefined);
		if (answer?.ok === true) this.accepted.add(id);
		else this.refused++;
		await answer?.body?.cancel();
	}

	/** A message that reached so many listeners. */
	count(id: string, listeners: number): void {
		if (listeners > 0) this.accepted.add(id);
		else this.refused++;
	}

	/** How often each call arrived: by execution and step. */
	calls(): Map<string, number> {
		const counts = new Map<string, number>();
		for (const { body } of this.#agent.requests) {
			const { startStepName, initialPayload = '{}' } = body as Record<string, string>;
			if (startStepName !== this.lane.name) continue;
			const { task, input } = JSON.parse(initialPayload) as Record<string, string>;
			const key = `${String(input)}/${String(task)}`;
			counts.set(key, (counts.get(key) ?? 0) + 1);
		}
		return counts;
	}

	/** Number of accepted executions whose last call has not arrived. */
	open(): number {
		const calls = this.calls();
		return [...this.accepted].filter((id) => !calls.has(`${id}/${this.lane.steps}`)).length;
	}

	account(): Account {
		const twice = [...this.calls().values()].filter((count) => count > 1).length;
		return { accepted: this.accepted.size, refused: this.refused, lost: this.open(), twice };
	}
}

/** Waits until every accepted execution has made its last call, or nothing has arrived for this long. */
export async function untilSettled(
	agent: AgentService,
	ledgers: readonly Ledger[],
	quietSeconds: number,
): Promise<void> {
	let seen = -1;
	let since = performance.now();
	while (ledgers.some((ledger) => ledger.open() > 0)) {
		if (agent.requests.length !== seen) {
			seen = agent.requests.length;
			since = performance.now();
		}
		if (performance.now() - since > quietSeconds * 1000) return;
		await pause(100);
	}
}
