import type { N8nApi } from '../../dev/n8n/n8nApi.ts';
import type { RestartableN8n } from '../../dev/n8n/startRestartableN8n.ts';
import { GoogleProcess } from '../google.ts';
import {
	benchN8n,
	createCredentials,
	createRun,
	googleSignIn,
	readMilliseconds,
	redirectTo,
	type Credentials,
	type Step,
} from '../n8n.ts';
import type { Contest } from './contest.ts';

export const latencyMilliseconds = 20;

export interface World {
	readonly n8n: RestartableN8n;
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
export async function createSignIns(api: N8nApi): Promise<Credentials> {
	return await createCredentials(api, {
		workspaceOAuth2Api: { ...googleSignIn, driveAccess: 'allFiles' },
		gmailOAuth2: googleSignIn,
		googleSheetsOAuth2Api: googleSignIn,
		googleDocsOAuth2Api: googleSignIn,
		googleDriveOAuth2Api: googleSignIn,
	});
}

/** Seeds the stand-in, runs the nodes once, and counts their requests. @returns milliseconds for which they ran */
export async function run({ n8n, google }: World, contest: Contest, size: number, side: Side) {
	const { needs = () => ({}), input = makeNumbers } = contest;
	const seeded = await google.seed(needs(size));
	const name = `${contest.operation}, ${size}, ${String(side.steps[0]?.type)}`;
	const execution = await n8n.api.run(
		await createRun(n8n.api, name, input(size, seeded), side.steps),
	);
	side.requests = (await google.count()).requests;
	const names = side.steps.map((step) => step.name);
	return readMilliseconds(name, execution, names, size);
}

const makeNumbers = (size: number) => `Array.from({ length: ${size} }, (_, n) => ({ n }))`;

/**
 * An n8n whose requests to Google go to the stand-in.
 * @param settings further variables of n8n
 */
export async function startWorld(
	settings: Readonly<Record<string, string>> = {},
): Promise<World & { close(): Promise<void> }> {
	const google = await GoogleProcess.start({ latencyMilliseconds });
	const n8n = await benchN8n({
		env: { ...redirectTo(google.url), EXECUTIONS_DATA_PRUNE: 'false', ...settings },
	});
	const close = async () => {
		await n8n.remove();
		google.stop();
	};
	return { n8n, google, credentials: await createSignIns(n8n.api), close };
}
