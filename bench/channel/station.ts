import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import type { AgentServiceOptions } from '../../dev/agent-service/options.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { root } from '../../dev/n8n/installN8n.ts';
import { node } from '../../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../../dev/n8n/startRestartableN8n.ts';
import {
	apiKey,
	bareNodes,
	benchN8n,
	createAgentCredentials,
	type Credentials,
	publishInRow,
	readCpuSeconds,
	sessionTrigger,
	type Step,
	type Stored,
	until,
} from '../n8n.ts';

const env = {
	...bareNodes,
	BENCH_WS: path.join(root, 'node_modules', 'ws'),
	N8N_METRICS: 'true',
	N8N_METRICS_INCLUDE_DEFAULT_METRICS: 'true',
	EXECUTIONS_DATA_PRUNE: 'false',
};

/** A stand-in for the agent service in this process, and a separate n8n that listens to it. */
export class Station {
	readonly n8n: RestartableN8n;
	readonly #database: DatabaseSync;
	readonly service: AgentService;
	readonly #credentials: Credentials;

	/** @param credentials one pair for all triggers, as a team has: they share the rate at which channels are opened */
	constructor(n8n: RestartableN8n, service: AgentService, credentials: Credentials) {
		this.n8n = n8n;
		this.service = service;
		this.#credentials = credentials;
		const file = path.join(n8n.userFolder, '.n8n', 'database.sqlite');
		this.#database = new DatabaseSync(file, { readOnly: true });
		this.#database.exec('PRAGMA busy_timeout = 10000');
	}

	/** Publishes a workflow of the trigger and a node that does nothing, and waits for the channels. */
	async ours(
		name: string,
		options: object = {},
		sessionIds: readonly string[] = [name],
	): Promise<Stored> {
		const trigger = sessionTrigger(sessionIds.join(','), this.#credentials, options);
		return await this.#publish(name, trigger, sessionIds);
	}

	async emitOnly(name: string, batchSize = 1): Promise<Stored> {
		const query = {
			sessionId: name,
			userPublicKey: '0',
			signature: '0',
			timestamp: '1',
			apiKey,
		};
		const url = `${this.service.webSocketUrl}/ws?${new URLSearchParams(query).toString()}`;
		const trigger = node('Trigger', 'CUSTOM.emitOnlyTrigger', { url, batchSize });
		return await this.#publish(name, trigger, [name]);
	}

	async remove(): Promise<void> {
		this.#database.close();
		await this.n8n.remove();
		await this.service.close();
	}

	/** Number of a workflow's executions that succeeded. */
	countEnded(workflowId: string): number {
		const row = this.#database
			.prepare(
				"select count(*) as n from execution_entity where workflowId = ? and status = 'success'",
			)
			.get(workflowId);
		return Number(row?.n);
	}

	async #publish(name: string, trigger: Step, sessionIds: readonly string[]): Promise<Stored> {
		const nodes = [trigger, node('Done', 'n8n-nodes-base.noOp')];
		const stored = await publishInRow(this.n8n.api, name, nodes);
		await until(`the channels of ${name}`, () =>
			sessionIds.every((id) => this.service.countOpenChannels(id) === 1),
		);
		return stored;
	}
}

/** Runs something with a station that nothing else has used. */
export async function withStation<T>(
	use: (station: Station) => Promise<T>,
	serviceOptions: AgentServiceOptions = {},
): Promise<T> {
	const n8n = await benchN8n({ env });
	const service = await startAgentService({ apiKey, ...serviceOptions });
	const station = new Station(n8n, service, await createAgentCredentials(n8n.api, service));
	try {
		return await use(station);
	} finally {
		await station.remove();
	}
}

/**
 * The event loop delay that n8n reports, in milliseconds: exceeded by one in a hundred turns since the last
 * request.
 */
export async function readEventLoopDelay(url: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return (
		Number(/nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? ([\d.e-]+)/.exec(text)?.[1]) * 1000
	);
}

export interface Driven {
	readonly messagesPerSecond: number;
	/** Processor time of n8n. */
	readonly processorMilliseconds: number;
}

const quietMilliseconds = 300;

/** Sends `count` messages at once and waits for the end of their last execution. */
export async function drive(
	station: Station,
	workflow: Stored,
	count: number,
	batchSize: number,
): Promise<Driven> {
	const { n8n, service } = station;
	const [before, processor] = [station.countEnded(workflow.id), readCpuSeconds(n8n.pid)];
	const start = performance.now();
	let last = { ended: 0, at: start };
	for (let n = 0; n < count; n++) service.send(workflow.name, { n });
	// A batch may be smaller than its limit, so the number of executions is not known in advance: it is at
	// least the minimum, and complete when no more follow.
	await until(`executions of ${workflow.name}`, () => {
		const ended = station.countEnded(workflow.id) - before;
		if (ended !== last.ended) last = { ended, at: performance.now() };
		if (ended < count / batchSize) return false;
		return batchSize === 1 || performance.now() - last.at > quietMilliseconds;
	});
	return {
		messagesPerSecond: (count / (last.at - start)) * 1000,
		processorMilliseconds: (readCpuSeconds(n8n.pid) - processor) * 1000,
	};
}
