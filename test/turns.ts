import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';

/**
 * Lets the event loop turn so often, about once a millisecond, and read what has arrived in each turn: what is on its way
 * within this process is there then, even if the process stood still meanwhile.
 */
export async function turns(count: number): Promise<void> {
	for (let turn = 0; turn < count; turn++) {
		await sleep(1);
		await afterReading();
	}
}
