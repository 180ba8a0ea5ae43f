import { setImmediate as afterReading } from 'node:timers/promises';

/** All but `setTimeout`. */
const others = [
	...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
	...(['nextTick', 'queueMicrotask', 'Date', 'hrtime', 'performance'] as const),
];

export interface HeldTime {
	/** Lets the event loop turn until the condition holds. */
	until(condition: () => boolean): Promise<void>;
	/** Lets time pass after what is on its way within this process has arrived. */
	pass(milliseconds: number): Promise<void>;
}

/** Holds the time of `setTimeout`, so that a limit ends only when the test says so, however busy the machine is. */
export async function holdTime(work: (time: HeldTime) => Promise<void>): Promise<void> {
	jest.useFakeTimers({ doNotFake: [...others] });
	try {
		await work({
			async until(condition) {
				while (!condition()) await afterReading();
			},
			async pass(milliseconds) {
				for (let turn = 0; turn < 100; turn++) await afterReading();
				jest.advanceTimersByTime(milliseconds);
			},
		});
	} finally {
		jest.useRealTimers();
	}
}
