export const pause = (milliseconds: number) =>
	new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

interface Patience {
	readonly limitSeconds?: number;
	readonly everyMilliseconds?: number;
}

/** @throws if the condition is not met in time, because a benchmark must not hang silently */
export async function until(
	what: string,
	condition: () => boolean,
	{ limitSeconds = 180, everyMilliseconds = 20 }: Patience = {},
): Promise<void> {
	const deadline = performance.now() + limitSeconds * 1000;
	while (!condition()) {
		if (performance.now() > deadline) throw new Error(`${what}: not within ${limitSeconds} s`);
		await pause(everyMilliseconds);
	}
}
