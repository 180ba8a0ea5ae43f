// Sustained messages per second, the time from the socket to the start and the end of the execution, and
// n8n's event loop.
import { reportRatio } from '../n8n.ts';
import { drive } from './drive.ts';
import { percentile } from './probe.ts';
import { type Engine, engines, eventLoopDelay, type Station, type Stored, withStation } from './station.ts';
import { row, say } from './text.ts';

const unlimited = 100_000;
const batchSizes = [1, 10, 100];

export async function matrix(): Promise<void> {
	say('Sustained rates, and the time from the socket to the start and the end of the execution');
	for (const engine of Object.keys(engines) as Engine[]) {
		say(`\n${engine}`);
		const rate = await withStation((station) => cells(station), {}, engine);
		// With the default, n8n itself starts too few executions: see the emit-only trigger.
		if (engine === 'isolate when needed')
			reportRatio('batchSize 100, messages per second', rate, { atLeast: 8000 });
	}
}

/** @returns messages per second with the default concurrency and batches of 100 */
async function cells(station: Station): Promise<number> {
	for (const batchSize of batchSizes) {
		const name = `emit only × batch ${batchSize}`;
		await cell(station, await station.emitOnly(name, batchSize), batchSize);
	}
	let usual = NaN;
	for (const maxConcurrentExecutions of [1, 10, unlimited]) {
		for (const batchSize of batchSizes) {
			const width = maxConcurrentExecutions === unlimited ? 'unlimited' : String(maxConcurrentExecutions);
			const name = `concurrency ${width} × batch ${batchSize}`;
			const workflow = await station.ours(name, { maxConcurrentExecutions, batchSize });
			const rate = await cell(station, workflow, batchSize);
			if (batchSize === 100 && maxConcurrentExecutions === 10) usual = rate;
		}
	}
	return usual;
}

/** @returns messages per second */
async function cell(station: Station, workflow: Stored, batchSize: number): Promise<number> {
	await drive(station, workflow, batchSize * 10, batchSize);
	const count = batchSize === 1 ? 200 : batchSize * 150;
	await eventLoopDelay(station.n8n.url);
	const { messagesPerSecond, after } = await drive(station, workflow, count, batchSize);
	const { starts, ends } = station.probe.delays(workflow.id, after);
	const times = (all: number[]) =>
		`p50/p99 ${percentile(all, 0.5).toFixed(0)}/${percentile(all, 0.99).toFixed(0)} ms`;
	const rate = `${messagesPerSecond.toFixed(0).padStart(7)} msg/s`;
	const delay = `event loop p99 ${(await eventLoopDelay(station.n8n.url)).toFixed(0)} ms`;
	row(workflow.name, rate, `start ${times(starts)}`, `end ${times(ends)}`, delay);
	await station.n8n.api.deactivate(workflow);
	return messagesPerSecond;
}
