import path from 'node:path';

import { inRow, manualTrigger, node } from '../../dev/n8n/nodes.ts';
import { benchN8n, nodeMilliseconds } from '../n8n.ts';
import type { Contest, Credentials } from './contests.ts';
import { GoogleProcess } from './googleProcess.ts';

export const latencyMilliseconds = 20;

type N8n = Awaited<ReturnType<typeof benchN8n>>;
type Step = ReturnType<typeof node>;

export interface World {
	readonly n8n: N8n;
	readonly google: GoogleProcess;
	readonly credentials: Credentials;
}

export interface Measured {
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

/**
 * Seeds the stand-in, and runs the nodes once.
 * @param itemsCode JavaScript that returns the input items, for those that do not fit into a workflow
 * @returns milliseconds for which they ran
 */
export async function run(
	{ n8n, google }: World,
	contest: Contest,
	size: number,
	steps: readonly Step[],
	measured: Measured,
	itemsCode?: string,
): Promise<number> {
	const seeded = await google.seed(contest.needs(size));
	const jsCode =
		itemsCode ?? `return ${JSON.stringify(contest.items(size, seeded))}.map((json) => ({ json }));`;
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

/** An n8n whose requests to Google go to the stand-in. */
export async function startWorld(): Promise<World & { close(): Promise<void> }> {
	const google = await GoogleProcess.start(latencyMilliseconds);
	const n8n = await benchN8n({
		env: {
			GOOGLE_STAND_IN: google.url,
			NODE_OPTIONS: `--require=${path.join(import.meta.dirname, '..', 'redirectGoogle.cjs')}`,
			EXECUTIONS_DATA_PRUNE: 'false',
		},
	});
	return {
		n8n,
		google,
		credentials: await credentialsOf(n8n),
		async close() {
			await n8n.remove();
			google.stop();
		},
	};
}
