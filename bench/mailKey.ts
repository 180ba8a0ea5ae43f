// How often an email is sent twice although both sends have the same key: from two processes, or from two
// executions of one, with a gap between them, against a Gmail that lists a sent email only after a while.
// node bench/mailKey.ts [emails of each kind]
import { setTimeout as sleep } from 'node:timers/promises';

import { startGoogle } from '../dev/google/server.ts';
import { Workers, type Answer, type Worker } from './keyed/workers.ts';

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

const google = await startGoogle({ latencyMilliseconds });
google.tokens.issue({ token: 'bench' });

async function send(worker: Worker, number: number): Promise<Answer> {
	const given = { to: 'ann@example.com', subject: `Order ${number} has shipped`, body: 'Hi' };
	const keyed = { ...given, idempotencyKey: `order-${number}` };
	const answer = await worker.run({
		number: asked++,
		resource: 'mail',
		operation: 'send',
		given: keyed,
	});
	return answer ?? { number, error: 'the worker ended' };
}

const workers = await Workers.build(google.url);
let asked = 0;
let number = 0;
try {
	const pair = [await workers.start(), await workers.start()];
	console.log(
		`${mails} mails of each kind, each sent by two executions; ${latencyMilliseconds} ms latency\n`,
	);
	for (const { processes, lag, gap } of kinds) {
		google.gmail.indexDelayMilliseconds = lag;
		const before = google.gmail.sent.length;
		const atOnce = 15;
		for (let done = 0; done < mails; done += atOnce) {
			const pairs = Array.from({ length: Math.min(atOnce, mails - done) }, async () => {
				const own = number++;
				const [one, other] = [pair[0], pair[processes - 1]];
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
	for (const worker of pair) worker.stop();
} finally {
	await google.close();
	workers.remove();
}
