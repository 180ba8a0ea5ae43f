import { columnLetters } from './range';

/** Keys that mean something else in an output item. */
export const reservedNames: readonly string[] = ['error', 'rowNumber', '__proto__'];

/**
 * Names of columns after their headers, each once: what is there already gets `_2`, `_3` …, an empty header its column's letter.
 * @param startColumn of the first header, from 0
 */
export function columnNames(
	headers: readonly string[],
	startColumn: number,
	reserved: readonly string[] = reservedNames,
): string[] {
	const taken = new Set(reserved);
	return headers.map((header, at) => {
		const name = header || columnLetters(startColumn + at);
		let unique = name;
		for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`;
		taken.add(unique);
		return unique;
	});
}
