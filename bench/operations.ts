// All operations of the Workspace node with 1, 100 and 1,000 items, compared with n8n's own nodes for the same
// work, in the same n8n and against the same stand-in.
// node bench/operations.ts [number of items …] [part of an operation's name …]
import { cpus } from 'node:os';
import path from 'node:path';

import { inRow, manualTrigger, node } from '../dev/n8n/nodes.ts';
import { say } from './channel/text.ts';
import { benchN8n, median, nodeMilliseconds, reportRatio } from './n8n.ts';
import { type Contest, contests, type Credentials } from './operations/contests.ts';
import { GoogleProcess } from './operations/googleProcess.ts';

const latencyMilliseconds = 20;
/** Measured rounds for each number of items. The first sizes also warm up the code for the last. */
const rounds: ReadonlyArray<readonly [size: number, warm: number, measured: number]> = [
	[1, 3, 9],
	[100, 1, 3],
	[1000, 0, 1],
];
const mostAtOnce = 20;
const words = process.argv.slice(2);
const isNumber = (text: string) => /^\d+$/.test(text);
/** Empty means all. */
const sizes = words.filter(isNumber).map(Number);

type N8n = Awaited<ReturnType<typeof benchN8n>>;
type Step = ReturnType<typeof node>;

interface World {
	readonly n8n: N8n;
	readonly google: GoogleProcess;
	readonly credentials: Credentials;
}

interface Measured {
	readonly milliseconds: number[];
	requests: number;
}

async function credentialsOf({ api }: N8n): Promise<Credentials> {
	const signIn = {
		clientId: 'client',
		clientSecret: 'secret',
		oauthTokenData: { access_token: 'bench', token_type: 'Bearer' },
	};
	const types = [
		'workspaceOAuth2Api',
		'gmailOAuth2',
		'googleSheetsOAuth2Api',
		'googleDocsOAuth2Api',
		'googleDriveOAuth2Api',
	];
	const entries: Array<[string, { id: string; name: string }]> = [];
	for (const type of types) {
		const more = type === 'workspaceOAuth2Api' ? { driveAccess: 'allFiles' } : {};
		entries.push([type, await api.createCredential(type, type, { ...signIn, ...more })]);
	}
	return Object.fromEntries(entries);
}

/** Seeds the stand-in, and runs the nodes once. @returns milliseconds for which they ran */
async function run(
	{ n8n, google }: World,
	contest: Contest,
	size: number,
	steps: readonly Step[],
	measured: Measured,
): Promise<number> {
	const seeded = await google.seed(contest.needs(size));
	const items = contest.items(size, seeded);
	const jsCode = `return ${JSON.stringify(items)}.map((json) => ({ json }));`;
	const input = node('Items', 'n8n-nodes-base.code', { jsCode }, { typeVersion: 2 });
	const nodes = [manualTrigger(), input, ...steps];
	const name = `${contest.operation}, ${size}`;
	const connections = inRow(...nodes.map((one) => one.name));
	const stored = await n8n.api.createWorkflow({ name, nodes, connections });
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 300_000);
	const { runData, error } = execution.resultData;
	const got = runData.Step?.at(-1)?.data?.main?.[0]?.length;
	if (execution.status !== 'success' || got !== contest.returns(size)) {
		const { message = execution.status, description = '' } = error ?? {};
		throw new Error(`${name}, ${String(steps[0]?.type)}: ${String(got)} items; ${message} ${description}`);
	}
	measured.requests = await google.requests();
	return steps.reduce((sum, step) => sum + nodeMilliseconds(runData, step.name), 0);
}

async function measure(world: World, contest: Contest): Promise<Array<readonly [string, number]>> {
	const { credentials } = world;
	const { workspaceOAuth2Api } = credentials;
	const ratios: Array<readonly [string, number]> = [];
	for (const [size, warm, count] of rounds.filter(([one]) => sizes.length === 0 || sizes.includes(one))) {
		const type = 'n8n-nodes-agent-workspace.workspace';
		const ours = [node('Step', type, contest.ours(size), { credentials: { workspaceOAuth2Api } })];
		const theirs = contest.theirs(size, credentials);
		const sides = [
			{ steps: theirs, milliseconds: [] as number[], requests: 0 },
			{ steps: ours, milliseconds: [] as number[], requests: 0 },
		] as const;
		for (let round = -warm; round < count; round++) {
			// Each side is the first as often as the other.
			for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
				const milliseconds = await run(world, contest, size, side.steps, side);
				if (round >= 0) side.milliseconds.push(milliseconds);
			}
		}
		const [their, our] = sides.map((side) => median(side.milliseconds));
		const [theirSide, ourSide] = sides;
		const name = `${contest.operation}, ${size}`;
		// What the latency alone takes, if as many requests run at once as Google accepts.
		const floor = Math.ceil(ourSide.requests / (size === 1 ? 1 : mostAtOnce)) * latencyMilliseconds;
		say(
			`${name.padEnd(44)} ${tell(our)} (${ourSide.requests} requests, latency ${floor} ms); ${contest.rival} ${tell(their)} (${theirSide.requests} requests)`,
		);
		const ratio = (our ?? NaN) / (their ?? NaN);
		reportRatio(`${name}: time / ${contest.rival}`, ratio, { atMost: 1.1 });
		ratios.push([name, ratio]);
	}
	return ratios;
}

const tell = (milliseconds = NaN) => `${milliseconds.toFixed(0)} ms`;

async function main(): Promise<void> {
	const wanted = words.filter((text) => !isNumber(text)).map((text) => text.toLowerCase());
	const chosen = contests.filter(
		({ operation }) => wanted.length === 0 || wanted.some((text) => operation.toLowerCase().includes(text)),
	);
	const google = await GoogleProcess.start(latencyMilliseconds);
	const n8n = await benchN8n({
		env: {
			GOOGLE_STAND_IN: google.url,
			NODE_OPTIONS: `--require=${path.join(import.meta.dirname, 'redirectGoogle.cjs')}`,
			EXECUTIONS_DATA_PRUNE: 'false',
		},
	});
	try {
		say(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${latencyMilliseconds} ms latency\n`,
		);
		const world: World = { n8n, google, credentials: await credentialsOf(n8n) };
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
		await n8n.remove();
		google.stop();
	}
}

await main();
