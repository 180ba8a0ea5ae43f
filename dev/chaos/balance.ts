/** A message with the number `n` from its server, and with the gap mark if it has one. */
export interface Numbered {
	readonly message: unknown;
	readonly gapMs?: number;
}

export interface Balance {
	/** Numbers that never arrived. */
	readonly lost: number;
	/** Numbers that arrived more than once. */
	readonly duplicated: number;
	/** Messages after a gap, or out of order, without a gap mark. */
	readonly unmarked: number;
	/** Messages with a gap mark. */
	readonly gaps: number;
}

/** Counts what happened to the messages numbered from 1 to the highest that arrived. */
export function balanceOf(messages: readonly Numbered[]): Balance {
	const numbers = messages.map(({ message }) => (message as { n: number }).n);
	const distinct = new Set(numbers);
	const unmarked = messages.filter(({ gapMs }, index) => {
		return numbers[index] !== (numbers[index - 1] ?? 0) + 1 && gapMs === undefined;
	});
	return {
		lost: numbers.reduce((most, number) => Math.max(most, number), 0) - distinct.size,
		duplicated: numbers.length - distinct.size,
		unmarked: unmarked.length,
		gaps: messages.filter(({ gapMs }) => gapMs !== undefined).length,
	};
}
