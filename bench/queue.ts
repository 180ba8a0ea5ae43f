// n8n's queue mode with Redis and PostgreSQL: how much 1 and 4 workers do, and what faults cost, compared
// with n8n's own HTTP Request node and Redis Trigger in the same run.
// node bench/queue.ts [throughput | faults | refresh …]
import { startAgentService } from '../dev/agent-service/server.ts';
import { Cluster, concurrency } from './queue/cluster.ts';
import { faults } from './queue/faults.ts';
import { publishLane } from './queue/lanes.ts';
import { apiKey, createCallCredentials, createCredentials, describeHost } from './n8n.ts';
import { refreshRace } from './queue/refresh.ts';
import { latencyMilliseconds, steps, throughput } from './queue/throughput.ts';
import { say } from './report.ts';

/** Calls of an execution under faults, which take longer, so that a fault meets some of them. */
const [fewSteps, longLatencyMilliseconds] = [5, 200];

async function main(): Promise<void> {
	const wanted = process.argv.slice(2);
	const includes = (section: string) => wanted.length === 0 || wanted.includes(section);
	const service = { apiKey, messages: () => [] };
	const agent = await startAgentService({ ...service, latencyMilliseconds });
	const slowAgent = await startAgentService({
		...service,
		latencyMilliseconds: longLatencyMilliseconds,
	});
	const cluster = await Cluster.start();
	const stop = async () => {
		await cluster.stop();
		await agent.close();
		await slowAgent.close();
	};
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void stop().then(() => process.exit(1)));
	}
	try {
		say(`Queue mode: ${await describeHost()}\n`);
		const { api } = cluster.main;
		let workers = 0;
		if (includes('throughput')) {
			const place = { api, agent, credentials: await createCallCredentials(api, agent) };
			await throughput(cluster, agent, {
				ours: await publishLane('ours', 'long-ours', steps, place),
				control: await publishLane('control', 'long-control', steps, place),
			});
			workers = 4;
		}
		for (; workers > 2; workers--) await cluster.endWorker('SIGTERM');
		for (; workers < 2; workers++) await cluster.addWorker();
		if (includes('refresh')) await refreshRace(cluster);
		if (includes('faults')) {
			const redis = { host: '127.0.0.1', port: cluster.redisPort, password: '', user: '' };
			const credentials = {
				...(await createCallCredentials(api, slowAgent)),
				...(await createCredentials(api, { redis })),
			};
			const place = { api, agent: slowAgent, credentials };
			await faults(cluster, slowAgent, {
				ours: await publishLane('ours', 'short-ours', fewSteps, place),
				control: await publishLane('control', 'short-control', fewSteps, place),
				trigger: await publishLane('trigger', 'short-trigger', fewSteps, place),
				triggerControl: await publishLane('triggerControl', 'short-redis', fewSteps, place),
			});
		}
		say(`(${concurrency} executions at once per worker)`);
	} finally {
		await stop();
	}
}

await main();
