import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';

import { freePort } from '../../dev/n8n/startN8n.ts';
import { Template } from '../../dev/n8n/template.ts';
import { onLoopback } from '../../dev/loopback.ts';
import { type LoggedN8n, startLoggedN8n, withoutPages } from './startLoggedN8n';

// A run of another version may go on beside the tests.
export const template = new Template(process.env.VERSIONS ? 'test-versions' : 'test');

/** Environment variable with the address at which test files, each in its own process, ask for an n8n that they share. */
export const sharedAt = 'TEST_N8N_AT';

/** Address of this machine that n8n's egress policy forbids in the usual n8n. */
export const forbiddenAddress = '127.0.0.2';

/** The n8ns that test files share, by name, and the environment of each. */
const environments = {
	usual: () =>
		Promise.resolve({
			// n8n's own list of forbidden addresses, and the exception that our error advises.
			N8N_SSRF_PROTECTION_ENABLED: 'true',
			N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32',
		}),
	/** For tests that look at all that it writes, and at all that it sends where no stand-in is: a test may listen at the two addresses. */
	watched: async () => {
		const proxy = `http://127.0.0.1:${await freePort()}`;
		return {
			HTTPS_PROXY: proxy,
			HTTP_PROXY: proxy,
			NO_PROXY: '127.0.0.1',
			N8N_OTEL_ENABLED: 'true',
			N8N_OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
			// Otherwise only executions that were not started in the editor.
			N8N_OTEL_TRACES_PRODUCTION_ONLY: 'false',
			N8N_LOG_LEVEL: 'debug',
			N8N_LOG_OUTPUT: 'console,file',
			N8N_EVENTBUS_LOGWRITER_KEEPLOGCOUNT: '3',
			EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'all',
			N8N_DEFAULT_BINARY_DATA_MODE: 'database',
		};
	},
} satisfies Record<string, () => Promise<Record<string, string>>>;

export type SharedName = keyof typeof environments;

export interface SharedAddress {
	readonly url: string;
	/** Cookie of the owner's sign-in. */
	readonly cookie: string;
	readonly log: string;
	readonly userFolder: string;
	readonly env: Readonly<Record<string, string>>;
}

interface Shared {
	readonly n8n: LoggedN8n;
	readonly env: Readonly<Record<string, string>>;
}

let prepared: Promise<void> | undefined;
const shared = new Map<string, Promise<Shared>>();
let server: Server | undefined;

/** Prepares the user folder with the package installed, once in a run, whichever suites ask for it. */
export default async function prepare(): Promise<void> {
	if (prepared === undefined) console.log('Building the package and installing it in n8n …');
	prepared ??= template.prepare().then(share);
	await prepared;
}

async function startShared(name: string): Promise<Shared> {
	const own = await environments[name as SharedName]();
	const env = { ...withoutPages, ...own, N8N_RESTRICT_FILE_ACCESS_TO: tmpdir() };
	return { n8n: await startLoggedN8n({ userFolder: await template.copy(), env }), env };
}

/** Serves the addresses of the shared n8ns, each of which starts when the first test file asks for it. */
async function share(): Promise<void> {
	server = createServer((request, response) => {
		const name = request.url?.slice(1) ?? '';
		const starting = shared.get(name) ?? startShared(name);
		shared.set(name, starting);
		starting.then(
			({ n8n: { url, api, log, userFolder }, env }) => {
				const address: SharedAddress = { url, cookie: api.cookie, log, userFolder, env };
				response.end(JSON.stringify(address));
			},
			(error: unknown) => response.writeHead(500).end(String(error)),
		);
	});
	process.env[sharedAt] = (await onLoopback(server)).url;
}

export async function end(): Promise<void> {
	server?.close();
	for (const starting of shared.values()) await (await starting).n8n.remove();
}
