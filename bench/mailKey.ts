// How often a mail goes out twice although both sends have the same key: two processes, or two executions of one, with a gap
// between them, against a Gmail that lists a sent mail only after a while.
// node bench/mailKey.ts [mails of each kind]
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startGoogle } from '../dev/google/server.ts';

const mails = Number(process.argv[2] ?? 100);
const latencyMilliseconds = 50;
const kinds = [
	{ processes: 1, lag: 600_000, gap: 0 },
	{ processes: 2, lag: 0, gap: 0 },
	{ processes: 2, lag: 0, gap: 100 },
	{ processes: 2, lag: 0, gap: 500 },
	{ processes: 2, lag: 1000, gap: 500 },
	{ processes: 2, lag: 1000, gap: 2000 },
	{ processes: 2, lag: 5000, gap: 2000 },
	{ processes: 2, lag: 5000, gap: 8000 },
];

interface Answer {
	readonly number: number;
	readonly repeated?: boolean;
	readonly error?: string;
}

type Bundle = (options: {
	root: string;
	entries: string[];
	target: string;
	split: boolean;
}) => Promise<unknown>;

const root = path.join(import.meta.dirname, '..');
const { bundle } = createRequire(import.meta.url)('../build/bundle.js') as { bundle: Bundle };
const folder = mkdtempSync(path.join(tmpdir(), 'mail-key-'));
const google = await startGoogle({ latencyMilliseconds });
google.tokens.issue({ token: 'bench' });

async function worker(): Promise<ChildProcess> {
	const child = fork(path.join(folder, 'bench/mailKey/worker.js'), [google.url]);
	child.setMaxListeners(0);
	await once(child, 'message');
	return child;
}

function send(child: ChildProcess, number: number): Promise<Answer> {
	return new Promise((resolve) => {
		const listen = (answer: Answer) => {
			if (answer.number !== number) return;
			child.off('message', listen);
			resolve(answer);
		};
		child.on('message', listen);
		child.send(number);
	});
}

let number = 0;
try {
	await bundle({ root, entries: ['bench/mailKey/worker.ts'], target: folder, split: false });
	symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
	const workers = [await worker(), await worker()];
	console.log(
		`${mails} mails of each kind, each sent by two executions; ${latencyMilliseconds} ms latency\n`,
	);
	for (const { processes, lag, gap } of kinds) {
		google.gmail.indexDelayMilliseconds = lag;
		const before = google.gmail.sent.length;
		const atOnce = 10;
		for (let done = 0; done < mails; done += atOnce) {
			const pairs = Array.from({ length: Math.min(atOnce, mails - done) }, async () => {
				const own = number++;
				const [one, other] = [workers[0], workers[processes - 1]];
				if (!one || !other) throw new Error('no worker');
				const first = send(one, own);
				await sleep(gap);
				for (const { error } of await Promise.all([first, send(other, own)])) {
					if (error !== undefined) throw new Error(error);
				}
			});
			await Promise.all(pairs);
		}
		const twice = google.gmail.sent.length - before - mails;
		console.log(
			`${processes === 1 ? 'one process ' : 'two processes'}, ${gap} ms apart, listed after ${lag} ms: ${twice} of ${mails} twice (${((100 * twice) / mails).toFixed(1)} %)`,
		);
	}
	for (const child of workers) child.disconnect();
} finally {
	await google.close();
	rmSync(folder, { recursive: true, force: true });
}
