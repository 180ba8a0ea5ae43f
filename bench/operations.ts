// All operations of the Workspace node with 1, 100 and 1,000 items, compared with n8n's own nodes for the same work. With `growth`:
// time per item of 1,000 and of 100,000 items, of those operations that need few requests. With `quota`: lists of emails over Gmail's own quota.
// node bench/operations.ts [growth | quota] [number of items …] [part of an operation's name …]

import { type Contest, usualTarget } from './operations/contest.ts';
import { documents, files } from './operations/drive.ts';
import { listOverQuota, mails } from './operations/mail.ts';
import { spreadsheets } from './operations/spreadsheet.ts';
import { latencyMilliseconds, run, type Side, startWorld, type World } from './operations/world.ts';
import { describeHost, type Step, workspaceStep } from './n8n.ts';
import { figure, middleMean, reportRatio, say } from './report.ts';

/**
 * How many rounds a number of items takes, and how many are enough where the ratio is far from what is allowed. The first sizes also
 * warm up the code for the last.
 */
interface Plan {
	readonly size: number;
	readonly warm: number;
	readonly rounds: number;
	readonly few: number;
}

const usual: readonly Plan[] = [
	{ size: 1, warm: 5, rounds: 45, few: 8 },
	{ size: 100, warm: 1, rounds: 15, few: 2 },
	{ size: 1000, warm: 1, rounds: 21, few: 5 },
];
const growth: readonly Plan[] = [
	{ size: 1000, warm: 1, rounds: 3, few: 3 },
	{ size: 100_000, warm: 0, rounds: 1, few: 1 },
];
const farFromLimit = 0.93;
const mostAtOnce = 20;

const words = process.argv.slice(2).map((text) => text.toLowerCase());
const isNumber = (text: string) => /^\d+$/.test(text);
/** Empty means all. */
const sizes = words.filter(isNumber).map(Number);
const isChosen = ({ size }: Plan, contest?: Contest) =>
	(sizes.length === 0 || sizes.includes(size)) && (contest?.sizes?.includes(size) ?? true);

interface Result {
	readonly name: string;
	readonly theirs: Side;
	readonly ours: Side;
	readonly ratio: number;
}

/** @param mayFail whether the rival is only told to have failed, as n8n's nodes do with very many items */
async function race(world: World, contest: Contest, plan: Plan, mayFail = false): Promise<Result> {
	const { size, warm, rounds, few } = plan;
	const atMost = contest.atMost?.(size) ?? usualTarget;
	const begin = (steps: readonly Step[]): Side => ({ steps, milliseconds: [], requests: 0 });
	const ours = begin([workspaceStep(contest.ours(size), world.credentials)]);
	const theirs = begin(contest.theirs(size)(world.credentials));
	const readRatio = () => middleMean(ours.milliseconds) / middleMean(theirs.milliseconds);
	for (let round = -warm; round < rounds; round++) {
		if (round >= few && readRatio() < farFromLimit * atMost) break;
		// Then a round takes seconds, or a minute, in which a millisecond decides nothing.
		if (round > 0 && size >= 100 && theirs.requests >= size) break;
		// Each side is the first as often as the other.
		for (const side of round % 2 === 0 ? [theirs, ours] : [ours, theirs]) {
			const milliseconds = await run(world, contest, size, side).catch((error: unknown) => {
				if (!mayFail || side === ours) throw error;
				say(`${contest.rival} fails: ${String(error)}`);
				return NaN;
			});
			if (round >= 0) side.milliseconds.push(milliseconds);
		}
	}
	return { name: `${contest.operation}, ${size}`, theirs, ours, ratio: readRatio() };
}

/** Compares with n8n's own node. @returns the ratios by name */
async function compare(world: World, contest: Contest): Promise<Result[]> {
	const results: Result[] = [];
	for (const plan of usual.filter((one) => isChosen(one, contest))) {
		const result = await race(world, contest, plan);
		const { name, theirs, ours, ratio } = result;
		// What the latency alone takes, if as many requests run at once as Google accepts.
		const floor =
			Math.ceil(ours.requests / (plan.size === 1 ? 1 : mostAtOnce)) * latencyMilliseconds;
		say(
			`${name.padEnd(44)} ${tell(ours)}, latency ${floor} ms; ${contest.rival} ${tell(theirs)}`,
		);
		reportRatio(`${name}: time / ${contest.rival}`, ratio, {
			atMost: contest.atMost?.(plan.size) ?? usualTarget,
		});
		if (contest.requests !== undefined)
			reportRatio(`${name}: requests`, ours.requests, { atMost: contest.requests });
		results.push(result);
		// Where each item is a request of its own, more of them show what these have shown.
		if (sizes.length === 0 && theirs.requests >= plan.size && plan.size > 1) break;
	}
	return results;
}

/** Compares the time per item of many items with that of 1,000. */
async function grow(world: World, contest: Contest): Promise<void> {
	const results: Array<Result & { readonly size: number }> = [];
	for (const plan of growth.filter((one) => isChosen(one))) {
		const { size } = plan;
		const result = await race(world, contest, plan, true);
		const perItem = (side: Side) =>
			`${((middleMean(side.milliseconds) / size) * 1000).toFixed(1)} µs per item`;
		const { ours, theirs } = result;
		say(
			`${result.name.padEnd(36)} ${tell(ours)}, ${perItem(ours)}; ${contest.rival} ${tell(theirs)}, ${perItem(theirs)}`,
		);
		results.push({ ...result, size });
	}
	const [first, last] = [results.find(({ size }) => size >= 1000), results.at(-1)];
	if (!first || !last) return;
	const readGrowth = (side: 'ours' | 'theirs') =>
		middleMean(last[side].milliseconds) /
		last.size /
		(middleMean(first[side].milliseconds) / first.size);
	const name = `${contest.operation}: time per item, ${last.size} items / ${first.size}`;
	reportRatio(name, readGrowth('ours'), { atMost: 1.25 });
	const theirs = readGrowth('theirs');
	figure(`the same of ${contest.rival}`, Number.isNaN(theirs) ? 'fails' : theirs.toFixed(3));
}

function tell({ milliseconds, requests }: Side): string {
	const mean = middleMean(milliseconds);
	if (Number.isNaN(mean)) return 'fails';
	return `${mean < 1000 ? mean.toPrecision(3) : mean.toFixed(0)} ms (${requests} requests)`;
}

async function compareAll(world: World, chosen: readonly Contest[]): Promise<void> {
	const results: Result[] = [];
	for (const contest of chosen) {
		try {
			results.push(...(await compare(world, contest)));
		} catch (error) {
			process.exitCode = 1;
			say(`${contest.operation} broke off: ${String(error)}`);
		}
	}
	const [worst] = results.sort((a, b) => b.ratio - a.ratio);
	if (worst) say(`\nThe worst: ${worst.name}, ${worst.ratio.toFixed(3)}`);
}

async function main(): Promise<void> {
	const modes = ['growth', 'quota'];
	const wanted = words.filter((text) => !isNumber(text) && !modes.includes(text));
	const chosen = [...mails, ...spreadsheets, ...documents, ...files].filter(
		({ operation }) =>
			wanted.length === 0 || wanted.some((text) => operation.toLowerCase().includes(text)),
	);
	const world = await startWorld();
	try {
		say(`${await describeHost()}; ${latencyMilliseconds} ms latency\n`);
		if (words.includes('growth')) {
			for (const contest of chosen) if (contest.grows === true) await grow(world, contest);
		} else if (words.includes('quota')) await listOverQuota(world);
		else await compareAll(world, chosen);
	} finally {
		await world.close();
	}
}

await main();
