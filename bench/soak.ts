// Traffic with faults for a long time: first a control workflow of n8n's own nodes, then the session trigger,
// Agent Execute and Workspace, in the same n8n. The heap must not grow more than with the control, and handles
// must stay as many.
// node bench/soak.ts [minutes]
import { Inspector } from './channel/probe.ts';
import { pause } from './n8n.ts';
import { median, reportRatio, say } from './report.ts';
import { countDoubled, countReached, sendTraffic, startWorld } from './soak/world.ts';

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
				executions += await sendTraffic(kind, world, turnSeconds, numbers);
				const sample = await takeSample(inspector, executions);
				taken.push(sample);
				say(
					`${kind}, turn ${taken.length}: heap ${(sample.heapKibibytes / 1024).toFixed(1)} MiB, ${sample.handles} handles, ${executions} executions`,
				);
			}
		}
		inspector.close();
		const judged = { ours: samples.ours.slice(1), control: samples.control.slice(1) };
		const { netKibibytesPerExecution, limitKibibytesPerExecution, moreHandles } = judge(judged);
		reportRatio('heap per execution, ours minus the control (KiB)', netKibibytesPerExecution, {
			atMost: Math.round(limitKibibytesPerExecution * 10) / 10,
		});
		reportRatio('fewest handles in the later half, beyond the earlier half', moreHandles, { atMost: 3 });
		const executed = samples.ours.at(-1)?.executions ?? 0;
		const { agents, emails } = countReached(world);
		say(`${executed} messages were sent to a channel: ${agents} agents were started, ${emails} emails sent`);
		// An email whose request was reset before it arrived is reported as failed. A message that is sent
		// to a channel that is breaking never arrives.
		reportRatio('agents started per message', agents / executed, { atLeast: 0.95 });
		reportRatio('agents started or emails sent twice', countDoubled(world), { atMost: 0 });
	} finally {
		await world.close();
	}
}

/** n8n closes idle connections after 5 s, and retries of faults end before that. */
const quietMilliseconds = 10_000;

interface Sample {
	/** After garbage collection. */
	readonly heapKibibytes: number;
	/** Sockets, timers, files: everything that keeps a process alive. */
	readonly handles: number;
	/** Executions of this kind so far. */
	readonly executions: number;
}

async function takeSample(inspector: Inspector, executions: number): Promise<Sample> {
	await pause(quietMilliseconds);
	const { heapUsed } = await inspector.memory();
	const handles = await inspector.evaluate<number>('process.getActiveResourcesInfo().length');
	return { heapKibibytes: heapUsed / 1024, handles, executions };
}

interface Verdict {
	/** Growth of the heap with our executions minus that with the control's, per execution. */
	readonly netKibibytesPerExecution: number;
	/** The same as it may be: what no leak exceeds, with room for noise in a short run. */
	readonly limitKibibytesPerExecution: number;
	/** The fewest handles in the later half of our turns minus the fewest in the earlier half. */
	readonly moreHandles: number;
}

const noiseKibibytes = 2 * 1024;

/** @param ours after each turn, at least two; so is `control` */
function judge({ ours, control }: Readonly<Record<'ours' | 'control', readonly Sample[]>>): Verdict {
	const executions = (ours.at(-1)?.executions ?? 0) - (ours[0]?.executions ?? 0);
	const half = Math.ceil(ours.length / 2);
	return {
		netKibibytesPerExecution: slopeOf(ours) - slopeOf(control),
		limitKibibytesPerExecution: Math.max(1, noiseKibibytes / executions),
		moreHandles: fewestHandles(ours.slice(half)) - fewestHandles(ours.slice(0, half)),
	};
}

/** Kibibytes per execution: the median of the slopes between all pairs, which a few odd samples do not move. */
function slopeOf(samples: readonly Sample[]): number {
	const slopes = samples.flatMap((earlier, n) =>
		samples
			.slice(n + 1)
			.map(
				(later) => (later.heapKibibytes - earlier.heapKibibytes) / (later.executions - earlier.executions),
			),
	);
	return median(slopes);
}

/** Timers and connections come and go: what leaks is still there when the fewest are. */
const fewestHandles = (samples: readonly Sample[]) => Math.min(...samples.map(({ handles }) => handles));

await main();
