// Redis and PostgreSQL for n8n's queue mode: from Debian's packages, on free ports of loopback, in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from './command.ts';
import { freePort } from './startN8n.ts';

export interface QueueServices {
	/** What every n8n process of the queue needs. */
	readonly env: Readonly<Record<string, string>>;
	/** Stops Redis, which stores nothing, and starts it again without its data. */
	emptyRedis(): Promise<void>;
	stop(): Promise<void>;
}

export async function startQueueServices(): Promise<QueueServices> {
	let redis = await startRedis(await freePort());
	const database = await startDatabase();
	return {
		env: {
			EXECUTIONS_MODE: 'queue',
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			N8N_ENCRYPTION_KEY: 'queue-test-encryption-key',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			...database.env,
		},
		async emptyRedis() {
			await redis.stop();
			redis = await startRedis(redis.port);
		},
		async stop() {
			await redis.stop();
			await database.stop();
		},
	};
}

/** Starts an empty PostgreSQL, with the settings of an n8n that keeps its data there. */
export async function startDatabase() {
	const postgres = await startPostgres();
	return {
		env: {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres.port),
			DB_POSTGRESDB_USER: 'n8n',
			DB_POSTGRESDB_PASSWORD: '',
			DB_POSTGRESDB_DATABASE: 'postgres',
		},
		stop: () => postgres.stop(),
	};
}

interface Service {
	readonly port: number;
	stop(): Promise<void>;
}

async function startRedis(port: number): Promise<Service> {
	const place = ['--port', String(port), '--bind', '127.0.0.1'];
	const child = spawn('redis-server', [...place, '--save', '', '--appendonly', 'no']);
	await printed(child, /Ready to accept connections/);
	return { port, stop: () => ended(child) };
}

async function startPostgres(): Promise<Service> {
	const port = await freePort();
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-queue-postgres-'));
	const user = unprivileged();
	if (user) chownSync(folder, user.uid, user.gid);
	const bin = postgresFolder();
	const data = path.join(folder, 'data');
	const as = { cwd: folder, env: process.env, ...user };
	const owner = ['-U', 'n8n', '--auth=trust'];
	await runCommand(path.join(bin, 'initdb'), ['-D', data, ...owner, '--no-sync'], as);
	const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'];
	const place = ['-D', data, '-p', String(port), '-k', folder];
	const child = spawn(path.join(bin, 'postgres'), [...place, ...settings], as);
	await printed(child, /ready to accept connections/);
	return {
		port,
		async stop() {
			await ended(child);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** Returns the system user that Debian's package makes, because PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const entry = readFileSync('/etc/passwd', 'utf8')
		.split('\n')
		.find((line) => line.startsWith('postgres:'));
	const [, , uid, gid] = entry?.split(':') ?? [];
	if (!uid || !gid)
		throw new Error('There is no user postgres, and PostgreSQL does not run as root');
	return { uid: Number(uid), gid: Number(gid) };
}

const postgresBase = '/usr/lib/postgresql';

/** Debian does not put PostgreSQL's server programs on the PATH. @returns their folders, newest version first */
export function listPostgresFolders(): string[] {
	const versions = existsSync(postgresBase) ? readdirSync(postgresBase) : [];
	return versions
		.sort((a, b) => Number(b) - Number(a))
		.map((version) => path.join(postgresBase, version, 'bin'));
}

function postgresFolder(): string {
	const folder = listPostgresFolders().find((bin) => existsSync(path.join(bin, 'initdb')));
	if (!folder) throw new Error(`PostgreSQL is not below ${postgresBase}`);
	return folder;
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<void> {
	let output = '';
	await new Promise<void>((resolve, reject) => {
		const collect = (data: Buffer) => {
			output += data.toString();
			if (pattern.test(output)) resolve();
		};
		child.stdout?.on('data', collect);
		child.stderr?.on('data', collect);
		child.once('error', reject);
		child.once('close', () => {
			reject(new Error(`It ended: ${output}`));
		});
	});
}

async function ended(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const closed = new Promise((resolve) => child.once('close', resolve));
	// This is PostgreSQL's signal for a fast shutdown. Redis ends on it, too.
	child.kill('SIGINT');
	await closed;
}
