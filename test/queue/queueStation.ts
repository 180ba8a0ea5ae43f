import { rm } from 'node:fs/promises';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { ChaosProxy } from '../../dev/chaos/chaosProxy.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { type QueueServices, startQueueServices } from '../../dev/n8n/queueServices.ts';
import type { Execution, WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import {
	freePort,
	type N8nServer,
	spawnN8n,
	type SpawnedN8n,
	startN8n,
} from '../../dev/n8n/startN8n.ts';
import { type Credentials, storeAgent, storeSignIn } from '../e2e/credentials';
import { template } from '../e2e/globalSetup';
import { withoutPages } from '../e2e/startLoggedN8n';
import { until } from '../e2e/station';

/** Settings with which n8n notices a dead worker after seconds, not after a minute, and outlives a pause of the machine. */
const patience = {
	QUEUE_WORKER_LOCK_DURATION: '15000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
	// After 10 s without Redis, n8n would end itself.
	QUEUE_BULL_REDIS_TIMEOUT_THRESHOLD: '300000',
};

/** A main and a worker of n8n, which reach Redis and the database over links that can be cut, and the stand-ins. */
export class QueueStation {
	readonly agent: AgentService;
	readonly google: GoogleServer;
	readonly main: N8nServer;
	readonly redisLink: ChaosProxy;
	readonly databaseLink: ChaosProxy;
	worker!: SpawnedN8n;
	credentials: Credentials = {};
	readonly #services: QueueServices;
	readonly #env: Readonly<Record<string, string>>;
	readonly #folders: readonly string[];

	private constructor(parts: {
		readonly agent: AgentService;
		readonly google: GoogleServer;
		readonly main: N8nServer;
		readonly links: readonly [redis: ChaosProxy, database: ChaosProxy];
		readonly services: QueueServices;
		readonly env: Readonly<Record<string, string>>;
		readonly folders: readonly string[];
	}) {
		this.agent = parts.agent;
		this.google = parts.google;
		this.main = parts.main;
		[this.redisLink, this.databaseLink] = parts.links;
		this.#services = parts.services;
		this.#env = parts.env;
		this.#folders = parts.folders;
	}

	static async start(): Promise<QueueStation> {
		const services = await startQueueServices();
		const linkTo = async (port: string | undefined) =>
			await new ChaosProxy(() => Number(port)).listen();
		const redisLink = await linkTo(services.env.QUEUE_BULL_REDIS_PORT);
		const databaseLink = await linkTo(services.env.DB_POSTGRESDB_PORT);
		const env = {
			...withoutPages,
			...services.env,
			...patience,
			QUEUE_BULL_REDIS_PORT: new URL(redisLink.address).port,
			DB_POSTGRESDB_PORT: new URL(databaseLink.address).port,
		};
		const folders = [await template.copy(), await template.copy()];
		// The template's own key would win over the one of the queue.
		for (const folder of folders) await rm(`${folder}/.n8n/config`);
		const station = new QueueStation({
			agent: await startAgentService(),
			google: await startGoogle(),
			main: await startN8n({ userFolder: folders[0] ?? '', env }),
			links: [redisLink, databaseLink],
			services,
			env,
			folders,
		});
		await station.startWorker();
		await station.#createCredentials();
		return station;
	}

	async startWorker(): Promise<void> {
		const healthPort = await freePort();
		const env = { ...this.#env, QUEUE_HEALTH_CHECK_PORT: String(healthPort) };
		const command = ['worker', '--concurrency=5'];
		this.worker = await spawnN8n({ userFolder: this.#folders[1] ?? '', env, command });
		await until(() => {
			if (this.worker.child.exitCode !== null) throw new Error(this.worker.output());
			return this.worker.output().includes('n8n worker is now ready');
		});
	}

	async endWorker(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
		const { child } = this.worker;
		const closed = new Promise((resolve) => child.once('close', resolve));
		child.kill(signal);
		await closed;
	}

	async emptyRedis(): Promise<void> {
		await this.#services.emptyRedis();
	}

	/** Runs a workflow once. @throws unless it ran on the worker */
	async run(definition: WorkflowDefinition): Promise<Execution> {
		const execution = await this.main.api.runOnce(definition);
		// n8n says on which process an execution ran only in its log.
		expect(this.worker.output()).toContain(`execution ${execution.id}`);
		return execution;
	}

	/** The status of each execution of a workflow. */
	async statuses({ id }: { id: string }): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
		const { results } = await this.main.api.request<{ results: Array<{ status: string }> }>(
			'GET',
			`executions?limit=100&filter=${filter}`,
		);
		return results.map(({ status }) => status);
	}

	async stop(): Promise<void> {
		await this.endWorker('SIGTERM');
		await this.main.stop();
		await this.google.close();
		await this.agent.close();
		await this.redisLink.close();
		await this.databaseLink.close();
		await this.#services.stop();
		for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
	}

	async #createCredentials(): Promise<void> {
		const { api } = this.main;
		this.credentials = {
			...(await storeAgent(api, this.agent)),
			...(await storeSignIn(api, this.google)),
		};
	}
}

/** Resets every connection and refuses new ones. @returns what ends it */
export function cut(link: ChaosProxy): () => void {
	link.onArrival = 'reset';
	link.each((one) => {
		one.reset();
	});
	return () => {
		link.onArrival = 'connect';
	};
}
