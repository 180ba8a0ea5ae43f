// 1 GiB from n8n's filesystem binary mode to Drive, compared with n8n's own Drive node in the same n8n, and
// with curl and md5sum. With `growth`: files from 1 kB to 1 GB.
// node bench/upload.ts [rounds] [MiB]
// node bench/upload.ts growth [largest file in kB]
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../dev/n8n/command.ts';
import { root } from '../dev/n8n/installN8n.ts';
import { connectInRow, manualTrigger, node } from '../dev/n8n/nodes.ts';
import { GoogleProcess } from './google.ts';
import {
	benchN8n,
	createCredentials,
	describeHost,
	googleSignIn,
	readMemory,
	readMilliseconds,
	redirectTo,
	resetPeak,
} from './n8n.ts';
import { median, report, reportRatio, say } from './report.ts';

type N8n = Awaited<ReturnType<typeof benchN8n>>;
type Stored = Awaited<ReturnType<N8n['api']['createWorkflow']>>;

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
		crypto.getRandomValues(new Uint8Array(block.buffer, block.byteOffset, Math.min(65_536, block.length)));
		await handle.write(block, 0, Math.min(block.length, bytes - at));
	}
	await handle.close();
}

interface Place {
	readonly n8n: N8n;
	readonly google: GoogleProcess;
	/** Read the file from disk and upload it, each with its own node. */
	readonly ours: Stored;
	readonly theirs: Stored;
}

/** An n8n with a workflow for each side, and a stand-in that only takes files. */
async function withUploads(use: (place: Place) => Promise<void>): Promise<void> {
	const google = await GoogleProcess.start({ keepContent: false });
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

async function createWorkflows({ api }: N8n, url: string): Promise<{ ours: Stored; theirs: Stored }> {
	const { workspaceOAuth2Api, googleDriveOAuth2Api } = await createCredentials(api, {
		workspaceOAuth2Api: {
			...{ ...googleSignIn, driveAccess: 'allFiles', customEndpoints: true },
			...{ driveApiBase: `${url}/drive/v3`, tokenUrl: `${url}/token` },
		},
		googleDriveOAuth2Api: googleSignIn,
	});
	const create = async (name: string, upload: ReturnType<typeof node>) => {
		const read = node('Read', 'n8n-nodes-base.readWriteFile', { fileSelector: file, options: {} });
		const nodes = [manualTrigger(), read, upload];
		return await api.createWorkflow({ name, nodes, connections: connectInRow('Start', 'Read', 'Upload') });
	};
	const common = { resource: 'file', operation: 'upload', name: 'large.bin', options: {} };
	const theirPlace = {
		authentication: 'oAuth2',
		driveId: { __rl: true, mode: 'list', value: 'My Drive' },
		folderId: { __rl: true, mode: 'list', value: 'root' },
	};
	const [ours, theirs] = ['n8n-nodes-agent-workspace.workspace', 'n8n-nodes-base.googleDrive'];
	return {
		ours: await create('Workspace', node('Upload', ours, common, { credentials: { workspaceOAuth2Api } })),
		theirs: await create(
			"n8n's Google Drive node",
			node(
				'Upload',
				theirs,
				{ ...common, ...theirPlace },
				{ typeVersion: 3, credentials: { googleDriveOAuth2Api } },
			),
		),
	};
}

/** @returns milliseconds for which the upload node ran */
async function run({ n8n }: Place, stored: Stored): Promise<number> {
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 1_200_000);
	await rm(path.join(n8n.userFolder, '.n8n', 'storage'), { recursive: true, force: true });
	return readMilliseconds(stored.name, execution, ['Upload']);
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
	await runCommand('curl', ['-sSf', '-T', file, session.headers.get('location') ?? ''], { cwd: root });
	await md5sum();
	return performance.now() - began;
}

interface Uploaded {
	readonly milliseconds: number;
	/** The most that the upload added to n8n's memory. */
	readonly addedMiB: number;
}

