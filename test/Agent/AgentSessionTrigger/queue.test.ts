import type { QueueSettings } from '../../../nodes/Agent/AgentSessionTrigger/fields';
import fc from 'fast-check';

import {
	createEventArrival,
	MessageQueue,
	type QueueEntry,
} from '../../../nodes/Agent/AgentSessionTrigger/queue';
import { FakeClock, settled } from '../session/fakeClock';

interface Numbered extends QueueEntry {
	readonly n: number;
}

const defaults: QueueSettings = {
	maxQueuedMessages: 10,
	maxQueuedBytes: 1000,
	onQueueFull: 'pause',
	batchSize: 1,
	batchWaitMilliseconds: 0,
	maxConcurrentExecutions: 1,
};

class QueueRun {
	readonly clock = new FakeClock();
	readonly batches: Array<readonly Numbered[]> = [];
	readonly log: string[] = [];
	readonly queue: MessageQueue<Numbered>;
	readonly #ends: Array<(isDone: boolean) => void> = [];
	#count = 0;

	constructor(settings: Partial<QueueSettings> = {}) {
		const listener = {
			deliver: (batch: readonly Numbered[]) => {
				this.batches.push(batch);
				return new Promise<boolean>((resolve) => this.#ends.push(resolve));
			},
			pauseReading: () => void this.log.push('pause'),
			resumeReading: () => void this.log.push('resume'),
			reportDropped: (messages: readonly Numbered[]) =>
				void this.log.push(`dropped ${messages.length}`),
		};
		this.queue = new MessageQueue({ ...defaults, ...settings }, listener, this.clock);
	}

	get delivered(): number[][] {
		return this.batches.map((batch) => batch.map(({ n }) => n));
	}

	/** How many deliveries have not ended. */
	get delivering(): number {
		return this.#ends.length;
	}

	push(count = 1, more: Partial<QueueEntry> = {}): void {
		for (let left = count; left > 0; left--) {
			this.queue.push({
				n: ++this.#count,
				sessionId: 's',
				byteLength: 10,
				isMessage: true,
				...more,
			});
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
	expect(run.delivered).toEqual([[1], [2]]);
	await run.end();
	expect(run.delivered).toEqual([[1], [2], [3]]);
	expect([run.queue.length, run.queue.heldBytes, run.delivering]).toEqual([1, 10, 2]);
});

test('a full batch goes at once, another when its time has come', async () => {
	const run = new QueueRun({
		batchSize: 3,
		batchWaitMilliseconds: 100,
		maxConcurrentExecutions: 5,
	});
	run.push(4);
	expect(run.delivered).toEqual([[1, 2, 3]]);
	await run.clock.advance(60);
	run.push();
	await run.clock.advance(39);
	expect(run.delivered).toHaveLength(1);
	await run.clock.advance(1);
	expect(run.delivered).toEqual([
		[1, 2, 3],
		[4, 5],
	]);
	expect(run.clock.pending).toBe(0);
});

test('without a wait a batch is what came at once', async () => {
	const run = new QueueRun({ batchSize: 100, maxConcurrentExecutions: 5 });
	run.push(7);
	expect(run.delivered).toEqual([]);
	await run.clock.advance(0);
	expect(run.delivered).toEqual([upTo(7)]);
});

test('what waited for its turn goes as it is when the turn comes', async () => {
	const run = new QueueRun({ batchSize: 100 });
	run.push();
	await run.clock.advance(0);
	run.push(5);
	await run.clock.advance(10);
	expect(run.delivered).toEqual([[1]]);
	await run.end();
	expect(run.delivered).toEqual([[1], [2, 3, 4, 5, 6]]);
});

test.each([
	['messages', { maxQueuedMessages: 4 }],
	['bytes', { maxQueuedBytes: 40 }],
])(
	'pauses when it is full of %s, goes on when it is half empty, and drops nothing',
	async (_, settings) => {
		const run = new QueueRun(settings);
		run.push(7);
		expect(run.log).toEqual(['pause']);
		for (let n = 0; n < 3; n++) await run.end();
		expect(run.log).toEqual(['pause']);
		await run.end();
		expect(run.log).toEqual(['pause', 'resume']);
		for (let n = 0; n < 3; n++) await run.end();
		expect(run.delivered.flat()).toEqual(upTo(7));
	},
);

test('paused, it waits for no batch that cannot become full', async () => {
	const run = new QueueRun({
		batchSize: 100,
		batchWaitMilliseconds: 60_000,
		maxQueuedMessages: 3,
	});
	run.push(3);
	expect(run.delivered).toEqual([upTo(3)]);
	expect(run.log).toEqual(['pause', 'resume']);
	await run.end();
});

test('drops the oldest, and tells with the next message of the same session', async () => {
	const run = new QueueRun({ onQueueFull: 'dropOldest', maxQueuedMessages: 2 });
	run.push();
	run.push(1, { sessionId: 'a' });
	run.push(1, { sessionId: 'b' });
	run.push(1, { isMessage: false, sessionId: 'a' });
	run.push(1, { sessionId: 'a' });
	expect(run.log).toEqual(['dropped 1', 'dropped 1']);
	for (let n = 0; n < 3; n++) await run.end();
	const told = run.batches.flat().map(({ n, droppedCount: dropped }) => [n, dropped]);
	expect(told).toEqual([
		[1, undefined],
		[4, undefined],
		[5, 1],
	]);
});

test('makes room for a message that is larger than the whole queue', () => {
	const run = new QueueRun({ onQueueFull: 'dropOldest', maxQueuedBytes: 50 });
	run.push(3);
	run.push(1, { byteLength: 500 });
	expect(run.log).toEqual(['dropped 2']);
	expect([run.queue.length, run.queue.heldBytes]).toEqual([1, 500]);
});

test('drains within its bounds, batches as they are, also of what comes meanwhile', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(4);
	let drained = false;
	void run.queue.drain().then(() => (drained = true));
	run.push();
	expect(run.delivered).toEqual([[1, 2]]);
	await run.end();
	expect([run.delivered.at(-1), drained]).toEqual([[3, 4], false]);
	await run.end();
	expect([run.delivered.at(-1), drained]).toEqual([[5], true]);
	expect([run.clock.pending, run.log]).toEqual([0, []]);
});

test('an empty queue is drained at once', async () => {
	await new QueueRun().queue.drain();
});

test('at its end delivers nothing more, keeps what still comes, gives it back, and leaves no timer', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(4);
	run.queue.end();
	run.push();
	await run.end();
	expect(run.delivered).toEqual([[1, 2]]);
	expect(run.queue.takeLeftover().entries.map(({ n }) => n)).toEqual([3, 4, 5]);
	expect([run.queue.length, run.queue.heldBytes, run.clock.pending]).toEqual([0, 0, 0]);
	expect(run.queue.takeLeftover().entries).toEqual([]);
});

