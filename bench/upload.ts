// 1 GiB from n8n's filesystem binary mode to Drive, compared with n8n's own Drive node in the same n8n, and
// with curl and md5sum. With `growth`: files from 1 kB to 1 GB.
// node bench/upload.ts [rounds] [MiB]
// node bench/upload.ts growth [largest file in kB]
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../dev/n8n/command.ts';
import { root } from '../dev/n8n/installN8n.ts';
import { manualTrigger, node } from '../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import { GoogleProcess } from './google.ts';
import {
	benchN8n,
	createCredentials,
	createInRow,
	describeHost,
	googleSignIn,
	readMemory,
	readMilliseconds,
	redirectTo,
	resetPeak,
	type Step,
	type Stored,
	workspaceStep,
} from './n8n.ts';
import { myDrive, usualTarget } from './operations/contest.ts';
import { drive } from './operations/drive.ts';
import { latencyMilliseconds } from './operations/world.ts';
import { median, report, reportRatio, say } from './report.ts';

const MiB = 1024 * 1024;
const chunkBytes = 8 * MiB;
/** The only folder that n8n may read from. */
const folder = path.join(root, '.dev', 'bench-upload');
const file = path.join(folder, 'large.bin');

/** A file that is random enough that no two of its parts are alike. */
async function makeFile(bytes: number): Promise<void> {
	await mkdir(folder, { recursive: true });
	const handle = await open(file, 'w');
	const block = Buffer.alloc(Math.min(bytes, 1024 * 1024));
	for (let at = 0; at < bytes; at += block.length) {
		crypto.getRandomValues(
			new Uint8Array(block.buffer, block.byteOffset, Math.min(65_536, block.length)),
		);
		await handle.write(block, 0, Math.min(block.length, bytes - at));
	}
	await handle.close();
}

interface Place {
	readonly n8n: RestartableN8n;
	readonly google: GoogleProcess;
	/** Read the file from disk and upload it, each with its own node. */
	readonly ours: Stored;
	readonly theirs: Stored;
}

/** An n8n with a workflow for each side, and a stand-in that only takes files. */
async function withUploads(
	latencyMilliseconds: number,
	use: (place: Place) => Promise<void>,
): Promise<void> {
	const google = await GoogleProcess.start({ keepContent: false, latencyMilliseconds });
	const n8n = await benchN8n({
		env: {
			N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			N8N_RESTRICT_FILE_ACCESS_TO: folder,
			...redirectTo(google.url),
		},
	});
	try {
		await use({ n8n, google, ...(await createWorkflows(n8n, google.url)) });
	} finally {
		await n8n.remove();
		google.stop();
		await rm(folder, { recursive: true, force: true });
	}
}

async function createWorkflows({ api }: RestartableN8n, url: string) {
	const credentials = await createCredentials(api, {
		workspaceOAuth2Api: {
			...{ ...googleSignIn, driveAccess: 'allFiles', customEndpoints: true },
			driveApiBase: `${url}/drive/v3`,
		},
		googleDriveOAuth2Api: googleSignIn,
	});
	const read = node('Read', 'n8n-nodes-base.readWriteFile', { fileSelector: file, options: {} });
	const create = async (name: string, ...upload: Step[]) =>
		await createInRow(api, name, [manualTrigger(), read, ...upload]);
	const common = { resource: 'file', operation: 'upload', name: 'large.bin', options: {} };
	return {
		ours: await create('Workspace', workspaceStep(common, credentials)),
		theirs: await create(
			"n8n's Google Drive node",
			...drive({ ...common, ...myDrive })(credentials),
		),
	};
}

/** @returns milliseconds for which the upload node ran */
async function run({ n8n }: Place, stored: Stored): Promise<number> {
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 1_200_000);
	await rm(path.join(n8n.userFolder, '.n8n', 'storage'), { recursive: true, force: true });
	return readMilliseconds(stored.name, execution, ['Step']);
}

async function md5sum(): Promise<string> {
	return (await runCommand('md5sum', [file], { cwd: root })).split(' ')[0] ?? '';
}

/** Milliseconds for curl in one request to a session, then md5sum. */
async function withCurl(google: GoogleProcess): Promise<number> {
	await google.seed({});
	const session = await fetch(`${google.url}/upload/drive/v3/files?uploadType=resumable`, {
		method: 'POST',
		headers: { authorization: 'Bearer bench', 'content-type': 'application/json' },
		body: JSON.stringify({ name: 'curl.bin' }),
	});
	const began = performance.now();
	await runCommand('curl', ['-sSf', '-T', file, session.headers.get('location') ?? ''], {
		cwd: root,
	});
	await md5sum();
	return performance.now() - began;
}

interface Uploads {
	readonly milliseconds: number[];
	/** The most that each added to n8n's memory. */
	readonly addedMiB: number[];
}

