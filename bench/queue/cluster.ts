import { rm } from 'node:fs/promises';

import { ChaosProxy } from '../../dev/chaos/chaosProxy.ts';
import {
	freePort,
	type N8nServer,
	spawnN8n,
	type SpawnedN8n,
	startN8n,
} from '../../dev/n8n/startN8n.ts';
import { type QueueServices, startQueueServices } from '../../dev/n8n/queueServices.ts';
import { benchFolder, pause, readCpuSeconds, until } from '../n8n.ts';

/** Executions that one worker carries out at once. */
export const concurrency = 5;

/** n8n notices a dead worker after a minute by default, here after seconds. */
const noticeSoon = {
	QUEUE_WORKER_LOCK_DURATION: '6000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

interface Worker {
	readonly spawned: SpawnedN8n;
	readonly folder: string;
}

interface Parts {
	readonly services: QueueServices;
	readonly redisLink: ChaosProxy;
	readonly env: Readonly<Record<string, string>>;
	readonly mainFolder: string;
}

/** One main and any number of workers of the real n8n, with PostgreSQL, and Redis behind a link that can be cut. */
export class Cluster {
	main: N8nServer;
	readonly #parts: Parts;
	readonly #workers: Worker[] = [];
	#cpuOfEnded = 0;

	/** @param more variables of all processes */
	static async start(more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
		const services = await startQueueServices();
		const redisPort = Number(services.env.QUEUE_BULL_REDIS_PORT);
		const redisLink = await new ChaosProxy(() => redisPort).listen();
		const env = {
			...services.env,
			...noticeSoon,
			...more,
			QUEUE_BULL_REDIS_PORT: new URL(redisLink.address).port,
			// A webhook that is refused for the number of requests would count as one that was lost.
			N8N_CONCURRENCY_PRODUCTION_LIMIT: '-1',
		};
		const mainFolder = await createQueueFolder();
		const main = await startN8n({ userFolder: mainFolder, env });
		return new Cluster(main, { services, redisLink, env, mainFolder });
	}

	private constructor(main: N8nServer, parts: Parts) {
		this.main = main;
		this.#parts = parts;
	}

	async addWorker(): Promise<void> {
		const folder = await createQueueFolder();
		const env = { ...this.#parts.env, QUEUE_HEALTH_CHECK_PORT: String(await freePort()) };
		const command = ['worker', `--concurrency=${concurrency}`];
		const spawned = await spawnN8n({ userFolder: folder, env, command });
		this.#workers.push({ spawned, folder });
		await until('the worker', () => {
			if (spawned.child.exitCode !== null) throw new Error(spawned.output());
			return spawned.output().includes('n8n worker is now ready');
		});
	}

	async endWorker(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
		const worker = this.#workers.pop();
		if (worker === undefined) return;
		const { child } = worker.spawned;
		this.#cpuOfEnded += readCpuSeconds(child.pid);
		const closed = new Promise((resolve) => child.once('close', resolve));
		child.kill(signal);
		await closed;
		await rm(worker.folder, { recursive: true, force: true });
	}

	async restartMain(): Promise<void> {
		const { mainFolder, env } = this.#parts;
		const port = Number(new URL(this.main.url).port);
		this.#cpuOfEnded += readCpuSeconds(this.main.pid);
		await this.main.stop();
		this.main = await startN8n({ userFolder: mainFolder, env, port });
	}

	/** Where Redis listens, which no cut of the link reaches. */
	get redisPort(): number {
		return Number(this.#parts.services.env.QUEUE_BULL_REDIS_PORT);
	}

	/** Resets every connection to Redis and refuses new ones for this long. */
	async cutRedis(milliseconds: number): Promise<void> {
		const { redisLink } = this.#parts;
		redisLink.onArrival = 'reset';
		redisLink.each((link) => {
			link.reset();
		});
		await pause(milliseconds);
		redisLink.onArrival = 'connect';
	}

	/** Processor time of main and all workers so far. */
	cpuSeconds(): number {
		const pids = [this.main.pid, ...this.#workers.map(({ spawned }) => spawned.child.pid)];
		return pids.reduce<number>((sum, pid) => sum + readCpuSeconds(pid), this.#cpuOfEnded);
	}

	async stop(): Promise<void> {
		while (this.#workers.length > 0) await this.endWorker('SIGTERM');
		await this.main.stop();
		await this.#parts.redisLink.close();
		await this.#parts.services.stop();
		await rm(this.#parts.mainFolder, { recursive: true, force: true });
	}
}

async function createQueueFolder(): Promise<string> {
	const folder = await benchFolder();
	// The template's own key would win over the one of the queue.
	await rm(`${folder}/.n8n/config`);
	return folder;
}
