// Files from 1 kB to 1 GB to Drive, compared with n8n's own Drive node in the same n8n.
// node bench/uploadGrowth.ts [largest file in kB]
import path from 'node:path';

import { say } from './channel/text.ts';
import { median, reportRatio } from './n8n.ts';
import { folder, makeFile, run, startUploads } from './uploadWorld.ts';

const largest = Number(process.argv[2] ?? 1_000_000) * 1000;
const file = path.join(folder, 'large.bin');
const sizes = [
	['1 kB', 1e3],
	['1 MB', 1e6],
	['10 MB', 1e7],
	['100 MB', 1e8],
	['1 GB', 1e9],
] as const;

await makeFile(file, 1e6);
const { n8n, google, ours, theirs, close } = await startUploads(file);
try {
	for (const [name, bytes] of sizes.filter(([, size]) => size <= largest)) {
		await makeFile(file, bytes);
		const rounds = bytes >= 1e9 ? 1 : 5;
		const times = { ours: [] as number[], theirs: [] as number[] };
		// The first round warms up.
		for (let round = bytes >= 1e9 ? 0 : -1; round < rounds; round++) {
			for (const [side, stored] of [['theirs', theirs] as const, ['ours', ours] as const]) {
				await google.begin();
				const milliseconds = await run(n8n, stored);
				if (round >= 0) times[side].push(milliseconds);
			}
		}
		const [our, their] = [median(times.ours), median(times.theirs)];
		say(`${name.padEnd(8)} ${our.toFixed(0)} ms; n8n's Google Drive node ${their.toFixed(0)} ms`);
		reportRatio(`${name}: time / n8n's Google Drive node`, our / their, { atMost: 1.1 });
	}
} finally {
	await close();
}
