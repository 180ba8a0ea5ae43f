import { availableParallelism } from 'node:os';

import type { AgentService } from '../../dev/agent-service/server.ts';
import { middleMean, reportRatio, row, say } from '../report.ts';
import { type Cluster, concurrency } from './cluster.ts';
import { type Lane, Ledger, untilSettled } from './lanes.ts';

export const latencyMilliseconds = 100;
/** Calls of an execution, one after another. */
export const steps = 10;
const executions = 40;

interface Sums {
	readonly callsPerSecond: number[];
	readonly cpu: number[];
}

/** How many calls a second 1 and 4 workers make, beside what the latency allows. */
export async function throughput(
	cluster: Cluster,
	agent: AgentService,
	lanes: Readonly<Record<'ours' | 'control', Lane>>,
): Promise<void> {
	say(
		`Throughput: ${executions} executions of ${steps} calls of ${latencyMilliseconds} ms, ${concurrency} executions per worker at once`,
	);
	let workers = 0;
	for (const wanted of [1, 4]) {
		await Promise.all(Array.from({ length: wanted - workers }, () => cluster.addWorker()));
		workers = wanted;
		// What a worker loads at its first execution must not count.
		for (const lane of Object.values(lanes))
			await load(cluster, agent, lane, workers * concurrency);
		const limit = (workers * concurrency * 1000) / latencyMilliseconds;
		const sums = { ours: newSums(), control: newSums() };
		// Both lanes take turns, and both are once the first: other programs on the machine hit them alike.
		for (const lane of ['control', 'ours', 'ours', 'control'] as const) {
			const measured = await load(cluster, agent, lanes[lane], executions);
			sums[lane].callsPerSecond.push(measured.callsPerSecond);
			sums[lane].cpu.push(measured.cpuMillisecondsPerExecution);
			row(
				`${workers} worker(s), ${lane === 'ours' ? 'Agent Execute' : 'HTTP Request'}`,
				`${measured.callsPerSecond.toFixed(1)} calls/s, ${((measured.callsPerSecond / limit) * 100).toFixed(0)} % of what the latency allows`,
				`processors: ${(measured.cpuShare * 100).toFixed(0)} %`,
				`${measured.cpuMillisecondsPerExecution.toFixed(0)} ms per execution`,
			);
		}
		const ratio = (key: keyof Sums) =>
			middleMean(sums.ours[key]) / middleMean(sums.control[key]);
		reportRatio(
			`${workers} worker(s): throughput of Agent Execute / HTTP Request`,
			ratio('callsPerSecond'),
			{
				atLeast: 0.9,
			},
		);
		reportRatio(
			`${workers} worker(s): processor time of Agent Execute / HTTP Request`,
			ratio('cpu'),
			{
				atMost: 1.1,
			},
		);
	}
}

const newSums = (): Sums => ({ callsPerSecond: [], cpu: [] });

let runs = 0;

async function load(cluster: Cluster, agent: AgentService, lane: Lane, count: number) {
	const ledger = new Ledger(lane, agent);
	agent.requests.length = 0;
	const cpuBefore = cluster.cpuSeconds();
	const start = performance.now();
	runs++;
	const ids = Array.from({ length: count }, (_, at) => `${runs}-${at}`);
	await Promise.all(ids.map((id) => ledger.post(cluster.main.url, id)));
	await untilSettled(agent, [ledger], 60);
	const seconds = (performance.now() - start + latencyMilliseconds) / 1000;
	const cpu = cluster.cpuSeconds() - cpuBefore;
	const { lost, twice, refused } = ledger.account();
	if (lost + twice + refused > 0) {
		throw new Error(`${lane.name}: ${lost} lost, ${twice} twice, ${refused} refused`);
	}
	return {
		callsPerSecond: (count * lane.steps) / seconds,
		/** Share of the machine's processors that main and the workers used. */
		cpuShare: cpu / seconds / availableParallelism(),
		cpuMillisecondsPerExecution: (cpu * 1000) / count,
	};
}
