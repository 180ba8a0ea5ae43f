import { readFileSync, statSync } from 'node:fs';

import { N8nApi } from '../../dev/n8n/n8nApi.ts';
import type { RestartableN8n } from '../../dev/n8n/startRestartableN8n.ts';
import type { N8nOptions } from '../../dev/n8n/startN8n.ts';
import { type SharedAddress, sharedAt, type SharedName, template } from './globalSetup';
import { startLoggedN8n, tellReporter, withoutPages } from './startLoggedN8n';

export { connectInRow, items, manualTrigger, node } from '../../dev/n8n/nodes.ts';

export type TestN8n = RestartableN8n;

/** Without the process that runs Code nodes, for tests that have none: a tenth of the start. */
export const withoutCode = { N8N_RUNNERS_MODE: 'external', N8N_RUNNERS_AUTH_TOKEN: 'none' };

/** Starts a real n8n with the packed package for one test file that needs its own environment or restarts n8n. */
export async function startTestN8n(options: Partial<N8nOptions> = {}): Promise<TestN8n> {
	const userFolder = options.userFolder ?? (await template.copy());
	const env = { ...withoutPages, ...options.env };
	const n8n = await startLoggedN8n({ ...options, userFolder, env });
	tellReporter(n8n.log, 0);
	return n8n;
}

/** A real n8n that the test files of a run share. */
export interface SharedN8n extends Pick<TestN8n, 'url' | 'api'> {
	/** What n8n has printed since this file asked for it, also because of other files' workflows. */
	output(): string;
	/** Leaves it to the other files. */
	remove(): Promise<void>;
}

/** One whose folder and environment a test looks at, too. */
export type WatchedN8n = SharedN8n & Pick<SharedAddress, 'userFolder' | 'env'>;

export async function useSharedN8n(name: SharedName = 'usual'): Promise<WatchedN8n> {
	const answer = await fetch(`${process.env[sharedAt]}/${name}`);
	if (!answer.ok) throw new Error(await answer.text());
	const { url, cookie, log, userFolder, env } = (await answer.json()) as SharedAddress;
	const from = statSync(log).size;
	tellReporter(log, from);
	return {
		url,
		api: new N8nApi(url, cookie),
		userFolder,
		env,
		output: () => readFileSync(log).subarray(from).toString('utf8'),
		remove: () => Promise.resolve(),
	};
}
