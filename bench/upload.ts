// 1 GiB from n8n's filesystem binary mode to Drive, compared with n8n's own Drive node in the same n8n, and
// with curl and md5sum.
// node bench/upload.ts [rounds] [MiB]
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';

import { runCommand } from '../dev/n8n/command.ts';
import { root } from '../dev/n8n/host.ts';
import type { GoogleProcess } from './googleProcess.ts';
import { median, report, reportRatio } from './n8n.ts';
import { folder, makeFile, run, startUploads } from './uploadWorld.ts';
import type { BenchN8n, Stored } from './uploadWorkflows.ts';

const MiB = 1024 * 1024;
const chunkBytes = 8 * MiB;
const rounds = Number(process.argv[2] ?? 3);
const sizeBytes = Number(process.argv[3] ?? 1024) * MiB;
const file = path.join(folder, 'large.bin');

async function md5sum(): Promise<string> {
	return (await runCommand('md5sum', [file], { cwd: root })).split(' ')[0] ?? '';
}

/** Milliseconds for curl in one request to a session, then md5sum. */
async function withCurl(google: GoogleProcess): Promise<number> {
	await google.begin();
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

async function memory(pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

interface Uploaded {
	readonly milliseconds: number;
	/** The most that the upload added to n8n's memory. */
	readonly addedMiB: number;
}

async function upload(n8n: BenchN8n, google: GoogleProcess, stored: Stored): Promise<Uploaded> {
	await google.begin({ announceFirst: true });
	const running = run(n8n, stored);
	await google.firstRequest();
	// Resets the peak to the current usage.
	await writeFile(`/proc/${n8n.pid}/clear_refs`, '5');
	const before = await memory(n8n.pid, 'VmRSS');
	const milliseconds = await running;
	return { milliseconds, addedMiB: ((await memory(n8n.pid, 'VmHWM')) - before) / MiB };
}

const timesOf = (uploads: readonly Uploaded[]) => uploads.map(({ milliseconds }) => milliseconds);
const addedOf = (uploads: readonly Uploaded[]) => uploads.map(({ addedMiB }) => addedMiB);

/** Resets the connection in each tenth of the file. Bytes sent twice must belong to the interrupted chunk. */
async function withResets(n8n: BenchN8n, google: GoogleProcess, stored: Stored, md5: string): Promise<void> {
	const resetAt = Array.from({ length: 10 }, (_, tenth) => Math.floor(((tenth + 0.5) * sizeBytes) / 10));
	await google.begin({ resetAt });
	await run(n8n, stored);
	const { receivedBytes, files } = await google.report();
	const twice = receivedBytes - sizeBytes;
	const whole = files.length === 1 && files[0]?.md5 === md5;
	console.log(`\n10 resets: ${whole ? 'one file, checksum right' : 'WRONG'}; received twice: ${twice} bytes`);
	if (!whole) process.exitCode = 1;
	reportRatio('bytes sent twice / bytes of the chunks that were cut', twice / (10 * chunkBytes), {
		atMost: 1,
	});
}

async function main(): Promise<void> {
	await makeFile(file, sizeBytes);
	const md5 = await md5sum();
	const { n8n, google, ours, theirs, close } = await startUploads(file);
	try {
		// A warm-up of what is short. The other node takes four times as long.
		await withCurl(google);
		await google.begin().then(() => run(n8n, ours));
		const curl: number[] = [];
		const uploads = { ours: [] as Uploaded[], theirs: [] as Uploaded[] };
		for (let round = 0; round < rounds; round++) {
			curl.push(await withCurl(google));
			uploads.ours.push(await upload(n8n, google, ours));
			uploads.theirs.push(await upload(n8n, google, theirs));
		}
		const times = { curl, ours: timesOf(uploads.ours), theirs: timesOf(uploads.theirs) };
		const added = { ours: addedOf(uploads.ours), theirs: addedOf(uploads.theirs) };
		console.log(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${sizeBytes / MiB} MiB, ${rounds} rounds\n`,
		);
		report('curl, then md5sum', times.curl, 'ms');
		report('Workspace node (with checksum)', times.ours, 'ms');
		report("n8n's Google Drive node (without)", times.theirs, 'ms');
		report('added memory, Workspace node', added.ours, 'MiB');
		report("added memory, n8n's Google Drive node", added.theirs, 'MiB');
		reportRatio('speed of the Workspace node / curl and md5sum', median(times.curl) / median(times.ours), {
			atLeast: 0.6,
		});
		reportRatio(
			"time of the Workspace node / n8n's Google Drive node",
			median(times.ours) / median(times.theirs),
			{
				atMost: 1.1,
			},
		);
		reportRatio('added memory of the Workspace node / 96 MB', (Math.max(...added.ours) * MiB) / 96e6, {
			atMost: 1,
		});
		await withResets(n8n, google, ours, md5);
	} finally {
		await close();
	}
}

await main();
