import { type RestartableN8n, startRestartableN8n } from '../../dev/n8n/restartable.ts';
import type { N8nOptions } from '../../dev/n8n/server.ts';
import { template } from './globalSetup';

export { inRow, items, manualTrigger, node } from '../../dev/n8n/nodes.ts';

export type TestN8n = RestartableN8n;

/** The real n8n with the packed package installed, on a user folder of its own. */
export async function startTestN8n(options: Partial<N8nOptions> = {}): Promise<TestN8n> {
	return await startRestartableN8n({
		...options,
		userFolder: options.userFolder ?? (await template.copy()),
	});
}
