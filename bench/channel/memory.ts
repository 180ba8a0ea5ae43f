// Memory of n8n under bursts of messages, compared with one that has just started.
import { readMemory, resetPeak, type Stored } from '../n8n.ts';
import { reportRatio, row, say } from '../report.ts';
import { drive, readEventLoopDelay, type Station, withStation } from './station.ts';

const batchSize = 100;
const small = 10_000;
const large = 100_000;

export async function bursts(): Promise<void> {
	say(`Memory of n8n under a burst, in MiB above what it was before (batches of ${batchSize})`);
	// Without a limit, the large burst takes gigabytes.
	const emitOnly = await withStation(async (station) => {
		return await suffer(station, 'emit only', await station.emitOnly('burst', batchSize), [
			small,
		]);
	});
	const peak = await withStation(async (station) => {
		const workflow = await station.ours('burst', { batchSize });
		return await suffer(station, 'Agent Session Trigger', workflow, [small, large]);
	});
	// How soon V8 collects what is left over depends on the machine, and so does the figure alone.
	reportRatio(`extra memory, ${large} messages / emit only with ${small}`, peak / emitOnly, {
		atMost: 1,
	});
}

/** @returns the extra memory of the last burst */
async function suffer(
	station: Station,
	name: string,
	workflow: Stored,
	counts: readonly number[],
): Promise<number> {
	await drive(station, workflow, small, batchSize);
	let extra = NaN;
	for (const count of counts) {
		const before = readMemory(station.n8n.pid).now;
		resetPeak(station.n8n.pid);
		// n8n measures since the last request, so this resets it.
		await readEventLoopDelay(station.n8n.url);
		await drive(station, workflow, count, batchSize);
		const { peak, now } = readMemory(station.n8n.pid);
		const delay = await readEventLoopDelay(station.n8n.url);
		extra = peak - before;
		row(
			`${name}, ${count}`,
			`before ${before.toFixed(0)}, peak +${extra.toFixed(0)}, after +${(now - before).toFixed(0)}`,
			`event loop p99 ${delay.toFixed(0)} ms`,
		);
	}
	return extra;
}
