// 100 emails with subject and sender: parallel requests, as shipped, compared with Gmail's batch endpoint,
// whose parts the stand-in runs at once. With and without a limit of concurrent requests, and over the quota
// of a (shortened) minute.
// node bench/mailBatch.ts [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { Bundled } from './keyed/bundled.ts';

const rounds = process.argv[2] ?? '9';
const client = await Bundled.build('bench/mailBatch/client.ts');
try {
	const child = fork(client.file, [path.join(import.meta.dirname, 'mailGoogle.ts'), rounds]);
	const [code] = (await once(child, 'exit')) as [number | null];
	process.exitCode = code ?? 1;
} finally {
	client.remove();
}
