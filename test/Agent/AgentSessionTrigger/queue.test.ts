import fc from 'fast-check';

import {
	MessageQueue,
	type QueueEntry,
	type QueueSettings,
} from '../../../nodes/Agent/AgentSessionTrigger/queue';
import { FakeClock, settled } from '../session/fakeClock';

interface Numbered extends QueueEntry {
	readonly n: number;
}

const defaults = { batchSize: 1, batchWaitMilliseconds: 0, maxConcurrentExecutions: 1 };

class QueueRun {
	readonly clock = new FakeClock();
	readonly batches: Array<readonly Numbered[]> = [];
	readonly log: string[] = [];
	readonly queue: MessageQueue<Numbered>;
	readonly #ends: Array<(isDone: boolean) => void> = [];
	#count = 0;

	/** The limits are far lower than those of a published trigger. */
	constructor(settings: Partial<QueueSettings> = {}, limits = { entries: 10, bytes: 1000 }) {
		const listener = {
			deliver: (batch: readonly Numbered[]) => {
				this.batches.push(batch);
				return new Promise<boolean>((resolve) => this.#ends.push(resolve));
			},
			pauseReading: () => void this.log.push('pause'),
			resumeReading: () => void this.log.push('resume'),
		};
		this.queue = new MessageQueue({ ...defaults, ...settings }, listener, this.clock, limits);
	}

	/** The batches, such as '1,2'. */
	get delivered(): string[] {
		return this.batches.map((batch) => batch.map(({ n }) => n).join());
	}

	/** How many deliveries have not ended. */
	get delivering(): number {
		return this.#ends.length;
	}

	push(count = 1, more: Partial<QueueEntry> = {}): void {
		for (let left = count; left > 0; left--) {
			this.queue.push({ n: ++this.#count, byteLength: 10, ...more });
		}
	}

	/** The delivery at this place among those that have not ended is refused. */
	async refuse(place: number): Promise<void> {
		for (const end of this.#ends.splice(place, 1)) end(false);
		await settled();
	}

	/** The oldest delivery ends. */
	async end(count = 1): Promise<void> {
		for (const end of this.#ends.splice(0, count)) end(true);
		await settled();
	}
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('delivers at once, as many at a time as allowed, in order', async () => {
	const run = new QueueRun({ maxConcurrentExecutions: 2 });
	run.push(4);
	expect(run.delivered).toEqual(['1', '2']);
	await run.end();
	expect(run.delivered).toEqual(['1', '2', '3']);
	expect([run.queue.length, run.queue.heldBytes, run.delivering]).toEqual([1, 10, 2]);
});

test('a full batch goes at once, another when its time has come', async () => {
	const batches = { batchSize: 3, batchWaitMilliseconds: 100 };
	const run = new QueueRun({ ...batches, maxConcurrentExecutions: 5 });
	run.push(4);
	expect(run.delivered).toEqual(['1,2,3']);
	await run.clock.advance(60);
	run.push();
	await run.clock.advance(39);
	expect(run.delivered).toHaveLength(1);
	await run.clock.advance(1);
	expect(run.delivered).toEqual(['1,2,3', '4,5']);
	expect(run.clock.pending).toBe(0);
});

test('the time of a batch begins with its oldest message, also when that waited for its turn', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 100 });
	run.push(4);
	await run.clock.advance(60);
	run.push();
	await run.clock.advance(30);
	await run.end(1);
	await run.end(1);
	expect(run.delivered).toEqual(['1,2', '3,4']);
	await run.clock.advance(69);
	expect(run.delivered).toHaveLength(2);
	await run.clock.advance(1);
	expect(run.delivered.at(-1)).toBe('5');
});

test('without a wait a batch is what came at once', async () => {
	const run = new QueueRun({ batchSize: 100, maxConcurrentExecutions: 5 });
	run.push(7);
	expect(run.delivered).toEqual([]);
	await run.clock.advance(0);
	expect(run.delivered).toEqual(['1,2,3,4,5,6,7']);
});

test('what waited for its turn goes as it is when the turn comes', async () => {
	const run = new QueueRun({ batchSize: 100 });
	run.push();
	await run.clock.advance(0);
	run.push(5);
	await run.clock.advance(10);
	expect(run.delivered).toEqual(['1']);
	await run.end();
	expect(run.delivered).toEqual(['1', '2,3,4,5,6']);
});

test.each([
	['messages', { entries: 4, bytes: 1000 }],
	['bytes', { entries: 1000, bytes: 40 }],
])(
	'pauses when it is full of %s, goes on when it is half empty, and drops nothing',
	async (_, limits) => {
		const run = new QueueRun({}, limits);
		run.push(7);
		expect(run.log).toEqual(['pause']);
		for (let n = 0; n < 3; n++) await run.end();
		expect(run.log).toEqual(['pause']);
		await run.end();
		expect(run.log).toEqual(['pause', 'resume']);
		for (let n = 0; n < 3; n++) await run.end();
		expect(run.delivered).toEqual(['1', '2', '3', '4', '5', '6', '7']);
	},
);

test('paused, it waits for no batch that cannot become full', async () => {
	const settings = { batchSize: 100, batchWaitMilliseconds: 60_000 };
	const run = new QueueRun(settings, { entries: 3, bytes: 1000 });
	run.push(3);
	expect(run.delivered).toEqual(['1,2,3']);
	expect(run.log).toEqual(['pause', 'resume']);
	await run.end();
});

test('hands over within its bounds, batches as they are, also of what comes meanwhile', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(4);
	let isEmpty = false;
	void run.queue.handOver(1).then(() => (isEmpty = true));
	run.push();
	expect(run.delivered).toEqual(['1,2']);
	await run.end();
	expect([run.delivered.at(-1), isEmpty]).toEqual(['3,4', false]);
	await run.end();
	expect([run.delivered.at(-1), isEmpty]).toEqual(['5', true]);
	expect([run.clock.pending, run.log]).toEqual([0, []]);
});

test('at its end delivers nothing more, keeps what still comes, gives it back, and leaves no timer', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(5);
	expect(run.queue.takeLeftover().map(({ n }) => n)).toEqual([3, 4, 5]);
	run.push();
	await run.end();
	expect(run.delivered).toEqual(['1,2']);
	expect([run.queue.length, run.queue.heldBytes, run.clock.pending]).toEqual([1, 10, 0]);
	expect(run.queue.takeLeftover().map(({ n }) => n)).toEqual([6]);
	expect(run.queue.takeLeftover()).toEqual([]);
});

test.each([
	[4, 4, [9]],
	[50, 5, []],
])('hands over up to %d batches at once', (maxRunning, count, left) => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(9);
	void run.queue.handOver(maxRunning);
	expect(run.delivered.slice(0, 4)).toEqual(['1,2', '3,4', '5,6', '7,8']);
	expect(run.delivered).toHaveLength(count);
	expect(run.queue.takeLeftover().map(({ n }) => n)).toEqual(left);
});

