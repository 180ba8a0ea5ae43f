// All operations of the Workspace node with 1, 100 and 1,000 items, compared with n8n's own nodes for the same
// work, in the same n8n and against the same stand-in.
// node bench/operations.ts [number of items …] [part of an operation's name …]
import { cpus } from 'node:os';

import { node } from '../dev/n8n/nodes.ts';
import { say } from './channel/text.ts';
import { middleMean, reportRatio } from './n8n.ts';
import { type Contest, contests } from './operations/contests.ts';
import { latencyMilliseconds, type Measured, run, startWorld, type World } from './operations/world.ts';

/**
 * Measured rounds for each number of items, and how many are enough where the ratio is far from what is allowed. The first sizes also
 * warm up the code for the last.
 */
const rounds: ReadonlyArray<readonly [size: number, warm: number, measured: number, few: number]> = [
	[1, 5, 25, 8],
	[100, 0, 2, 1],
	[1000, 3, 11, 5],
];
const farFromLimit = 0.93;
const mostAtOnce = 20;
const words = process.argv.slice(2);
const isNumber = (text: string) => /^\d+$/.test(text);
/** Empty means all. */
const sizes = words.filter(isNumber).map(Number);

async function measure(world: World, contest: Contest): Promise<Array<readonly [string, number]>> {
	const { credentials } = world;
	const { workspaceOAuth2Api } = credentials;
	const ratios: Array<readonly [string, number]> = [];
	for (const [size, warm, count, few] of rounds.filter(
		([one]) => sizes.length === 0 || sizes.includes(one),
	)) {
		const type = 'n8n-nodes-agent-workspace.workspace';
		const ours = [node('Step', type, contest.ours(size), { credentials: { workspaceOAuth2Api } })];
		const theirs = contest.theirs(size, credentials);
		const sideOf = (steps: typeof theirs): Measured & { readonly steps: typeof theirs } => ({
			steps,
			milliseconds: [],
			requests: 0,
		});
		const sides = [sideOf(theirs), sideOf(ours)] as const;
		const { roundTrips = 1 } = contest;
		const atMost = 1.1 * roundTrips;
		for (let round = -warm; round < count; round++) {
			const soFar = sides.map((side) => middleMean(side.milliseconds));
			if (round === few && (soFar[1] ?? NaN) / (soFar[0] ?? NaN) < farFromLimit * atMost) break;
			// Then a round takes a minute, in which a millisecond decides nothing.
			if (round > 0 && size === 1000 && sides[0].requests >= size) break;
			// Each side is the first as often as the other.
			for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
				const milliseconds = await run(world, contest, size, side.steps, side);
				if (round >= 0) side.milliseconds.push(milliseconds);
			}
		}
		const [their, our] = sides.map((side) => middleMean(side.milliseconds));
		const [theirSide, ourSide] = sides;
		const name = `${contest.operation}, ${size}`;
		// What the latency alone takes, if as many requests run at once as Google accepts.
		const floor = Math.ceil(ourSide.requests / (size === 1 ? 1 : mostAtOnce)) * latencyMilliseconds;
		say(
			`${name.padEnd(44)} ${tell(our)} (${ourSide.requests} requests, latency ${floor} ms); ${contest.rival} ${tell(their)} (${theirSide.requests} requests)`,
		);
		const ratio = (our ?? NaN) / (their ?? NaN);
		reportRatio(`${name}: time / ${contest.rival}`, ratio, { atMost });
		ratios.push([name, ratio]);
		// Where each item is a request of its own, more of them show what these have shown.
		if (sizes.length === 0 && theirSide.requests >= size && size > 1) break;
	}
	return ratios;
}

const tell = (milliseconds = NaN) =>
	`${milliseconds < 1000 ? milliseconds.toPrecision(3) : milliseconds.toFixed(0)} ms`;

async function main(): Promise<void> {
	const wanted = words.filter((text) => !isNumber(text)).map((text) => text.toLowerCase());
	const chosen = contests.filter(
		({ operation }) => wanted.length === 0 || wanted.some((text) => operation.toLowerCase().includes(text)),
	);
	const world = await startWorld();
	try {
		say(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${latencyMilliseconds} ms latency\n`,
		);
		const ratios: Array<readonly [string, number]> = [];
		for (const contest of chosen) {
			try {
				ratios.push(...(await measure(world, contest)));
			} catch (error) {
				process.exitCode = 1;
				say(`${contest.operation} broke off: ${String(error)}`);
			}
		}
		const [worst] = [...ratios].sort(([, a], [, b]) => b - a);
		if (worst) say(`\nThe worst: ${worst[0]}, ${worst[1].toFixed(3)}`);
	} finally {
		await world.close();
	}
}

await main();
