import { setImmediate as turn } from 'node:timers/promises';

import { getGlobalSingleton, KeyedMutex } from '../../nodes/core/runtime';

/**
 * Starts runs while another one, of whatever version of the package, has the turn at a spreadsheet, so that they wait together, in their
 * order. Between its start and its turn a run waits for nothing but this process.
 * @param meanwhile is called when all of them wait
 */
export async function waitTogether<T>(
	spreadsheetId: string,
	starts: ReadonlyArray<() => Promise<T>>,
	meanwhile: () => void = () => undefined,
): Promise<T[]> {
	const turns = new KeyedMutex(getGlobalSingleton('turns', () => new Map<string, Promise<unknown>>()));
	let release: () => void = () => undefined;
	const held = turns.run(spreadsheetId, () => new Promise<void>((resolve) => (release = resolve)));
	const running: Array<Promise<T>> = [];
	for (const start of starts) {
		running.push(start());
		for (let at = 0; at < 200; at++) await turn();
	}
	meanwhile();
	release();
	await held;
	return await Promise.all(running);
}
