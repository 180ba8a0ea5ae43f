/**
 * Holds all timers of one length until the test says that the time is over. A real one might be
 * over before that has begun for which it waits. The mock ends with `jest.restoreAllMocks()`.
 * @param milliseconds longer than the test takes, and no other timer's length
 * @returns ends the time
 */
export function holdTimers(milliseconds: number): () => void {
	const start = globalThis.setTimeout;
	const held: Array<() => void> = [];
	const hold = (call: (...given: unknown[]) => void, length?: number, ...given: unknown[]) => {
		const timer = start(call, length, ...given);
		if (length === milliseconds)
			held.push(() => {
				clearTimeout(timer);
				call(...given);
			});
		return timer;
	};
	jest.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof setTimeout);
	return () => {
		for (const end of held.splice(0)) end();
	};
}
