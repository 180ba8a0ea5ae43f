import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';

import { buildSignInSettings } from '../google/signInRelay.ts';
import { MessageOnlyError } from './command.ts';
import { ensureN8nInstalled } from './installN8n.ts';
import { N8nApi } from './n8nApi.ts';

export interface N8nOptions {
	/** Parent of `.n8n`; created if missing. */
	readonly userFolder: string;
	/** Default: a free port. */
	readonly port?: number;
	readonly env?: Readonly<Record<string, string>>;
	/** `start` (default) or `worker`. */
	readonly command?: readonly string[];
	/**
	 * Runs n8n in its own process group: Ctrl-C in the terminal reaches only the program that started it, and
	 * processes started by n8n are ended with it.
	 */
	readonly ownGroup?: boolean;
	/** Milliseconds from SIGTERM to SIGKILL; 35,000 by default (n8n allows itself 30 s). */
	readonly patienceMilliseconds?: number;
	/** Receives the means to end the process as soon as it exists. */
	readonly onSpawn?: (ending: Pick<N8nServer, 'stop' | 'kill'>) => void;
	/** Called with each line that n8n prints. */
	readonly onOutput?: (line: string) => void;
}

/** A running n8n, signed in as its owner. */
export interface N8nServer {
	readonly url: string;
	readonly api: N8nApi;
	readonly pid: number;
	/** Everything that n8n has printed so far. */
	output(): string;
	/** Resolves when the process is gone, whoever ended it. */
	readonly ended: Promise<void>;
	/** Sends SIGTERM, then SIGKILL. */
	stop(): Promise<void>;
	/** Sends SIGKILL. */
	kill(): Promise<void>;
}

/** Settings without telemetry, update checks and remote texts; n8n listens on loopback only. */
const quietSettings = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_SECURE_COOKIE: 'false',
	// The process that runs Code nodes keeps running, instead of ending after 15 s and starting anew for the next one.
	N8N_RUNNERS_AUTO_SHUTDOWN_TIMEOUT: '0',
	// A busy machine needs more time than n8n allows: seconds until that process has started, has taken a task and has given a sign of life,
	// and milliseconds until the database answers, without which n8n refuses every request.
	N8N_RUNNERS_GRANT_TOKEN_TTL: '900',
	N8N_RUNNERS_TASK_REQUEST_TIMEOUT: '900',
	N8N_RUNNERS_HEARTBEAT_INTERVAL: '300',
	DB_PING_TIMEOUT_MS: '300000',
	EXTERNAL_FRONTEND_HOOKS_URLS: '',
	NO_COLOR: '1',
	// jest's own value would make n8n exit silently.
	NODE_ENV: 'production',
};

/** Finds a free port, which no other process that calls this takes before n8n listens on it. */
export async function freePort(): Promise<number> {
	const { value } = await ports.next();
	return value;
}

const ports = findPorts();
const portsPerRange = 50;

/** Yields free ports of a range that belongs to this process. They are below 32768, because the system may take any port above for a connection. */
async function* findPorts(): AsyncGenerator<number, never> {
	for (;;) {
		const firstPort = 10_000 + randomInt(440) * portsPerRange;
		// The range is this process's own as long as it listens on the first port.
		const claim = await listenOn(firstPort);
		if (!claim) continue;
		claim.unref();
		for (let port = firstPort + 1; port < firstPort + portsPerRange; port++) {
			const probe = await listenOn(port);
			if (!probe) continue;
			await new Promise((resolve) => probe.close(resolve));
			yield port;
		}
	}
}

/** Returns undefined if somebody else listens on the port. */
async function listenOn(port: number): Promise<Server | undefined> {
	const server = createServer();
	return await new Promise((resolve) => {
		server.once('error', () => {
			resolve(undefined);
		});
		server.listen(port, '127.0.0.1', () => {
			resolve(server);
		});
	});
}

