import { readFileSync, statSync } from 'node:fs';

import { N8nApi } from '../../dev/n8n/n8nApi.ts';
import type { RestartableN8n } from '../../dev/n8n/startRestartableN8n.ts';
import type { N8nOptions } from '../../dev/n8n/startN8n.ts';
import { type SharedAddress, sharedAt, template } from './globalSetup';
import { startLoggedN8n, tellReporter } from './startLoggedN8n';

export { connectInRow, items, manualTrigger, node } from '../../dev/n8n/nodes.ts';

export type TestN8n = RestartableN8n;

/** Starts a real n8n with the packed package for one test file that needs its own environment or restarts n8n. */
export async function startTestN8n(options: Partial<N8nOptions> = {}): Promise<TestN8n> {
	const userFolder = options.userFolder ?? (await template.copy());
	const n8n = await startLoggedN8n({ ...options, userFolder });
	tellReporter(n8n.log, 0);
	return n8n;
}

/** The real n8n that the other test files of a run share. */
export interface SharedN8n extends Pick<TestN8n, 'url' | 'api'> {
	/** What n8n has printed since this file asked for it, also because of other files' workflows. */
	output(): string;
	/** Leaves it to the other files. */
	remove(): Promise<void>;
}

export async function useSharedN8n(): Promise<SharedN8n> {
	const answer = await fetch(process.env[sharedAt] ?? '');
	if (!answer.ok) throw new Error(await answer.text());
	const { url, cookie, log } = (await answer.json()) as SharedAddress;
	const from = statSync(log).size;
	tellReporter(log, from);
	const output = () => readFileSync(log).subarray(from).toString('utf8');
	return { url, api: new N8nApi(url, cookie), output, remove: () => Promise.resolve() };
}
