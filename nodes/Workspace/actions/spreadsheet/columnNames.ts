import { columnLetters } from './range';

/** Keys that mean something else in an output item. */
export const reservedNames: readonly string[] = ['error', 'rowNumber', '__proto__'];

/**
 * Unique names of columns, from their headers: a repeated one gets `_2`, `_3` …, an empty one becomes its column letter.
 * @param startColumn of the first header, from 0
 */
export function columnNames(
	headers: readonly string[],
	startColumn: number,
	reserved: readonly string[] = reservedNames,
): string[] {
	const taken = new Set(reserved);
	/** The next number of a repeated name: trying from 2 each time would take long with many equal headers. */
	const numbers = new Map<string, number>();
	return headers.map((header, at) => {
		const name = header || columnLetters(startColumn + at);
		let unique = name;
		let number = numbers.get(name) ?? 2;
		while (taken.has(unique)) unique = `${name}_${number++}`;
		numbers.set(name, number);
		taken.add(unique);
		return unique;
	});
}
