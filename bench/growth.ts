// Time per item from 10 to 100,000 items, compared with n8n's own node for the same work.
// node bench/growth.ts [largest number of items]
import { node } from '../dev/n8n/nodes.ts';
import { say } from './channel/text.ts';
import { median, reportRatio } from './n8n.ts';
import { type Contest, contests } from './operations/contests.ts';
import { columns } from './operations/google.ts';
import { run, startWorld, type World } from './operations/world.ts';

const largest = Number(process.argv[2] ?? 100_000);
const sizes = [10, 100, 1000, 10_000, 100_000].filter((size) => size <= largest);
/** Measured rounds. Those of few items warm the code up, each size once, for a single one of many items. */
const roundsOf = (size: number) => (size >= 10_000 ? 1 : 3);
const warmRoundsOf = (size: number) => (size >= 10_000 ? 0 : 1);
/** One request takes these, so that what is measured is the node's own work. */
const operations = ['Spreadsheet: Append', 'Spreadsheet: Read'];

/** Too many to be written into a workflow. */
const itemsCode = (size: number) =>
	`return Array.from({ length: ${size} }, (_, row) => ({ json: Object.fromEntries(${JSON.stringify(columns)}.map((name) => [name, 'new ' + name + ' of row ' + row])) }));`;

async function grow(world: World, contest: Contest): Promise<void> {
	const { workspaceOAuth2Api } = world.credentials;
	const times = { ours: new Map<number, number>(), theirs: new Map<number, number>() };
	for (const size of sizes) {
		const type = 'n8n-nodes-agent-workspace.workspace';
		const sides = {
			theirs: contest.theirs(size, world.credentials),
			ours: [node('Step', type, contest.ours(size), { credentials: { workspaceOAuth2Api } })],
		};
		const code = contest.operation.endsWith('Append') ? itemsCode(size) : undefined;
		const requests = {
			ours: { requests: 0, milliseconds: [] as number[] },
			theirs: { requests: 0, milliseconds: [] as number[] },
		};
		const measured = { ours: [] as number[], theirs: [] as number[] };
		for (let round = -warmRoundsOf(size); round < roundsOf(size); round++) {
			const milliseconds = await run(world, contest, size, sides.ours, requests.ours, code);
			const theirs = await run(world, contest, size, sides.theirs, requests.theirs, code).catch(
				(error: unknown) => {
					say(`${contest.rival} fails: ${String(error)}`);
					return NaN;
				},
			);
			if (round < 0) continue;
			measured.ours.push(milliseconds);
			measured.theirs.push(theirs);
		}
		times.ours.set(size, median(measured.ours));
		times.theirs.set(size, median(measured.theirs));
		say(
			`${`${contest.operation}, ${size}`.padEnd(36)} ${tell(times.ours, size)}, ${requests.ours.requests} requests; ${contest.rival} ${tell(times.theirs, size)}, ${requests.theirs.requests} requests`,
		);
	}
	const [first, last] = [sizes.find((size) => size >= 1000) ?? NaN, sizes.at(-1) ?? NaN];
	const growthOf = (side: Map<number, number>) => perItem(side, last) / perItem(side, first);
	reportRatio(`${contest.operation}: time per item, ${last} items / ${first}`, growthOf(times.ours), {
		atMost: 1.25,
	});
	const growth = growthOf(times.theirs);
	say(`${`the same of ${contest.rival}`.padEnd(64)} ${Number.isNaN(growth) ? 'fails' : growth.toFixed(3)}`);
}

const perItem = (times: Map<number, number>, size: number) => (times.get(size) ?? NaN) / size;

function tell(times: Map<number, number>, size: number): string {
	const milliseconds = times.get(size) ?? NaN;
	if (Number.isNaN(milliseconds)) return 'fails';
	return `${milliseconds.toFixed(0)} ms (${(perItem(times, size) * 1000).toFixed(1)} µs per item)`;
}

const world = await startWorld();
try {
	for (const contest of contests) if (operations.includes(contest.operation)) await grow(world, contest);
} finally {
	await world.close();
}