async function upload(place: Place, stored: Stored): Promise<Uploaded> {
	const { n8n, google } = place;
	await google.seed({ announceFirst: true });
	const running = run(place, stored);
	await google.firstRequest();
	resetPeak(n8n.pid);
	const before = readMemory(n8n.pid).now;
	const milliseconds = await running;
	return { milliseconds, addedMiB: readMemory(n8n.pid).peak - before };
}

const timesOf = (uploads: readonly Uploaded[]) => uploads.map(({ milliseconds }) => milliseconds);
const addedOf = (uploads: readonly Uploaded[]) => uploads.map(({ addedMiB }) => addedMiB);

/** Resets the connection in each tenth of the file. Bytes sent twice must belong to the interrupted chunk. */
async function withResets(place: Place, md5: string, sizeBytes: number): Promise<void> {
	const resetAt = Array.from({ length: 10 }, (_, tenth) => Math.floor(((tenth + 0.5) * sizeBytes) / 10));
	await place.google.seed({ resetAt });
	await run(place, place.ours);
	const counted = await place.google.count();
	const twice = counted.receivedBytes - sizeBytes;
	const whole = counted.md5.length === 1 && counted.md5[0] === md5;
	console.log(`\n10 resets: ${whole ? 'one file, checksum right' : 'WRONG'}; received twice: ${twice} bytes`);
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
	const uploads = { ours: [] as Uploaded[], theirs: [] as Uploaded[] };
	for (let round = 0; round < rounds; round++) {
		curl.push(await withCurl(google));
		uploads.ours.push(await upload(place, ours));
		uploads.theirs.push(await upload(place, theirs));
	}
	const times = { ours: timesOf(uploads.ours), theirs: timesOf(uploads.theirs) };
	const added = { ours: addedOf(uploads.ours), theirs: addedOf(uploads.theirs) };
	say(`${await describeHost()}; ${sizeBytes / MiB} MiB, ${rounds} rounds\n`);
	report('curl, then md5sum', curl, 'ms');
	report('Workspace node (with checksum)', times.ours, 'ms');
	report("n8n's Google Drive node (without)", times.theirs, 'ms');
	report('added memory, Workspace node', added.ours, 'MiB');
	report("added memory, n8n's Google Drive node", added.theirs, 'MiB');
	const speed = median(curl) / median(times.ours);
	reportRatio('speed of the Workspace node / curl and md5sum', speed, { atLeast: 0.6 });
	const ratio = median(times.ours) / median(times.theirs);
	reportRatio("time of the Workspace node / n8n's Google Drive node", ratio, { atMost: 1.1 });
	const memory = (Math.max(...added.ours) * MiB) / 96e6;
	reportRatio('added memory of the Workspace node / 96 MB', memory, { atMost: 1 });
	await withResets(place, md5, sizeBytes);
}

const sizes = { '1 kB': 1e3, '1 MB': 1e6, '10 MB': 1e7, '100 MB': 1e8, '1 GB': 1e9 };

async function compareSizes(place: Place, largest: number): Promise<void> {
	for (const [name, bytes] of Object.entries(sizes).filter(([, size]) => size <= largest)) {
		await makeFile(bytes);
		const [warm, rounds] = bytes >= 1e9 ? [0, 1] : [1, 5];
		const times = { ours: [] as number[], theirs: [] as number[] };
		for (let round = -warm; round < rounds; round++) {
			for (const side of ['theirs', 'ours'] as const) {
				await place.google.seed({});
				const milliseconds = await run(place, place[side]);
				if (round >= 0) times[side].push(milliseconds);
			}
		}
		const [our, their] = [median(times.ours), median(times.theirs)];
		say(`${name.padEnd(8)} ${our.toFixed(0)} ms; n8n's Google Drive node ${their.toFixed(0)} ms`);
		reportRatio(`${name}: time / n8n's Google Drive node`, our / their, { atMost: 1.1 });
	}
}

const [first = '3', second] = process.argv.slice(2);
if (first === 'growth') {
	await makeFile(1e6);
	await withUploads((place) => compareSizes(place, Number(second ?? 1_000_000) * 1000));
} else {
	const sizeBytes = Number(second ?? 1024) * MiB;
	await makeFile(sizeBytes);
	await withUploads((place) => compareLarge(place, Number(first), sizeBytes));
}
