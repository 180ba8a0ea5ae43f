import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for so many turns of the event loop, each of which reads what has come. Other than a time,
 * they do not pass while the machine is busy with something else. Only for what goes on in this
 * process.
 */
export async function passTurns(count: number): Promise<void> {
	for (let turn = 0; turn < count; turn++) await sleep(1);
}
