import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

import type { HostFiles } from './olderHosts.ts';

/** What npm is asked for, so that it installs exactly what the lock file says. */
export const installFromLock = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];

/** A folder in the user's cache folder, keyed by a lock file, so that every checkout shares it. */
export function getCacheFolder(name: string, lock: string): string {
	const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
	const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
	return path.join(cache, 'n8n-nodes-agent-workspace', `${name}-${key}`);
}

/** Written last, so that a folder without it is not complete. */
const readyFile = (folder: string) => path.join(folder, '.ready');

export const isInstalled = (folder: string): boolean => existsSync(readyFile(folder));

/**
 * Puts npm's two files into a folder beside the wanted one, lets `install` do the rest there, and moves it: several processes may do so
 * at once.
 */
export async function installOnce(
	folder: string,
	{ manifest, lock }: HostFiles,
	install: (partial: string) => Promise<void>,
): Promise<void> {
	const partial = `${folder}.partial-${process.pid}`;
	await mkdir(partial, { recursive: true });
	try {
		await writeFile(path.join(partial, 'package.json'), manifest);
		await writeFile(path.join(partial, 'package-lock.json'), lock);
		await install(partial);
		await writeFile(readyFile(partial), new Date().toISOString());
		if (!isInstalled(folder)) {
			await rm(folder, { recursive: true, force: true });
			await rename(partial, folder);
		}
	} finally {
		await rm(partial, { recursive: true, force: true });
	}
}
