import { foldText } from '../../../../core/text';
import type { Cell } from '../cells';
import { DateCell, isSameTime, roundToMillisecond } from '../dates/dates';

/** The cells of the match columns, in their order. */
type Key = readonly Cell[];

/** Finds rows by their keys. An exact match wins, then the same text, then the same value of another type, as for "001234" and 1234. */
export class KeyIndex {
	/** The rows with their keys, by the text that all keys have in common that may be equal. */
	readonly #entries = new Map<string, Array<{ readonly row: number; readonly key: Key }>>();
	/** The keys as messages show them, by the same keys without case and spaces. */
	readonly #foldedKeys = new Map<string, string>();
	/** Whether a key has a number or a boolean, of which the sheet may show another text. */
	hasValues = false;

	/** Adds a row, unless its key is empty. */
	add(row: number, key: Key): void {
		if (key.every((cell) => cell === '')) return;
		const text = toCommonText(key);
		const entries = this.#entries.get(text) ?? [];
		entries.push({ row, key });
		this.#entries.set(text, entries);
		this.#foldedKeys.set(foldKey(key), key.map(String).join(', '));
		this.hasValues ||= key.some((cell) => typeof cell !== 'string');
	}

	find(key: Key): readonly number[] {
		const rows = this.#findEqual(key);
		if (rows.length > 0 || !key.some(isDateCell)) return rows;
		// A column may hold texts that look like dates.
		return this.#findEqual(key.map(restoreDateText));
	}

	#findEqual(key: Key): readonly number[] {
		const entries = this.#entries.get(toCommonText(key)) ?? [];
		for (const isEqual of [isSameCell, isSameText, isSameValue]) {
			const matches = entries.filter((entry) =>
				entry.key.every((cell, index) => isEqual(cell, key[index] ?? '')),
			);
			if (matches.length > 0) return matches.map(({ row }) => row);
		}
		return [];
	}

	/** Finds a key that differs only by case or spaces. */
	findNearKey(key: Key): string | undefined {
		return this.#foldedKeys.get(foldKey(key));
	}
}

const foldKey = (key: Key) => JSON.stringify(key.map((cell) => foldText(String(cell))));

const toCommonText = (key: Key) => JSON.stringify(key.map(toValueText));

/** Returns the same text for all cells that may be equal, such as 1234 and " 001234". */
function toValueText(cell: Cell): string {
	if (isDateCell(cell)) return String(roundToMillisecond(cell.serial));
	if (typeof cell === 'number') return String(roundToMillisecond(cell));
	const text = String(cell).trim();
	if (isPlainNumber(text)) return String(Number(text));
	return /^(true|false)$/i.test(text) ? text.toLowerCase() : text;
}

/** @param stored a cell of the table, in which a date is a number, or a cell that an earlier item changes */
export function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!isDateCell(cell)) return stored === cell;
	const serial = isDateCell(stored) ? stored.serial : stored;
	return typeof serial === 'number' ? isSameTime(serial, cell.serial) : stored === cell.text;
}

const isSameText = (stored: Cell, cell: Cell) => String(stored).trim() === String(cell).trim();

/** Whether a text and a value of another type are equal. Two texts such as "7" and "007" are not. */
export const isSameValue = (stored: Cell, cell: Cell) =>
	isSameText(stored, cell) ||
	((typeof stored !== 'string' || typeof cell !== 'string') &&
		toValueText(stored) === toValueText(cell));

export const isDateCell = (cell: Cell) => cell instanceof DateCell;

/** Turns a date back into the text from which it was parsed. Other cells stay as they are. */
export const restoreDateText = (cell: Cell) => (isDateCell(cell) ? cell.text : cell);

/** At most 15 digits, because a number keeps no more. */
const isPlainNumber = (text: string) =>
	/^[+-]?(?=(?:\D*\d){1,15}(?!\d))(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
