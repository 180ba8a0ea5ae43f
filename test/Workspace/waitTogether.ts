import { setImmediate as turn } from 'node:timers/promises';

import { getGlobalSingleton } from '../../nodes/core/globalSingleton';
import { KeyedMutex } from '../../nodes/core/keyedMutex';

/**
 * Waits until a run that was just started waits for the lock of its spreadsheet. Until then, it
 * waits for nothing but this process.
 */
export async function untilWaiting(): Promise<void> {
	for (let at = 0; at < 200; at++) await turn();
}

/**
 * Starts runs while another one, of whatever version of the package, has the lock of a spreadsheet, so that they wait together, in their
 * order.
 * @param meanwhile is called when all of them wait
 */
export async function waitTogether<T>(
	spreadsheetId: string,
	starts: ReadonlyArray<() => Promise<T>>,
	meanwhile: () => void = () => undefined,
): Promise<T[]> {
	const locks = new KeyedMutex(
		getGlobalSingleton('locks', () => new Map<string, Promise<unknown>>()),
	);
	let release: () => void = () => undefined;
	const held = locks.doInTurn(
		spreadsheetId,
		() => new Promise<void>((resolve) => (release = resolve)),
	);
	const running: Array<Promise<T>> = [];
	for (const start of starts) {
		running.push(start());
		await untilWaiting();
	}
	meanwhile();
	release();
	await held;
	return await Promise.all(running);
}
