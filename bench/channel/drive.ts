import type { Station, Stored } from './station.ts';
import { until } from './waiting.ts';

export interface Driven {
	readonly messagesPerSecond: number;
	/** Processor time of n8n, in milliseconds. */
	readonly processorMilliseconds: number;
	/** Number of the newest execution before the start. */
	readonly after: number;
}

const quietMilliseconds = 300;

/** Sends `count` messages at once and waits for the end of their last execution. */
export async function drive(
	{ probe, service }: Station,
	workflow: Stored,
	count: number,
	batchSize: number,
): Promise<Driven> {
	const [after, before, processor] = [probe.newest(), probe.ended(workflow.id), probe.cpuSeconds()];
	const start = performance.now();
	let last = { ended: 0, at: start };
	for (let n = 0; n < count; n++) service.send(workflow.name, { n });
	// A batch may be smaller than its limit, so the number of executions is not known in advance: it is at
	// least the minimum, and complete when no more follow.
	await until(`executions of ${workflow.name}`, () => {
		const ended = probe.ended(workflow.id) - before;
		if (ended !== last.ended) last = { ended, at: performance.now() };
		if (ended < count / batchSize) return false;
		return batchSize === 1 || performance.now() - last.at > quietMilliseconds;
	});
	return {
		messagesPerSecond: (count / (last.at - start)) * 1000,
		processorMilliseconds: (probe.cpuSeconds() - processor) * 1000,
		after,
	};
}