async function upload(place: Place, stored: Stored, uploads: Uploads): Promise<void> {
	const { n8n, google } = place;
	await google.seed({ announceFirst: true });
	const running = run(place, stored);
	await google.firstRequest();
	resetPeak(n8n.pid);
	const before = readMemory(n8n.pid).now;
	uploads.milliseconds.push(await running);
	uploads.addedMiB.push(readMemory(n8n.pid).peak - before);
}

/** Resets the connection in each tenth of the file. Bytes sent twice must belong to the interrupted chunk. */
async function withResets(place: Place, md5: string, sizeBytes: number): Promise<void> {
	const resetAt = Array.from({ length: 10 }, (_, tenth) =>
		Math.floor(((tenth + 0.5) * sizeBytes) / 10),
	);
	await place.google.seed({ resetAt });
	await run(place, place.ours);
	const counted = await place.google.count();
	const twice = counted.receivedBytes - sizeBytes;
	const whole = counted.md5.length === 1 && counted.md5[0] === md5;
	console.log(
		`\n10 resets: ${whole ? 'one file, checksum right' : 'WRONG'}; received twice: ${twice} bytes`,
	);
	if (!whole) process.exitCode = 1;
	reportRatio('bytes sent twice / bytes of the chunks that were cut', twice / (10 * chunkBytes), {
		atMost: 1,
	});
}

async function compareLarge(place: Place, rounds: number, sizeBytes: number): Promise<void> {
	const { google, ours, theirs } = place;
	const md5 = await md5sum();
	// A warm-up of what is short. The other node takes four times as long.
	await withCurl(google);
	await google.seed({}).then(() => run(place, ours));
	const curl: number[] = [];
	const our: Uploads = { milliseconds: [], addedMiB: [] };
	const their: Uploads = { milliseconds: [], addedMiB: [] };
	for (let round = 0; round < rounds; round++) {
		curl.push(await withCurl(google));
		await upload(place, ours, our);
		await upload(place, theirs, their);
	}
	say(`${await describeHost()}; ${sizeBytes / MiB} MiB, ${rounds} rounds\n`);
	report('curl, then md5sum', curl, 'ms');
	report('Workspace node (with checksum)', our.milliseconds, 'ms');
	report("n8n's Google Drive node (without)", their.milliseconds, 'ms');
	report('added memory, Workspace node', our.addedMiB, 'MiB');
	report("added memory, n8n's Google Drive node", their.addedMiB, 'MiB');
	const speed = median(curl) / median(our.milliseconds);
	reportRatio('speed of the Workspace node / curl and md5sum', speed, { atLeast: 0.6 });
	const ratio = median(our.milliseconds) / median(their.milliseconds);
	reportRatio("time of the Workspace node / n8n's Google Drive node", ratio, {
		atMost: usualTarget,
	});
	const memory = (Math.max(...our.addedMiB) * MiB) / 96e6;
	reportRatio('added memory of the Workspace node / 96 MB', memory, { atMost: 1 });
	await withResets(place, md5, sizeBytes);
}

const sizes = { '1 kB': 1e3, '1 MB': 1e6, '10 MB': 1e7, '100 MB': 1e8, '1 GB': 1e9 };

/** The code of an upload is warm after some of them, which for large files takes too long and does not matter. */
function getPlan(bytes: number) {
	if (bytes >= 1e9) return { warm: 0, rounds: 1 };
	return bytes >= 1e7 ? { warm: 1, rounds: 5 } : { warm: 8, rounds: 15 };
}

async function compareSizes(place: Place, largest: number): Promise<void> {
	for (const [name, bytes] of Object.entries(sizes).filter(([, size]) => size <= largest)) {
		await makeFile(bytes);
		const { warm, rounds } = getPlan(bytes);
		const times = { ours: [] as number[], theirs: [] as number[] };
		for (let round = -warm; round < rounds; round++) {
			for (const side of ['theirs', 'ours'] as const) {
				await place.google.seed({});
				const milliseconds = await run(place, place[side]);
				if (round >= 0) times[side].push(milliseconds);
			}
		}
		const [our, their] = [median(times.ours), median(times.theirs)];
		say(
			`${name.padEnd(8)} ${our.toFixed(0)} ms; n8n's Google Drive node ${their.toFixed(0)} ms`,
		);
		reportRatio(`${name}: time / n8n's Google Drive node`, our / their, {
			atMost: usualTarget,
		});
	}
}

const [first = '3', second] = process.argv.slice(2);
if (first === 'growth') {
	await makeFile(1e6);
	await withUploads(latencyMilliseconds, (place) =>
		compareSizes(place, Number(second ?? 1_000_000) * 1000),
	);
} else {
	const sizeBytes = Number(second ?? 1024) * MiB;
	await makeFile(sizeBytes);
	await withUploads(0, (place) => compareLarge(place, Number(first), sizeBytes));
}