test('ends with so many batches at once, and no more', async () => {
	const run = new QueueRun({ batchSize: 2, batchWaitMilliseconds: 1000 });
	run.push(9);
	run.queue.end(2);
	await run.end(5);
	expect(run.delivered).toEqual([
		[1, 2],
		[3, 4],
		[5, 6],
	]);
	expect(run.queue.takeLeftover().entries.map(({ n }) => n)).toEqual([7, 8, 9]);
});

test('ends with what there is, where that is less', () => {
	const run = new QueueRun();
	run.push(3);
	run.queue.end(50);
	expect(run.delivered).toEqual([[1], [2], [3]]);
});

test('an event takes as many bytes as it has', () => {
	const event = {
		sessionId: 's',
		event: 'connected',
		at: '',
		gapMs: null,
		reason: null,
	} as const;
	const longer = { ...event, reason: 'lost' } as never;
	expect(createEventArrival(longer).byteLength - createEventArrival(event).byteLength).toBe(
		'"lost"'.length - 4,
	);
});

test('what was dropped before a batch that is refused is told by session', async () => {
	const run = new QueueRun({ onQueueFull: 'dropOldest', maxQueuedMessages: 1 });
	for (const sessionId of ['a', 'a', 'a', 'b']) run.push(1, { sessionId });
	await run.end();
	void run.queue.drain();
	await run.refuse(0);
	expect([...run.queue.takeLeftover().droppedCounts]).toEqual([['a', 2]]);
	const later = new QueueRun({ onQueueFull: 'dropOldest', maxQueuedMessages: 1 });
	later.push(3, { sessionId: 'a' });
	await later.end();
	void later.queue.drain();
	await later.refuse(0);
	later.push(2, { sessionId: 'a' });
	expect([...later.queue.takeLeftover().droppedCounts]).toEqual([['a', 2]]);
});

