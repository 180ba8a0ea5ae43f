// 100 emails with subject and sender: parallel requests, as shipped, compared with Gmail's batch endpoint,
// whose parts the stand-in runs at once. With and without a limit of concurrent requests, and over the quota
// of a (shortened) minute.
// node bench/mailBatch.ts [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';

import type { QuotaLimits } from '../dev/google/quotas.ts';
import { GoogleProcess } from './google.ts';
import { Bundled } from './keyed/workers.ts';

const rounds = process.argv[2] ?? '9';
const latencyMilliseconds = 50;
const client = await Bundled.build('bench/mailBatch/client.ts');
const google = await GoogleProcess.start({ latencyMilliseconds });
try {
	await google.seed({ mails: 100 });
	const child = fork(client.file, [google.url, rounds, String(latencyMilliseconds)]);
	child.on('message', (limits: QuotaLimits | 'count') => {
		const answer = limits === 'count' ? google.count() : google.limit(limits);
		void answer.then((counted) => child.send(counted));
	});
	const [code] = (await once(child, 'exit')) as [number | null];
	process.exitCode = code ?? 1;
} finally {
	google.stop();
	client.remove();
}
