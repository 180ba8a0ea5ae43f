import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { isRecord, TypedText } from '../../../fields/values';
import type { Item } from '../../operation';
import { DateCell, toIsoText } from './dates';
import { rowNumberKeys, type RowParams } from './fields';

/** The value of a cell. "" clears the cell. null leaves it unchanged, but `toRowData` clears it. */
export type Cell = string | number | boolean | null | DateCell;

/** Google's limit for the text of a cell, in UTF-16 units. */
const maxCellLength = 50_000;

/**
 * @param place says where the value is, as in "Row 1, column 2 of 'values'"
 * @throws NodeError 400 if a cell cannot hold the value
 */
function toCell(value: unknown, place: string): Cell {
	const cell = convertToCell(value);
	const isTooLong = typeof cell === 'string' && cell.length > maxCellLength;
	if (cell !== undefined && !isTooLong) return cell;
	throw createRefusal(
		`${place} does not fit in a cell`,
		`A cell holds text of up to ${maxCellLength} characters, a finite number, true, false, a valid date, or an object that does not contain itself.`,
	);
}

/**
 * Converts a date to ISO 8601 text, a list of plain values to text with ", " between them, an
 * object to JSON. Undefined if that fails.
 */
function convertToCell(value: unknown): Cell | undefined {
	if (value === undefined || value === null) return null;
	if (typeof value === 'string' || typeof value === 'boolean') return value;
	if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
	if (typeof value !== 'object') return undefined;
	const isoText = toIsoText(value);
	// A date that is not valid has no text.
	if (isoText !== undefined) return isoText || undefined;
	if (Array.isArray(value) && value.every(isPlainValue)) {
		const cells = value.map(convertToCell);
		return cells.includes(undefined) ? undefined : cells.join(', ');
	}
	try {
		return JSON.stringify(value);
	} catch {
		return undefined;
	}
}

const isPlainValue = (value: unknown) =>
	typeof value !== 'object' || value === null || toIsoText(value) !== undefined;

/** A row from the user, whose cells have the names of their columns. */
export interface NamedRow {
	readonly cellsByName: ReadonlyMap<string, Cell>;
	/**
	 * The row number that the item has from an earlier Read, unchecked. It is never written as a
	 * cell.
	 */
	readonly rowNumber: unknown;
	/**
	 * Names of the cells that a person typed or a model filled in: the text may stand for a number,
	 * a boolean or a date.
	 */
	readonly typedNames: ReadonlySet<string>;
}

type GivenParams = Pick<RowParams, 'valuesSource' | 'values' | 'columns'>;

/** Whether the rows name their columns, so that each cell goes below the header with its name. */
export const hasColumnNames = ({ valuesSource, values }: Omit<GivenParams, 'columns'>) =>
	valuesSource !== 'json' || (values.length > 0 && !Array.isArray(values[0]));

/**
 * Reads the rows of one item, which name their columns.
 * @throws NodeError 400 if there are no cells, or if one is invalid
 */
export function readNamedRows({ valuesSource, values, columns }: GivenParams, item: Item) {
	if (valuesSource === 'json') return values.map(readRecord);
	// With Map Automatically, Columns has no values of its own: the fields of the item count.
	if (!columns) return [readItem(item)];
	// If Columns has an empty row number, the item's own row number does not count: the item may
	// come from another table.
	const hasNumber = rowNumberKeys.some((key) => key in columns);
	// A column that was left empty in the form has no value.
	const filled = Object.entries(columns).filter(([, value]) => value !== undefined);
	const row = toNamedRow(Object.fromEntries(filled), quoteField('columns'));
	return [hasNumber ? row : { ...row, rowNumber: findRowNumber(item.json) }];
}

/** Reads rows of cells. @throws NodeError 400 if there are no cells, or if one is invalid */
export function readCellRows(values: readonly unknown[]): Cell[][] {
	if (values.flat().length === 0)
		throw createRefusal(
			`${quoteField('values')} has no cells`,
			'Nothing was sent. Enter rows such as [["Anna", 31], ["Ben", 42]], or check the expression that provides them.',
		);
	return values.map((row, index) => {
		if (!Array.isArray(row)) throw createMixedRowsError();
		// `row.map` would skip the holes of a sparse array.
		return Array.from(row, (value: unknown, column) =>
			toCell(value, `Row ${index + 1}, column ${column + 1} of ${quoteField('values')}`),
		);
	});
}

function createMixedRowsError() {
	const message = `${quoteField('values')} mixes rows of cells with objects`;
	return createRefusal(message, 'Nothing was sent. Use only one kind.');
}

type Values = Readonly<Record<string, unknown>>;

function readRecord(row: unknown, index: number): NamedRow {
	if (!isRecord(row)) throw createMixedRowsError();
	return toNamedRow(row, `Row ${index + 1} of ${quoteField('values')}`);
}

