import { appendFileSync } from 'node:fs';

import { type RestartableN8n, startRestartableN8n } from '../../dev/n8n/startRestartableN8n.ts';
import type { N8nOptions } from '../../dev/n8n/startN8n.ts';

export interface LoggedN8n extends RestartableN8n {
	/** File with all that n8n has printed; it outlives n8n. */
	readonly log: string;
}

/** n8n's own pages, which only the browser tests open, cost a third of the start. */
export const withoutPages = { N8N_DISABLE_UI: 'true' };

export async function startLoggedN8n(options: N8nOptions): Promise<LoggedN8n> {
	const log = `${options.userFolder}.log`;
	const onOutput = (line: string) => {
		appendFileSync(log, `${line}\n`);
	};
	return Object.assign(await startRestartableN8n({ ...options, onOutput }), { log });
}

/** Tells test/reporter.ts where in n8n's log this test file begins. It shows that part if the file fails. */
export function tellReporter(log: string, from: number): void {
	console.log(`n8n's log: ${log} from ${from}`);
}
