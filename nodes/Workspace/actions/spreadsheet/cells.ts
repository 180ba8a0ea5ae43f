import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { isRecord, TypedText } from '../../../fields/values';
import { DateCell } from './dates/dates';
import { type Member, rowNumberKey, type RowParams } from './fields';

/** The value of a cell. "" clears the cell. null leaves it unchanged, but `toRowData` clears it. */
export type Cell = string | number | boolean | null | DateCell;

type CellInputOptions = Pick<RowParams, 'valueInputOption' | 'escapeFormulas'>;

/** Google's limit for the text of a cell, in UTF-16 units. */
const maxCellLength = 50_000;

/**
 * Converts a value to a cell: a date to ISO 8601 text in UTC, a list of plain values to text with ", " between them, an object to JSON.
 * @param describePlace says where the value is, as in "Row 1, column 2 of 'values'"; called only for an error
 * @throws NodeError 400 if a cell cannot hold the value
 */
function toCell(value: unknown, describePlace: () => string): Cell {
	if (value === undefined || value === null) return null;
	if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
		return value;
	if (typeof value === 'number')
		throw createRefusal(
			`${describePlace()} is ${value}`,
			'A cell can only hold finite numbers.',
		);
	if (typeof value === 'string') return checkTextLength(value, describePlace);
	if (typeof value === 'object')
		return checkTextLength(formatObject(value, describePlace), describePlace);
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
		throw createRefusal(
			`${describePlace()} is not a valid date`,
			'Check the expression that creates it.',
		);
	}
	if (Array.isArray(value) && value.every(isPlainValue))
		return value.map((entry: unknown) => String(toCell(entry, describePlace) ?? '')).join(', ');
	try {
		return JSON.stringify(value);
	} catch {
		throw createRefusal(
			`${describePlace()} is an object that contains itself`,
			'Use one of its fields.',
		);
	}
}

const isPlainValue = (value: unknown) =>
	typeof value !== 'object' || value === null || toDate(value) !== undefined;

/** Converts a date of n8n's expressions: Luxon's DateTime, or a Date of another JavaScript realm, for which `instanceof` fails. */
function toDate(value: object): Date | undefined {
	const isDate =
		Object.prototype.toString.call(value) === '[object Date]' || 'isLuxonDateTime' in value;
	return isDate ? new Date(Number(value)) : undefined;
}

/** Matches a number with a sign, such as `-5`, `+1.234,5`, `-1e5` or `+20%`. A digit follows the sign directly, or after one separator. */
const signedNumberPattern = /^[+-](?=[.,]?\d)[\d.,]+(?:e[+-]?\d+)?%?$/i;

/**
 * Converts a value to a cell that, with Escape Formulas, cannot become a formula. With USER_ENTERED, Google reads text that begins with `=`,
 * `+`, `-` or `@` (also in full width), a tab or a line break as a formula. Such text gets an apostrophe in front: Google then keeps it as
 * text and hides the apostrophe. Numbers with a sign stay numbers.
 */
function toEscapedCell(
	value: unknown,
	options: CellInputOptions,
	describePlace: () => string,
): Cell {
	const { valueInputOption, escapeFormulas } = options;
	const cell = toCell(value, describePlace);
	if (valueInputOption !== 'USER_ENTERED' || !escapeFormulas || typeof cell !== 'string')
		return cell;
	return /^[=+\-@＝＋－＠\t\r\n]/.test(cell) && !signedNumberPattern.test(cell)
		? `'${cell}`
		: cell;
}

/** Converts a header to a cell that stays text: Google must not make it a number, a date or a formula. */
export const toHeaderCell = (
	name: string,
	{ valueInputOption }: Pick<RowParams, 'valueInputOption'>,
) => (valueInputOption === 'USER_ENTERED' ? `'${name}` : name);

type ValuesParams = CellInputOptions & Pick<RowParams, 'values'>;

/** Reads the parameter `values` as rows of cells. @throws NodeError 400 if there are no cells, or if one is invalid */
export function readCellRows(params: ValuesParams): Cell[][] {
	const { values } = params;
	const advice =
		'Nothing was sent. Enter rows such as [["Anna", 31], ["Ben", 42]], or check the expression that provides them.';
	if (values.every((row) => Array.isArray(row) && row.length === 0))
		throw createRefusal(`${quoteField('values')} has no cells`, advice);
	return values.map((row, index) => {
		if (!Array.isArray(row)) throw createMixedRowsError();
		// `row.map` would skip the holes of a sparse array.
		return Array.from(row, (value: unknown, column) =>
			toEscapedCell(
				value,
				params,
				() => `Row ${index + 1}, column ${column + 1} of ${quoteField('values')}`,
			),
		);
	});
}

function createMixedRowsError() {
	const message = `${quoteField('values')} mixes rows of cells with objects`;
	return createRefusal(message, 'Nothing was sent. Use only one kind.');
}

/** A row from the user, whose cells have the names of their columns. */
export interface NamedRow {
	readonly cellsByName: ReadonlyMap<string, Cell>;
	/** The row number that the item has from an earlier Read, unchecked. It is never written as a cell. */
	readonly rowNumber: unknown;
	/** Names of the cells from the form, which makes texts of all values: a text may stand for a number or a boolean. */
	readonly formNames?: ReadonlySet<string>;
}

export type RowsMember = Member<ValuesParams & Pick<RowParams, 'valuesSource' | 'columns'>>;
export type RowsMembers = readonly RowsMember[];