function readItem({ json, isTool }: Item): NamedRow {
	if (!isTool) return toNamedRow(json, 'The input item');
	throw createRefusal(
		'As a tool for an AI agent, the node has no input items to take rows from',
		`Nothing was written. Define a value for each column in ${quoteField('columns')}, or set ${quoteField('valuesSource')} to ${mentionChoice('valuesSource', 'json')}, and let the model define the values.`,
	);
}

function toNamedRow(row: Values, source: string): NamedRow {
	const cellsByName = new Map<string, Cell>();
	const typedNames = new Set<string>();
	for (const [name, value] of Object.entries(row)) {
		if (rowNumberKeys.includes(name)) continue;
		if (value instanceof TypedText) typedNames.add(name);
		cellsByName.set(name, toCell(getTypedValue(value), `${source}, field '${name}',`));
	}
	if (cellsByName.size > 0) return { cellsByName, rowNumber: findRowNumber(row), typedNames };
	const advice = 'Nothing was sent for it, because the row would be empty.';
	throw createRefusal(`${source} has no values for columns`, advice);
}

const getTypedValue = (value: unknown) => (value instanceof TypedText ? value.text : value);

const findRowNumber = (row: Values) =>
	getTypedValue(rowNumberKeys.map((key) => row[key]).find((value) => value !== undefined));

/** Lists the names of each row. */
export const listRowNames = (rows: readonly NamedRow[]): string[][] =>
	rows.map(({ cellsByName }) => [...cellsByName.keys()]);

/** Returns whether a text is a number as programs write it, such as `-5`, `.5` or `1e5`. */
export const isNumberText = (text: string) =>
	/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text);

/** Returns whether a cell can hold a number exactly: one of at most 15 digits. */
export const isExactNumber = (text: string) =>
	isNumberText(text) && text.replaceAll(/e.*|[+.-]/gi, '').length <= 15;

/**
 * Matches a number with a sign, as Google reads it in any locale, such as `-5`, `+1.234,5`, `-1e5`
 * or `+20%`: digits, maybe in groups of three, and maybe a fraction.
 */
const signedNumberPattern =
	/^[+-](?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?:e[+-]?\d+)?%?$/i;
/**
 * Matches what Google reads as a formula, also in full width or small, and what nobody sees in
 * front of it, which Google may ignore.
 */
const formulaPattern =
	/^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠﹦﹢﹣﹫])/u;

/**
 * Returns a cell that, with Escape Formulas, cannot become a formula. With USER_ENTERED, Google
 * reads text that begins with `=`, `+`, `-` or `@`, a tab or a line break as a formula. Such text
 * gets an apostrophe in front: Google then keeps it as text and hides the apostrophe. Numbers with
 * a sign stay numbers.
 */
export function escapeCell(cell: Cell, { valueInputOption, escapeFormulas }: CellOptions): Cell {
	if (valueInputOption !== 'USER_ENTERED' || !escapeFormulas || typeof cell !== 'string')
		return cell;
	const isFormula = formulaPattern.test(cell) && !signedNumberPattern.test(cell.trim());
	return isFormula ? `'${cell}` : cell;
}

export type CellOptions = Pick<RowParams, 'valueInputOption' | 'escapeFormulas'>;

/** Returns the cell of a header, which is text also where Google takes text as typed. */
export const toHeaderCell = (cell: Cell, { valueInputOption }: CellOptions): Cell =>
	valueInputOption === 'USER_ENTERED' && typeof cell === 'string' ? `'${cell}` : cell;

/** Returns the number of columns of the widest row, but at least 1. */
export function countColumns(rows: ReadonlyArray<readonly Cell[]>): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}

/**
 * Converts a cell to Google's format for values that are stored unchanged. Here null clears a cell,
 * too: leave it out to keep the cell.
 */
export function toCellData(cell: Cell): sheets_v4.Schema$CellData {
	const value = cell instanceof DateCell ? cell.serial : cell;
	if (value === null || value === '') return {};
	if (typeof value === 'number') return { userEnteredValue: { numberValue: value } };
	if (typeof value === 'boolean') return { userEnteredValue: { boolValue: value } };
	return { userEnteredValue: { stringValue: value } };
}

/**
 * Returns the index of the last row that has a value; -1 if none has. At the end of a table, a
 * checkbox that nobody ticked is no value.
 */
export const findLastFilledRow = (rows: ReadonlyArray<readonly unknown[]>): number =>
	rows.findLastIndex((row) => row.some(isFilled));

/**
 * What counts as no value at the end of a table. FALSE is the text that most sheets show for a
 * checkbox that nobody ticked.
 */
const emptyValues: ReadonlySet<unknown> = new Set(['', false, 'FALSE', null, undefined]);
export const isFilled = (cell: unknown) => !emptyValues.has(cell);
