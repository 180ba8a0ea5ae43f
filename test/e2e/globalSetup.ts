import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';

import { Template } from '../../dev/n8n/template.ts';
import { onLoopback } from '../../dev/loopback.ts';
import { type LoggedN8n, startLoggedN8n } from './startLoggedN8n';

// A run of another version may go on beside the tests.
export const template = new Template(process.env.VERSIONS ? 'test-versions' : 'test');

/** Environment variable with the address at which test files, each in its own process, ask for the n8n that they share. */
export const sharedAt = 'TEST_N8N_AT';

export interface SharedAddress {
	readonly url: string;
	/** Cookie of the owner's sign-in. */
	readonly cookie: string;
	readonly log: string;
}

let prepared: Promise<void> | undefined;
let shared: Promise<LoggedN8n> | undefined;
let server: Server | undefined;

/** Prepares the user folder with the package installed, once in a run, whichever suites ask for it. */
export default async function prepare(): Promise<void> {
	if (prepared === undefined) console.log('Building the package and installing it in n8n …');
	prepared ??= template.prepare().then(share);
	await prepared;
}

async function startShared(): Promise<LoggedN8n> {
	const env = { N8N_RESTRICT_FILE_ACCESS_TO: tmpdir() };
	return await startLoggedN8n({ userFolder: await template.copy(), env });
}

/** Serves the address of the shared n8n, which starts when the first test file asks for it. */
async function share(): Promise<void> {
	server = createServer((_request, response) => {
		shared ??= startShared();
		shared.then(
			({ url, api, log }) => {
				const address: SharedAddress = { url, cookie: api.cookie, log };
				response.end(JSON.stringify(address));
			},
			(error: unknown) => response.writeHead(500).end(String(error)),
		);
	});
	process.env[sharedAt] = (await onLoopback(server)).url;
}

export async function end(): Promise<void> {
	server?.close();
	await (await shared)?.remove();
}
