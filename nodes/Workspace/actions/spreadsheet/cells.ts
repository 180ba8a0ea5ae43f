import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import { isRecord, TypedText } from '../../../fields/values';
import type { CombinedItem } from '../../operation';
import { DateCell } from './dates/dates';
import { rowNumberKey, type RowParams } from './fields';

/** The value of a cell: null leaves it unchanged, "" clears it. */
export type Cell = string | number | boolean | null | DateCell;

/** How Google interprets cells. */
type CellInputOptions = Pick<RowParams, 'valueInputOption' | 'escapeFormulas'>;

/** Google's limit for the text of a cell, in UTF-16 units. */
const maxCellLength = 50_000;

/**
 * Converts a value to a cell: a date to ISO 8601 text in UTC, a list of plain values to text with ", " between them, an object to JSON.
 * @throws NodeError 400 if a cell cannot hold the value
 */
function toCell(value: unknown, describePlace: () => string): Cell {
	if (value === undefined || value === null) return null;
	if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
	if (typeof value === 'number')
		throw createRefusal(`${describePlace()} is ${value}`, 'A cell can only hold finite numbers.');
	if (typeof value === 'string') return checkTextLength(value, describePlace);
	if (typeof value === 'object') return checkTextLength(formatObject(value, describePlace), describePlace);
	throw createRefusal(
		`${describePlace()} is a ${typeof value}`,
		'A cell can hold text, a number, true or false.',
	);
}

function checkTextLength(text: string, describePlace: () => string): string {
	if (text.length <= maxCellLength) return text;
	const advice = `A cell in Google Sheets can hold up to ${maxCellLength}.`;
	throw createRefusal(`${describePlace()} has ${text.length} characters`, advice);
}

function formatObject(value: object, describePlace: () => string): string {
	const date = toDate(value);
	if (date) {
		if (!Number.isNaN(date.getTime())) return date.toISOString();
		throw createRefusal(`${describePlace()} is not a valid date`, 'Check the expression that creates it.');
	}
	if (Array.isArray(value) && value.every(isPlainValue))
		return value.map((entry: unknown) => String(toCell(entry, describePlace) ?? '')).join(', ');
	try {
		return JSON.stringify(value);
	} catch {
		throw createRefusal(`${describePlace()} is an object that contains itself`, 'Use one of its fields.');
	}
}

const isPlainValue = (value: unknown) =>
	typeof value !== 'object' || value === null || toDate(value) !== undefined;

/** Dates in n8n's expressions come from other realms, where `instanceof` fails, or as Luxon's DateTime. */
function toDate(value: object): Date | undefined {
	const isDate = Object.prototype.toString.call(value) === '[object Date]' || 'isLuxonDateTime' in value;
	return isDate ? new Date(Number(value)) : undefined;
}

/** A sign and a plain number: digits with `.` and `,` between them, an exponent, a percent sign. */
const signedNumber = /^[+-](?=[.,]?\d)[\d.,]+(?:e[+-]?\d+)?%?$/i;

/**
 * The cell for a value, with the formula guard. If Google interprets text as typed, text that begins with `=`, `+`, `-`, `@` (also in
 * their full-width forms), a tab or a line break gets an apostrophe in front, which makes it text and is not shown. A sign in front of a
 * plain number stays a number.
 */
function toEscapedCell(
	value: unknown,
	{ valueInputOption, escapeFormulas }: CellInputOptions,
	describePlace: () => string,
): Cell {
	const cell = toCell(value, describePlace);
	if (valueInputOption !== 'USER_ENTERED' || !escapeFormulas || typeof cell !== 'string') return cell;
	return /^[=+\-@＝＋－＠\t\r\n]/.test(cell) && !signedNumber.test(cell) ? `'${cell}` : cell;
}

/** Keeps a header as text, so that Google never makes it a number, a date or a formula. */
export const toHeaderCell = (name: string, { valueInputOption }: Pick<RowParams, 'valueInputOption'>) =>
	valueInputOption === 'USER_ENTERED' ? `'${name}` : name;

type ValuesParams = CellInputOptions & Pick<RowParams, 'values'>;

/** The rows of the parameter `values`. @throws NodeError 400 that names the cell */
export function readCellRows(params: ValuesParams): Cell[][] {
	const { values } = params;
	const advice =
		'Nothing was sent. Enter rows such as [["Anna", 31], ["Ben", 42]], or check the expression that provides them.';
	if (!values.some((row) => !Array.isArray(row) || row.length > 0))
		throw createRefusal(`${quoteField('values')} has no cells`, advice);
	return values.map((row, index) => {
		if (!Array.isArray(row)) throw createMixedRowsError();
		// Not `map` alone: it skips the holes of a sparse array.
		return Array.from(row, (value: unknown, column) =>
			toEscapedCell(value, params, () => `Row ${index + 1}, column ${column + 1} of ${quoteField('values')}`),
		);
	});
}

function createMixedRowsError() {
	const message = `${quoteField('values')} mixes rows of cells with objects`;
	return createRefusal(message, 'Nothing was sent. Use only one kind.');
}

