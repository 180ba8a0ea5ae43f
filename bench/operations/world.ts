import { connectInRow, manualTrigger, node } from '../../dev/n8n/nodes.ts';
import type { Execution } from '../../dev/n8n/n8nApi.ts';
import { GoogleProcess } from '../google.ts';
import {
	benchN8n,
	createCredentials,
	googleSignIn,
	readMilliseconds,
	redirectTo,
	type Credentials,
} from '../n8n.ts';
import type { Contest, Step } from './contest.ts';

export const latencyMilliseconds = 20;

type N8n = Awaited<ReturnType<typeof benchN8n>>;

export interface World {
	readonly n8n: N8n;
	readonly google: GoogleProcess;
	readonly credentials: Credentials;
}

/** What one of the two sides of a contest took. */
export interface Side {
	readonly steps: readonly Step[];
	readonly milliseconds: number[];
	requests: number;
}

/** Credentials of all five nodes, which hold the same sign-in. */
export async function createSignIns({ api }: N8n): Promise<Credentials> {
	return await createCredentials(api, {
		workspaceOAuth2Api: { ...googleSignIn, driveAccess: 'allFiles' },
		gmailOAuth2: googleSignIn,
		googleSheetsOAuth2Api: googleSignIn,
		googleDocsOAuth2Api: googleSignIn,
		googleDriveOAuth2Api: googleSignIn,
	});
}

export function createStep(contest: Contest, size: number, { workspaceOAuth2Api }: Credentials): Step {
	const more = { credentials: { workspaceOAuth2Api } };
	return node('Step', 'n8n-nodes-agent-workspace.workspace', contest.ours(size), more);
}

/** Runs nodes once, behind one that makes the items. @param input JavaScript of an array */
export async function execute({ n8n }: World, name: string, input: string, steps: readonly Step[]) {
	const jsCode = `return (${input}).map((json) => ({ json }));`;
	const items = node('Items', 'n8n-nodes-base.code', { jsCode }, { typeVersion: 2 });
	const nodes = [manualTrigger(), items, ...steps];
	const connections = connectInRow(...nodes.map((one) => one.name));
	const stored = await n8n.api.createWorkflow({ name, nodes, connections });
	return await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 300_000);
}

/** Seeds the stand-in, runs the nodes once, and counts their requests. @returns milliseconds for which they ran */
export async function run(world: World, contest: Contest, size: number, side: Side): Promise<number> {
	const { needs = () => ({}), input = makeNumbers } = contest;
	const seeded = await world.google.seed(needs(size));
	const name = `${contest.operation}, ${size}, ${String(side.steps[0]?.type)}`;
	const execution: Execution = await execute(world, name, input(size, seeded), side.steps);
	side.requests = (await world.google.count()).requests;
	const names = side.steps.map((step) => step.name);
	return readMilliseconds(name, execution, names, size);
}

const makeNumbers = (size: number) => `Array.from({ length: ${size} }, (_, n) => ({ n }))`;

/** An n8n whose requests to Google go to the stand-in. */
export async function startWorld(): Promise<World & { close(): Promise<void> }> {
	const google = await GoogleProcess.start({ latencyMilliseconds });
	const n8n = await benchN8n({ env: { ...redirectTo(google.url), EXECUTIONS_DATA_PRUNE: 'false' } });
	const close = async () => {
		await n8n.remove();
		google.stop();
	};
	return { n8n, google, credentials: await createSignIns(n8n), close };
}