/** Starts the pinned n8n and waits until it answers. @throws MessageOnlyError if it exits before that */
export async function startN8n(options: N8nOptions): Promise<N8nServer> {
	const { child, output, port } = await spawnN8n(options);
	const ending = {
		stop: () => endProcess(child, 'SIGTERM', options),
		kill: () => endProcess(child, 'SIGKILL', options),
	};
	options.onSpawn?.(ending);
	const ended = new Promise<void>((resolve) => {
		child.once('close', () => {
			resolve();
		});
	});
	const url = `http://127.0.0.1:${port}`;
	await untilReady(`${url}/healthz/readiness`, child, output);
	// n8n 2.0 says that it is ready before it knows the addresses of its REST API.
	await untilReady(`${url}/rest/options/timezones`, child, output);
	const api = await N8nApi.signIn(url).catch(async (error: unknown) => {
		await ending.kill();
		throw error;
	});
	return {
		url,
		api,
		pid: child.pid ?? -1,
		output,
		ended,
		...ending,
	};
}

export interface SpawnedN8n {
	readonly child: ChildProcess;
	readonly port: number;
	readonly output: () => string;
}

/** Spawns n8n without waiting, for workers and for starts that are to be observed. */
export async function spawnN8n(options: N8nOptions): Promise<SpawnedN8n> {
	const host = await ensureN8nInstalled();
	await mkdir(options.userFolder, { recursive: true });
	const port = options.port ?? (await freePort());
	const brokerPort = await freePort();
	const signInSettings = await buildSignInSettings();
	const command = [
		path.join(host, 'node_modules', 'n8n', 'bin', 'n8n'),
		...(options.command ?? ['start']),
	];
	const child = spawn(process.execPath, command, {
		cwd: options.userFolder,
		env: {
			...withoutNpm(process.env),
			...quietSettings,
			N8N_PORT: String(port),
			N8N_RUNNERS_BROKER_PORT: String(brokerPort),
			N8N_USER_FOLDER: options.userFolder,
			// Saves each start a tenth of its time.
			NODE_COMPILE_CACHE: path.join(host, 'node_modules', '.cache', 'compiled'),
			...signInSettings,
			...options.env,
		},
		stdio: ['ignore', 'pipe', 'pipe'],
		detached: options.ownGroup === true,
	});
	let printed = '';
	const collect = (data: Buffer) => {
		const text = data.toString();
		printed += text;
		for (const line of text.split('\n')) if (line) options.onOutput?.(line);
	};
	child.stdout.on('data', collect);
	child.stderr.on('data', collect);
	return { child, port, output: () => printed };
}

/** npm passes its settings to scripts as variables. n8n's own npm calls must not see them. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	return Object.fromEntries(
		Object.entries(env).filter(([name]) => !name.startsWith('npm_') && name !== 'NODE_OPTIONS'),
	);
}

/** Seconds that n8n may take to start, far more than a busy machine needs. This only ends what hangs, because an n8n that exits is noticed at once. */
const startSeconds = 900;

async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
	const deadline = Date.now() + startSeconds * 1000;
	for (;;) {
		if (hasEnded(child))
			throw new MessageOnlyError(`n8n ended while it started. It printed:\n${output()}`);
		if (Date.now() > deadline) {
			await endProcess(child, 'SIGKILL');
			throw new MessageOnlyError(
				`n8n did not answer within ${startSeconds} s. It printed:\n${output()}`,
			);
		}
		const answer = await fetch(url).catch(() => undefined);
		if (answer?.ok) return;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

async function endProcess(
	child: ChildProcess,
	signal: NodeJS.Signals,
	{
		ownGroup,
		patienceMilliseconds = 35_000,
	}: Pick<N8nOptions, 'ownGroup' | 'patienceMilliseconds'> = {},
): Promise<void> {
	const send = (which: NodeJS.Signals) => {
		if (ownGroup) signalGroup(child, which);
		else child.kill(which);
	};
	if (!hasEnded(child)) {
		const ended = new Promise((resolve) => child.once('close', resolve));
		child.kill(signal);
		const last = setTimeout(() => {
			send('SIGKILL');
		}, patienceMilliseconds);
		await ended;
		clearTimeout(last);
	}
	if (ownGroup) signalGroup(child, 'SIGKILL');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
	return exitCode !== null || signalCode !== null;
}

/** An empty process group is the desired result, so that error is ignored. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, signal);
	} catch (error) {
		if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
	}
}