test('a batch that is refused while it hands over ends that, and is left in front of the others', async () => {
	const settings = { maxConcurrentExecutions: 3, batchSize: 2 };
	const run = new QueueRun(settings, { entries: 100, bytes: 1000 });
	run.push(15);
	let isOver = false;
	void run.queue.handOver(1).then(() => (isOver = true));
	await run.end();
	expect(run.delivered).toEqual(['1,2', '3,4', '5,6', '7,8']);
	await run.refuse(2);
	await run.refuse(0);
	await run.end();
	expect(isOver).toBe(true);
	void run.queue.handOver(50);
	expect(run.delivered).toHaveLength(4);
	const left = run.queue.takeLeftover().map(({ n }) => n);
	expect(left).toEqual([3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
	expect(run.delivering).toBe(0);
});

test('messages are held up only while as many executions run as may', async () => {
	const batches = { batchSize: 2, batchWaitMilliseconds: 9 };
	const run = new QueueRun({ ...batches, maxConcurrentExecutions: 2 });
	run.push(3);
	expect(run.queue.isBlocked).toBe(false);
	run.push(2);
	expect(run.queue.isBlocked).toBe(true);
	await run.end();
	await run.clock.advance(9);
	expect(run.queue.isBlocked).toBe(false);
});

test('whatever comes in whatever order: nothing is lost, doubled or out of order, and the bounds hold', async () => {
	const between = (min: number, max: number) => fc.integer({ min, max });
	const settings = fc.record({
		batchSize: between(1, 8),
		batchWaitMilliseconds: between(0, 50),
		maxConcurrentExecutions: between(1, 4),
	});
	const limits = fc.record({ entries: between(1, 20), bytes: between(1, 300) });
	const step = fc.oneof(
		fc.record({ push: between(1, 12), bytes: between(0, 60) }),
		fc.record({ end: between(1, 3) }),
		fc.record({ wait: between(0, 60) }),
	);
	await fc.assert(
		fc.asyncProperty(
			settings,
			limits,
			fc.array(step, { maxLength: 40 }),
			async (chosen, bounds, steps) => {
				const run = new QueueRun(chosen, bounds);
				let pushed = 0;
				for (const one of steps) {
					if ('push' in one) {
						run.push(one.push, { byteLength: one.bytes });
						pushed += one.push;
					} else if ('end' in one) await run.end(one.end);
					else await run.clock.advance(one.wait);
					expect(run.delivering).toBeLessThanOrEqual(chosen.maxConcurrentExecutions);
				}
				for (let n = 0; n < pushed; n++) {
					await run.clock.advance(chosen.batchWaitMilliseconds);
					await run.end(chosen.maxConcurrentExecutions);
				}
				expect(run.delivered.join()).toBe(upTo(pushed).join());
				expect(run.clock.pending).toBe(0);
				expect(run.log.at(-1)).not.toBe('pause');
			},
		),
		{ numRuns: 150 },
	);
});
