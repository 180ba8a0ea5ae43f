// Traffic with faults for a long time: the session trigger, Agent Execute and Workspace, by turns with a
// control workflow of n8n's own nodes in the same n8n. The heap must not grow more than the control's, and
// handles must stay as many.
// node bench/soak.ts [minutes]
import { say } from './channel/text.ts';
import { Inspector } from './channel/inspector.ts';
import { reportRatio } from './n8n.ts';
import { sampleOf, type Turn, verdictOf } from './soak/samples.ts';
import { doubled, reached, trafficOf } from './soak/traffic.ts';
import { startWorld } from './soak/world.ts';

const minutes = Number(process.argv[2] ?? 20);
const turnSeconds = 20;
/** One turn is not judged, and a verdict takes two. */
const leastTurns = 3;

async function main(): Promise<void> {
	if (!(minutes > 0)) throw new Error('node bench/soak.ts [minutes]');
	const world = await startWorld();
	try {
		const inspector = await Inspector.open(world.n8n);
		const numbers = { next: 1 };
		const turns: Turn[] = [];
		const end = performance.now() + minutes * 60_000;
		let before = await sampleOf(inspector);
		while (performance.now() < end || turns.length < leastTurns) {
			const control = await trafficOf('control', world, turnSeconds, numbers);
			const afterControl = await sampleOf(inspector);
			const ours = await trafficOf('ours', world, turnSeconds, numbers);
			const afterOurs = await sampleOf(inspector);
			turns.push({ before, afterControl, afterOurs, executions: { control, ours } });
			say(
				`turn ${turns.length}: heap ${mebibytes(before.heapKibibytes)} → control ${mebibytes(afterControl.heapKibibytes)} → ours ${mebibytes(afterOurs.heapKibibytes)} MiB; handles ${before.handles} → ${afterControl.handles} → ${afterOurs.handles}; executions ${control} and ${ours}`,
			);
			before = afterOurs;
		}
		inspector.close();
		const { netKibibytesPerExecution, limitKibibytesPerExecution, moreHandles } = verdictOf(turns);
		reportRatio('heap per execution, ours minus the control (KiB)', netKibibytesPerExecution, {
			atMost: Math.round(limitKibibytesPerExecution * 10) / 10,
		});
		reportRatio('fewest handles in the later half, beyond the earlier half', moreHandles, { atMost: 3 });
		const executed = turns.reduce((sum, turn) => sum + turn.executions.ours, 0);
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

const mebibytes = (kibibytes: number) => (kibibytes / 1024).toFixed(1);

await main();
