import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';

import { runCommand, MessageOnlyError } from './command.ts';
import { getCacheFolder, installFromLock, installOnce, isInstalled } from './installOnce.ts';
import { type HostFiles, getOlderHostFiles, listOlderVersions } from './olderHosts.ts';

export const root = path.join(import.meta.dirname, '..', '..');
const newest = path.join(import.meta.dirname, 'host');

/** The version of the package in a folder. */
export function readVersion(folder: string): string {
	const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
	return (JSON.parse(text) as { version: string }).version;
}

interface Manifest {
	readonly dependencies: { readonly n8n: string };
}

function newestVersion(): string {
	const text = readFileSync(path.join(newest, 'package.json'), 'utf8');
	return (JSON.parse(text) as Manifest).dependencies.n8n;
}

/** Lists all versions of n8n that have a lock file here, oldest first. */
export function listPinnedVersions(): string[] {
	return [...listOlderVersions(), newestVersion()];
}

/** The n8n that runs: the newest pinned one, or `N8N_HOST_VERSION`. @throws MessageOnlyError for one without a lock file */
export function getN8nVersion(): string {
	const wanted = process.env.N8N_HOST_VERSION || newestVersion();
	const known = listPinnedVersions();
	if (!known.includes(wanted))
		throw new MessageOnlyError(`n8n ${wanted} is not pinned here; ${joinWithAnd(known)} are.`);
	return wanted;
}

/** What npm needs to install the n8n that runs. */
function getHostFiles(): HostFiles {
	const version = getN8nVersion();
	if (version !== newestVersion()) return getOlderHostFiles(version);
	const read = (name: string) => readFileSync(path.join(newest, name), 'utf8');
	return { manifest: read('package.json'), lock: read('package-lock.json') };
}

/**
 * The folder in which the n8n that runs is installed: the user's cache folder, keyed by its lock file, so that every checkout shares it.
 * `N8N_HOST_DIR` overrides.
 */
export function getN8nFolder(): string {
	if (process.env.N8N_HOST_DIR) return path.resolve(process.env.N8N_HOST_DIR);
	return getCacheFolder('n8n', getHostFiles().lock);
}

/** Installs the n8n that runs unless it is there. @returns its folder. @throws MessageOnlyError when the machine lacks something */
export async function ensureN8nInstalled(
	say: (text: string) => void = console.log,
): Promise<string> {
	const folder = getN8nFolder();
	if (isInstalled(folder)) return folder;

	await checkTools();
	const began = Date.now();
	await installOnce(folder, getHostFiles(), async (partial) => {
		await cp(path.join(newest, '.npmrc'), path.join(partial, '.npmrc'));
		say(
			`Installing n8n ${getN8nVersion()} for development (once, about 3 minutes, 2.2 GB) into ${folder}`,
		);
		await step(say, 'downloading about 2,000 packages', partial, installFromLock);
		const rebuild = ['rebuild', 'sqlite3', '--ignore-scripts=false'];
		await step(say, 'building the database driver', partial, rebuild);
	});
	say(`n8n is installed (${seconds(began)} s).`);
	return folder;
}

async function step(
	say: (text: string) => void,
	title: string,
	cwd: string,
	args: string[],
): Promise<void> {
	const began = Date.now();
	say(`  ${title} …`);
	const ticker = setInterval(() => {
		say(`  ${title}: ${seconds(began)} s`);
	}, 15_000);
	try {
		await runCommand('npm', args, { cwd });
	} catch (error) {
		const printed = error instanceof Error ? error.message : String(error);
		throw new MessageOnlyError(describeInstallFailure(printed), { cause: error });
	} finally {
		clearInterval(ticker);
	}
}

function describeInstallFailure(printed: string): string {
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/.test(printed)) {
		return 'n8n could not be downloaded: no answer from the npm registry. Check the network connection (and the proxy, if there is one), then run the same command again.';
	}
	if (/ENOSPC/.test(printed)) return 'The disk is full: n8n needs about 2.2 GB.';
	return `n8n could not be installed. npm says:\n${printed}`;
}

/** n8n's database driver is compiled on the machine. */
async function checkTools(): Promise<void> {
	const missing: string[] = [];
	for (const tool of ['python3', 'make', 'g++']) {
		await runCommand(tool, ['--version'], { cwd: root }).catch(() => missing.push(tool));
	}
	if (missing.length === 0) return;
	throw new MessageOnlyError(
		`${joinWithAnd(missing)} ${missing.length > 1 ? 'are' : 'is'} missing: n8n's database driver is compiled on this machine. ` +
			'On Debian or Ubuntu: sudo apt-get install python3 make g++',
	);
}

/** `a`, `a and b`, `a, b and c`. */
function joinWithAnd(names: readonly string[]): string {
	return new Intl.ListFormat('en-GB').format(names);
}

function seconds(since: number): number {
	return Math.round((Date.now() - since) / 1000);
}