/** A row whose cells have names, as the user gave it. */
export interface NamedRow {
	readonly cells: ReadonlyMap<string, Cell>;
	/** The row number from an earlier Read; it is never written as a cell. */
	readonly rowNumber: unknown;
	/** Names of the cells that were typed into the form. */
	readonly typed?: ReadonlySet<string>;
}

export type RowsMember = CombinedItem<ValuesParams & Pick<RowParams, 'valuesSource' | 'columns'>>;

/** Whether the rows name their columns, and so go under the headers with these names. */
export const hasColumnNames = ({ valuesSource, values }: Pick<RowParams, 'valuesSource' | 'values'>) =>
	valuesSource !== 'json' || (values.length > 0 && !Array.isArray(values[0]));

/** The rows of one member, with a name for each cell. @throws NodeError 400 that names the field */
export function readNamedRows({ params, item: { json, isTool } }: RowsMember): NamedRow[] {
	const { valuesSource, values, columns } = params;
	const message = 'As a tool for an AI agent, the node has no input items to take rows from';
	const toolAdvice = `Nothing was written. Set ${quoteField('valuesSource')} to ${printChoice('valuesSource', 'columns')} or ${printChoice('valuesSource', 'json')}, and let the model define the values.`;
	const isFromItem = valuesSource === 'items' || (valuesSource === 'columns' && !columns);
	if (isTool && isFromItem) throw createRefusal(message, toolAdvice);
	const emptyAdvice = 'Nothing was sent for it, because the row would be empty.';
	if (valuesSource === 'json') {
		return values.map((row, index) => {
			if (!isRecord(row)) throw createMixedRowsError();
			const rowLabel = `${index + 1} of ${quoteField('values')}`;
			const cells = toNamedCells(row, params, `row ${rowLabel}`);
			if (cells.size > 0) return { cells, rowNumber: row[rowNumberKey] };
			throw createRefusal(`Row ${rowLabel} has no fields`, emptyAdvice);
		});
	}
	if (isFromItem || !columns) {
		const cells = toNamedCells(json, params, 'the input item');
		if (cells.size > 0) return [{ cells, rowNumber: json[rowNumberKey] }];
		throw createRefusal('The input item has no fields', emptyAdvice);
	}
	// A column that was left empty in the form has no value.
	const entries = Object.entries(columns).filter(([, value]) => value !== undefined);
	const typed = new Set(entries.flatMap(([name, value]) => (value instanceof TypedText ? name : [])));
	const plainEntries = entries.map(([name, value]) => [
		name,
		value instanceof TypedText ? value.text : value,
	]);
	const valuesByName = Object.fromEntries(plainEntries) as Readonly<Record<string, unknown>>;
	const cells = toNamedCells(valuesByName, params, quoteField('columns'));
	// Takes no row number from the item if Columns has one that is empty, because the item may come from another table.
	const { [rowNumberKey]: rowNumber } = rowNumberKey in columns ? valuesByName : json;
	if (cells.size > 0) return [{ cells, rowNumber, typed }];
	const advice = 'Nothing was sent. Enter a value for at least one column.';
	throw createRefusal(`${quoteField('columns')} has no values`, advice);
}

/** The rows of one member, however they are given. @throws NodeError 400 if what is given cannot be rows */
export function readRows(member: RowsMember): Cell[][] {
	if (!hasColumnNames(member.params)) return readCellRows(member.params);
	return readNamedRows(member).map(({ cells }) => [...cells.values()]);
}

function toNamedCells(row: Readonly<Record<string, unknown>>, options: CellInputOptions, source: string) {
	const entries = Object.entries(row).filter(([name]) => name !== rowNumberKey);
	const toNamedCell = ([name, value]: (typeof entries)[number]) =>
		[name, toEscapedCell(value, options, () => `Field '${name}' of ${source}`)] as const;
	return new Map(entries.map(toNamedCell));
}

/** All names in order of appearance, but whole numbers last: JavaScript lists such keys first, whatever their order was. */
export function collectNames(rows: readonly NamedRow[]): string[] {
	const names = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
	const isNumber = (name: string) => /^(0|[1-9]\d*)$/.test(name);
	return [...names.filter((name) => !isNumber(name)), ...names.filter(isNumber)];
}

/** Google's form of rows whose values are stored unchanged. */
export function toRowData(rows: ReadonlyArray<readonly Cell[]>): sheets_v4.Schema$RowData[] {
	return rows.map((row) => ({ values: row.map(toCellData) }));
}

function toCellData(cell: Cell): sheets_v4.Schema$CellData {
	const value = cell instanceof DateCell ? cell.serial : cell;
	if (value === null || value === '') return {};
	if (typeof value === 'number') return { userEnteredValue: { numberValue: value } };
	return { userEnteredValue: typeof value === 'boolean' ? { boolValue: value } : { stringValue: value } };
}

/** The request that stores values unchanged. @param at their first cell, or a range whose other cells are cleared */
export function buildUpdateCellsRequest(
	at: Pick<sheets_v4.Schema$UpdateCellsRequest, 'start' | 'range'>,
	rows: ReadonlyArray<readonly Cell[]>,
): sheets_v4.Schema$Request {
	return { updateCells: { ...at, rows: toRowData(rows), fields: 'userEnteredValue' } };
}
