// Traffic with faults for a long time: first a control workflow of n8n's own nodes, then the session trigger,
// Agent Execute and Workspace, in the same n8n. The heap must not grow more than with the control, and handles
// must stay as many.
// node bench/soak.ts [minutes]
import { say } from './channel/text.ts';
import { Inspector } from './channel/inspector.ts';
import { reportRatio } from './n8n.ts';
import { sampleOf, type Sample, verdictOf } from './soak/samples.ts';
import { doubled, reached, trafficOf } from './soak/traffic.ts';
import { startWorld } from './soak/world.ts';

const minutes = Number(process.argv[2] ?? 20);
const turnSeconds = 20;
/** The first of each kind is not judged: it loads what is needed. A verdict takes two more. */
const leastTurns = 3;

async function main(): Promise<void> {
	if (!(minutes > 0)) throw new Error('node bench/soak.ts [minutes]');
	const world = await startWorld();
	try {
		const inspector = await Inspector.open(world.n8n);
		const samples: Record<'ours' | 'control', Sample[]> = { ours: [], control: [] };
		const numbers = { next: 1 };
		for (const kind of ['control', 'ours'] as const) {
			const end = performance.now() + (minutes / 2) * 60_000;
			const taken = samples[kind];
			let executions = 0;
			while (performance.now() < end || taken.length < leastTurns) {
				executions += await trafficOf(kind, world, turnSeconds, numbers);
				const sample = await sampleOf(inspector, executions);
				taken.push(sample);
				say(
					`${kind}, turn ${taken.length}: heap ${(sample.heapKibibytes / 1024).toFixed(1)} MiB, ${sample.handles} handles, ${executions} executions`,
				);
			}
		}
		inspector.close();
		const judged = { ours: samples.ours.slice(1), control: samples.control.slice(1) };
		const { netKibibytesPerExecution, limitKibibytesPerExecution, moreHandles } = verdictOf(judged);
		reportRatio('heap per execution, ours minus the control (KiB)', netKibibytesPerExecution, {
			atMost: Math.round(limitKibibytesPerExecution * 10) / 10,
		});
		reportRatio('fewest handles in the later half, beyond the earlier half', moreHandles, { atMost: 3 });
		const executed = samples.ours.at(-1)?.executions ?? 0;
		const { agents, emails } = reached(world);
		say(`${executed} messages were sent to a channel: ${agents} agents were started, ${emails} emails sent`);
		// An email whose request was reset before it arrived is reported as failed. A message that is sent
		// to a channel that is breaking never arrives.
		reportRatio('agents started per message', agents / executed, { atLeast: 0.95 });
		reportRatio('agents started or emails sent twice', doubled(world), { atMost: 0 });
	} finally {
		await world.close();
	}
}

await main();
