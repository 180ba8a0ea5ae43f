// The cost of one message, and the effect of batches, compared with a trigger that only calls `emit`.
import type { Stored } from '../n8n.ts';
import { figure, median, report, reportRatio, say } from '../report.ts';
import { drive, type Driven, type Station, withStation } from './station.ts';

export async function rate(rounds: number): Promise<void> {
	await withStation(async (station) => {
		const ratio = await oneByOne(station, rounds);
		// Processor time does not depend on what else the machine does at that moment.
		reportRatio('batchSize 1 / emit only, processor time', ratio.processor, { atMost: 1.1 });
		await inBatches(station, rounds);
	});
}

async function oneByOne(station: Station, rounds: number): Promise<Ratio> {
	say(`\nOne message per execution (${rounds} rounds of 150, interleaved)`);
	const emitOnly = await station.emitOnly('emit only');
	const ours = await station.ours('ours');
	return await beside(station, { emitOnly, ours }, { rounds, count: 150, batchSize: 1 });
}

async function inBatches(station: Station, rounds: number): Promise<void> {
	const batchSize = 100;
	say(`\n${batchSize} messages per execution (${rounds} rounds of 10,000, interleaved)`);
	const emitOnly = await station.emitOnly('emit only in batches', batchSize);
	// The other one also waits this long for a batch to become full, so both get the same batches.
	const ours = await station.ours('ours in batches', { batchSize, batchWaitMilliseconds: 50 });
	const ratio = await beside(station, { emitOnly, ours }, { rounds, count: 10_000, batchSize });
	figure(
		'batchSize 100 / emit only in batches of 100, messages per second',
		ratio.rate.toFixed(3),
	);
	figure(
		'batchSize 100 / emit only in batches of 100, processor time',
		ratio.processor.toFixed(3),
	);
}

type Ratio = Readonly<Record<'rate' | 'processor', number>>;

type Pair<T> = Readonly<Record<'emitOnly' | 'ours', T>>;

interface Extent {
	readonly rounds: number;
	readonly count: number;
	readonly batchSize: number;
}

/** The ratio of ours to theirs. Unpublishes both workflows. */
async function beside(
	station: Station,
	workflows: Pair<Stored>,
	{ rounds, count, batchSize }: Extent,
): Promise<Ratio> {
	const runs: Pair<Driven[]> = { emitOnly: [], ours: [] };
	for (let round = 0; round <= rounds; round++) {
		for (const name of ['emitOnly', 'ours'] as const) {
			const run = await drive(station, workflows[name], count, batchSize);
			if (round > 0) runs[name].push(run);
		}
	}
	for (const workflow of Object.values(workflows)) await station.n8n.api.deactivate(workflow);
	const rates = (all: readonly Driven[]) => all.map(({ messagesPerSecond }) => messagesPerSecond);
	const costs = (all: readonly Driven[]) =>
		all.map(({ processorMilliseconds }) => processorMilliseconds);
	report('A trigger that only calls emit', rates(runs.emitOnly), 'msg/s');
	report('Agent Session Trigger', rates(runs.ours), 'msg/s');
	report('Processor time of n8n, emit only', costs(runs.emitOnly), 'ms');
	report('Processor time of n8n, Agent Session Trigger', costs(runs.ours), 'ms');
	return {
		rate: median(rates(runs.ours)) / median(rates(runs.emitOnly)),
		processor: median(costs(runs.ours)) / median(costs(runs.emitOnly)),
	};
}