/** Returns whether the rows name their columns, so that each cell goes below the header with its name. */
export const hasColumnNames = ({
	valuesSource,
	values,
}: Pick<RowParams, 'valuesSource' | 'values'>) =>
	valuesSource !== 'json' || (values.length > 0 && !Array.isArray(values[0]));

/** Reads the rows of one member, with a name for each cell. @throws NodeError 400 if there are no cells, or if one is invalid */
export function readNamedRows({ params, item: { json, isTool } }: RowsMember): NamedRow[] {
	const { valuesSource, values, columns } = params;
	const emptyAdvice = 'Nothing was sent for it, because the row would be empty.';
	if (valuesSource === 'json') {
		return values.map((row, index) => {
			if (!isRecord(row)) throw createMixedRowsError();
			const rowLabel = `${index + 1} of ${quoteField('values')}`;
			const cellsByName = toNamedCells(row, params, `row ${rowLabel}`);
			if (cellsByName.size === 0)
				throw createRefusal(`Row ${rowLabel} has no fields`, emptyAdvice);
			return { cellsByName, rowNumber: row[rowNumberKey] };
		});
	}
	// With Map Automatically, Columns has no values of its own: the fields of the item count.
	if (valuesSource === 'columns' && columns) return [readColumns(columns, json, params)];
	const toolMessage = 'As a tool for an AI agent, the node has no input items to take rows from';
	const toolAdvice = `Nothing was written. Set ${quoteField('valuesSource')} to ${mentionChoice('valuesSource', 'columns')} or ${mentionChoice('valuesSource', 'json')}, and let the model define the values.`;
	if (isTool) throw createRefusal(toolMessage, toolAdvice);
	const cellsByName = toNamedCells(json, params, 'the input item');
	if (cellsByName.size === 0) throw createRefusal('The input item has no fields', emptyAdvice);
	return [{ cellsByName, rowNumber: json[rowNumberKey] }];
}

type Values = Readonly<Record<string, unknown>>;

/** Reads the row whose values were entered for each column. @param json the fields of the item */
function readColumns(columns: Values, json: Values, params: CellInputOptions): NamedRow {
	// A column that was left empty in the form has no value.
	const entries = Object.entries(columns).filter(([, value]) => value !== undefined);
	const formNames = new Set(
		entries.flatMap(([name, value]) => (value instanceof TypedText ? name : [])),
	);
	const plainEntries = entries.map(([name, cell]) => [
		name,
		cell instanceof TypedText ? cell.text : cell,
	]);
	const valuesByName = Object.fromEntries(plainEntries) as Values;
	const cellsByName = toNamedCells(valuesByName, params, quoteField('columns'));
	const advice = 'Nothing was sent. Enter a value for at least one column.';
	if (cellsByName.size === 0)
		throw createRefusal(`${quoteField('columns')} has no values`, advice);
	// If Columns has an empty row number, the item's own row number does not count: the item may come from another table.
	const { [rowNumberKey]: rowNumber } = rowNumberKey in columns ? valuesByName : json;
	return { cellsByName, rowNumber, formNames };
}

/** Reads the rows of one member as cells, with or without column names. @throws NodeError 400 if there are no cells, or if one is invalid */
export function readRows(member: RowsMember): Cell[][] {
	if (!hasColumnNames(member.params)) return readCellRows(member.params);
	return readNamedRows(member).map(({ cellsByName }) => [...cellsByName.values()]);
}

function toNamedCells(row: Values, options: CellInputOptions, source: string) {
	const entries = Object.entries(row).filter(([name]) => name !== rowNumberKey);
	const toNamedCell = ([name, value]: (typeof entries)[number]) =>
		[name, toEscapedCell(value, options, () => `Field '${name}' of ${source}`)] as const;
	return new Map(entries.map(toNamedCell));
}

/** Collects the names of all rows in their order. Whole numbers come last, because JavaScript lists such keys first in any case. */
export function collectNames(rows: readonly NamedRow[]): string[] {
	const names = [...new Set(rows.flatMap(({ cellsByName }) => [...cellsByName.keys()]))];
	const isNumber = (name: string) => /^(0|[1-9]\d*)$/.test(name);
	return [...names.filter((name) => !isNumber(name)), ...names.filter(isNumber)];
}

/** Converts rows to Google's format for values that are stored unchanged. Here null clears a cell, too: leave it out to keep the cell. */
export function toRowData(rows: ReadonlyArray<readonly Cell[]>): sheets_v4.Schema$RowData[] {
	return rows.map((row) => ({ values: row.map(toCellData) }));
}

function toCellData(cell: Cell): sheets_v4.Schema$CellData {
	const value = cell instanceof DateCell ? cell.serial : cell;
	if (value === null || value === '') return {};
	if (typeof value === 'number') return { userEnteredValue: { numberValue: value } };
	return {
		userEnteredValue:
			typeof value === 'boolean' ? { boolValue: value } : { stringValue: value },
	};
}

/** Builds the request that stores values unchanged. @param target the first cell, or a range whose other cells are cleared */
export function buildUpdateCellsRequest(
	target: Pick<sheets_v4.Schema$UpdateCellsRequest, 'start' | 'range'>,
	rows: ReadonlyArray<readonly Cell[]>,
): sheets_v4.Schema$Request {
	return { updateCells: { ...target, rows: toRowData(rows), fields: 'userEnteredValue' } };
}
