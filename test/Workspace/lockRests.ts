import timers from 'node:timers/promises';

import { untilWaiting } from './waitTogether';

/** The rests of locks in a test file. They last until the test ends them. */
export class LockRests {
	/** Of a rest, the part that has begun. */
	readonly parts: Array<{ readonly milliseconds: number; readonly end: () => void }> = [];

	constructor() {
		beforeEach(() => {
			const sleep = timers.setTimeout;
			const rest: typeof sleep = async (milliseconds = 0, ...given) => {
				// Shorter waits are no rests.
				if (milliseconds < 1000) return await sleep(milliseconds, ...given);
				await new Promise<void>((end) => this.parts.push({ milliseconds, end }));
				return given[0] as never;
			};
			jest.spyOn(timers, 'setTimeout').mockImplementation(rest);
		});
		afterEach(async () => {
			while (this.parts.length > 0) await this.endPart();
			jest.restoreAllMocks();
		});
	}

	async endPart(): Promise<void> {
		this.parts.shift()?.end();
		await untilWaiting();
	}

	/** Ends a rest that nobody joins any more, which has two parts. */
	async end(): Promise<void> {
		await this.endPart();
		this.parts.shift()?.end();
	}
}
