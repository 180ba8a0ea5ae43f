import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { freePort } from '../../dev/n8n/startN8n.ts';
import prepare, { template } from '../e2e/globalSetup';
import { startLoggedN8n } from '../e2e/startLoggedN8n';
import { handOver } from './browserSuite';
import { openBrowser, signIn } from './chromium';

let stop: (() => Promise<void>) | undefined;

/** One n8n and one Chromium for all files of the suite. */
export default async function start(): Promise<void> {
	await prepare();
	const n8nPort = await freePort();
	// Google's sign-in comes back to the address that is open in the browser, and so keeps the session.
	const address = `http://127.0.0.1:${n8nPort}`;
	// With two origins, n8n's chat shows no buttons for a human review.
	const env = { N8N_EDITOR_BASE_URL: address, N8N_WEBHOOK_URL: address };
	const n8n = await startLoggedN8n({ userFolder: await template.copy(), port: n8nPort, env });
	const profile = await mkdtemp(path.join(tmpdir(), 'chromium-'));
	const port = await freePort();
	const context = await openBrowser(profile, port);
	stop = async () => {
		await context.close();
		await rm(profile, { recursive: true, force: true });
		await n8n.remove();
	};
	await signIn(context, n8n.url);
	handOver({ n8nUrl: n8n.url, log: n8n.log, debuggingUrl: `http://127.0.0.1:${port}` });
}

export async function end(): Promise<void> {
	await stop?.();
}
