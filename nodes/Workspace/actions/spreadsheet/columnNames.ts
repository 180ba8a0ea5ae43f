import { getOrAdd, maxKeyLength } from '../../../core/maps';
import { createRefusal } from '../../../core/errors';
import { joinLines, listNames, shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { toColumnLetters } from './range';

export const headerRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** Creates a refusal that lists all columns. @param names the names of the table's columns */
export const createColumnError = (message: string, names: readonly string[], advice: string) =>
	createRefusal(message, `Its columns are ${listNames(names)}. ${advice}`);

/** The columns that have a header, by their names. Without any header yet, they are empty. */
export interface NamedColumns {
	/** The names as Read gives them. */
	readonly names: readonly string[];
	/** Columns by these names, and by the header as it stands in the cell. */
	readonly columnsByName: ReadonlyMap<string, number>;
}

/** These keys of an item mean something else than a column. */
const reservedNames = ['error', 'rowNumber', '__proto__'];
/**
 * Names the columns below headers, without white space at the ends of a name. A repeated header
 * gets `_2`, `_3` and so on, an empty one becomes its letter. Rows may also name a column by its
 * header as it stands in the cell.
 * @param headers what the sheet shows
 */
export function nameColumns(headers: readonly string[], startColumn: number): NamedColumns {
	const texts = headers.map((text) => shorten(text, maxKeyLength));
	const names = buildUniqueNames(
		texts.map((text, index) => text.trim() || toColumnLetters(startColumn + index)),
	);
	const columnsByName = new Map(names.map((name, index) => [name, startColumn + index]));
	for (const [index, text] of texts.entries())
		if (text !== '') getOrAdd(columnsByName, text, () => startColumn + index);
	return { names, columnsByName };
}

function buildUniqueNames(names: readonly string[]): string[] {
	const usedNames = new Set(reservedNames);
	/**
	 * The number to try next for each name. With many equal headers, trying all numbers from 2 on
	 * would take long.
	 */
	const nextNumbers = new Map<string, number>();
	return names.map((name) => {
		let uniqueName = name;
		let number = nextNumbers.get(name) ?? 2;
		while (usedNames.has(uniqueName)) uniqueName = `${name}_${number++}`;
		nextNumbers.set(name, number);
		usedNames.add(uniqueName);
		return uniqueName;
	});
}

/**
 * Returns the letters of a name, in which case, white space and Unicode form do not count. Those of
 * a very long name are cut off, one letter after the longest that count.
 */
const toLetters = (name: string) =>
	joinLines(name)
		.normalize()
		.toLowerCase()
		.slice(0, maxKeyLength + 1);

/**
 * Lets a name such as `subject` find the column Subject, if no other column and no other name of
 * the same row has these letters. White space does not count either, such as the byte order mark
 * that n8n leaves before the first field of a CSV file. A very long name finds only its own column.
 * @param rows the names of each row
 * @returns the columns by all their names
 */
export function findColumnsInAnyCase(
	{ names: headers, columnsByName }: NamedColumns,
	rows: ReadonlyArray<readonly string[]>,
): Map<string, number> {
	const columnsByLetters = new Map<string, number | undefined>();
	for (const header of headers) {
		const letters = toLetters(header);
		const isRepeated = columnsByLetters.has(letters);
		columnsByLetters.set(letters, isRepeated ? undefined : columnsByName.get(header));
	}
	const lettersByName = new Map<string, string>();
	for (const name of new Set(rows.flat())) lettersByName.set(name, toLetters(name));
	const mayShare = new Set(lettersByName.values()).size < lettersByName.size;
	for (const names of mayShare ? rows : []) {
		const lettersOfRow = new Set<string>();
		for (const name of names) {
			const letters = lettersByName.get(name) ?? '';
			if (lettersOfRow.has(letters)) columnsByLetters.delete(letters);
			lettersOfRow.add(letters);
		}
	}
	const allColumns = new Map(columnsByName);
	for (const [name, letters] of lettersByName) {
		const column = columnsByLetters.get(letters);
		if (column !== undefined && letters.length <= maxKeyLength)
			getOrAdd(allColumns, name, () => column);
	}
	return allColumns;
}
