import { rm } from 'node:fs/promises';

import { type N8nOptions, type N8nServer, startN8n } from './startN8n.ts';

export interface RestartableN8n extends N8nServer {
	readonly userFolder: string;
	/** Starts n8n again on the same user folder and port, after `stop` or `kill`. */
	restart(env?: Readonly<Record<string, string>>): Promise<void>;
	/** Stops n8n and removes its user folder. */
	remove(): Promise<void>;
}

/**
 * An n8n that keeps its user folder across restarts. `api`, `pid`, `ended` and `output` belong to the current process.
 */
export async function startRestartableN8n(options: N8nOptions): Promise<RestartableN8n> {
	const { userFolder } = options;
	let server = await startN8n(options);
	const port = Number(new URL(server.url).port);
	return {
		userFolder,
		url: server.url,
		get api() {
			return server.api;
		},
		get pid() {
			return server.pid;
		},
		get ended() {
			return server.ended;
		},
		output: () => server.output(),
		stop: () => server.stop(),
		kill: () => server.kill(),
		async restart(env) {
			server = await startN8n({ ...options, port, env: { ...options.env, ...env } });
		},
		async remove() {
			await server.stop();
			await rm(userFolder, { recursive: true, force: true });
		},
	};
}
