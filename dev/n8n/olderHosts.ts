// The older versions of n8n that `npm run test:versions` runs: host/older.json says what npm is asked for, and
// host/older-locks.br has the lock files that npm made of it. `node dev/n8n/olderHosts.ts FOLDER` adds the version of a folder with both files.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

import { MessageOnlyError } from './command.ts';

const folder = path.join(import.meta.dirname, 'host');
const versionsFile = path.join(folder, 'older.json');
const packed = path.join(folder, 'older-locks.br');

interface Pinned {
	readonly dependencies: Readonly<Record<string, string>>;
	/** Versions of indirect dependencies with which it can be installed. */
	readonly overrides?: Readonly<Record<string, string>>;
	/** SHA-256 of the lock file. */
	readonly lock: string;
}

const readPinnedVersions = (): Record<string, Pinned> =>
	existsSync(versionsFile)
		? (JSON.parse(readFileSync(versionsFile, 'utf8')) as Record<string, Pinned>)
		: {};

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function unpackLockFiles(): Record<string, string> {
	if (!existsSync(packed)) return {};
	return JSON.parse(brotliDecompressSync(readFileSync(packed)).toString('utf8')) as Record<
		string,
		string
	>;
}

export const listOlderVersions = (): string[] => Object.keys(readPinnedVersions());

export interface HostFiles {
	readonly manifest: string;
	readonly lock: string;
}

/** What `npm ci` needs to install the version. @throws MessageOnlyError if the lock file is not the one that was pinned */
export function getOlderHostFiles(version: string): HostFiles {
	const { lock: hash, ...wanted } = readPinnedVersions()[version] ?? { lock: '' };
	const lock = unpackLockFiles()[version] ?? '';
	if (hashOf(lock) !== hash) {
		throw new MessageOnlyError(
			`The lock file of n8n ${version} in ${packed} is not the one that ${versionsFile} names.`,
		);
	}
	return {
		manifest: JSON.stringify({ name: 'n8n-host', private: true, version: '0.0.0', ...wanted }),
		lock,
	};
}

function addVersion(from: string): void {
	const read = (name: string) => readFileSync(path.join(from, name), 'utf8');
	const { dependencies, overrides } = JSON.parse(read('package.json')) as Pinned;
	const lock = read('package-lock.json');
	const version = dependencies.n8n ?? '';
	const all = {
		...readPinnedVersions(),
		[version]: { dependencies, overrides, lock: hashOf(lock) },
	};
	const sorted = Object.keys(all).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
	writeFileSync(
		versionsFile,
		`${JSON.stringify(Object.fromEntries(sorted.map((one) => [one, all[one]])), undefined, 2)}\n`,
	);
	const texts = { ...unpackLockFiles(), [version]: lock };
	const bytes = Buffer.from(
		JSON.stringify(Object.fromEntries(sorted.map((one) => [one, texts[one]]))),
	);
	// The lock files have most of their text in common, which a window larger than one file makes use of.
	const params = {
		[constants.BROTLI_PARAM_LGWIN]: 24,
		[constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
	};
	writeFileSync(packed, brotliCompressSync(bytes, { params }));
	console.log(`n8n ${version} is pinned.`);
}

if (import.meta.main) {
	const [from] = process.argv.slice(2);
	if (from === undefined)
		throw new Error('Which folder has the package.json and the package-lock.json?');
	addVersion(from);
}