test('at its end takes what was unread beyond its bounds, up to twice the bytes', () => {
	const run = new QueueRun({ maxQueuedMessages: 2, maxQueuedBytes: 50 });
	run.queue.end();
	for (let n = 0; n < 99; n++) run.push(1, { byteLength: 1 });
	expect(run.log).toEqual([]);
	run.push(1, { byteLength: 1 });
	expect(run.log).toEqual(['pause']);
});

test('that was full before its end, it is so once more at twice the bytes: closing channels read on', () => {
	const run = new QueueRun({ maxQueuedMessages: 2, maxQueuedBytes: 50 });
	run.push(3, { byteLength: 1 });
	void run.queue.drain();
	expect(run.log).toEqual(['pause']);
	run.push(1, { byteLength: 100 });
	expect(run.log).toEqual(['pause', 'pause']);
});

test('a batch that is refused while it drains ends that, and is left in front of the others', async () => {
	const options = {
		maxConcurrentExecutions: 3,
		batchSize: 2,
		onQueueFull: 'dropOldest',
		maxQueuedMessages: 9,
	} as const;
	const run = new QueueRun(options);
	run.push(17);
	let drained = false;
	void run.queue.drain().then(() => (drained = true));
	await run.end();
	expect(run.delivered).toEqual([
		[1, 2],
		[3, 4],
		[5, 6],
		[9, 10],
	]);
	await run.refuse(2);
	await run.refuse(0);
	await run.end();
	expect(drained).toBe(true);
	run.queue.end(50);
	expect(run.delivered).toHaveLength(4);
	const { entries, droppedCounts: dropped } = run.queue.takeLeftover();
	expect(entries.map(({ n }) => n)).toEqual([3, 4, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
	expect([...dropped]).toEqual([['s', 2]]);
	expect(run.delivering).toBe(0);
});

test('goes on with what an earlier queue left, and with its count of what was dropped', async () => {
	const first = new QueueRun({ onQueueFull: 'dropOldest', maxQueuedMessages: 2 });
	first.push(5);
	const second = new QueueRun();
	first.queue.end();
	second.queue.adopt(first.queue.takeLeftover());
	second.push(1);
	for (let n = 0; n < 3; n++) await second.end();
	const told = second.batches.flat().map(({ n, droppedCount: dropped }) => [n, dropped]);
	expect(told).toEqual([
		[4, 2],
		[5, undefined],
		[1, undefined],
	]);
});

test('whatever comes in whatever order: nothing is lost, doubled or out of order, and the bounds hold', async () => {
	const settings = fc.record({
		maxQueuedMessages: fc.integer({ min: 1, max: 20 }),
		maxQueuedBytes: fc.integer({ min: 1, max: 300 }),
		onQueueFull: fc.constantFrom('pause' as const, 'dropOldest' as const),
		batchSize: fc.integer({ min: 1, max: 8 }),
		batchWaitMilliseconds: fc.integer({ min: 0, max: 50 }),
		maxConcurrentExecutions: fc.integer({ min: 1, max: 4 }),
	});
	const step = fc.oneof(
		fc.record({
			push: fc.integer({ min: 1, max: 12 }),
			bytes: fc.integer({ min: 0, max: 60 }),
		}),
		fc.record({ end: fc.integer({ min: 1, max: 3 }) }),
		fc.record({ wait: fc.integer({ min: 0, max: 60 }) }),
	);
	await fc.assert(
		fc.asyncProperty(settings, fc.array(step, { maxLength: 40 }), async (chosen, steps) => {
			const run = new QueueRun(chosen);
			let pushed = 0;
			for (const one of steps) {
				if ('push' in one) {
					run.push(one.push, { byteLength: one.bytes });
					pushed += one.push;
				} else if ('end' in one) await run.end(one.end);
				else await run.clock.advance(one.wait);
				expect(run.delivering).toBeLessThanOrEqual(chosen.maxConcurrentExecutions);
				if (chosen.onQueueFull === 'dropOldest')
					expect(run.queue.length).toBeLessThanOrEqual(chosen.maxQueuedMessages);
			}
			for (let n = 0; n < pushed; n++) {
				await run.clock.advance(chosen.batchWaitMilliseconds);
				await run.end(chosen.maxConcurrentExecutions);
			}
			const all = run.batches.flat();
			const lost = all.reduce((sum, { droppedCount: dropped = 0 }) => sum + dropped, 0);
			expect(all.length + lost).toBe(pushed);
			const numbers = all.map(({ n }) => n);
			expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
			expect(run.clock.pending).toBe(0);
			expect(run.log.at(-1)).not.toBe('pause');
		}),
		{ numRuns: 150 },
	);
});
