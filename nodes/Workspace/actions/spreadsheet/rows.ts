import { createRefusal, type NodeError } from '../../../core/errors';
import { listNames } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import type { Item, Prepared } from '../../operation';
import {
	type Cell,
	type CellOptions,
	hasColumnNames,
	isExactNumber,
	listRowNames,
	type NamedRow,
	readCellRows,
	readNamedRows,
} from './cells';
import { createColumnError, headerRowAdvice } from './columnNames';
import { parseIso, parseShown } from './dates';
import type { RowParams } from './fields';
import type { TabRange } from './range';
import type { Spreadsheet } from './spreadsheet';
import {
	createSpaceError,
	fitColumns,
	type FittedTable,
	openTable,
	searchedRowCount,
	type Table,
} from './table';

/** What `prepare` makes of an item. */
export interface PreparedRows<P extends RowParams> {
	readonly params: P;
	/** The rows, if they are rows of cells. */
	readonly cellRows: readonly Cell[][];
	/** The rows, if their cells go below the headers with their names. */
	readonly namedRows: readonly NamedRow[];
	/** The share of a request that the rows need. */
	readonly weight: number;
}

/** The size of requests that Google recommends in the docs of the Sheets API: at most 2 MB. */
const maxRequestBytes = 2_000_000;
/** What the JSON of a batch update adds to each value. */
const cellOverheadBytes = 48;

export function prepareRows<P extends RowParams>(params: P, item: Item): PreparedRows<P> {
	const hasNames = hasColumnNames(params);
	const cellRows = hasNames ? [] : readCellRows(params.values);
	const namedRows = hasNames ? readNamedRows(params, item) : [];
	let bytes = 0;
	for (const cells of [...cellRows, ...namedRows.map(({ cellsByName }) => cellsByName.values())])
		for (const cell of cells) bytes += cellOverheadBytes + Buffer.byteLength(String(cell));
	return { params, cellRows, namedRows, weight: bytes / maxRequestBytes };
}

/**
 * Items whose rows go to the same place with the same options, so the first item's parameters count
 * for all.
 */
export type ItemsWithRows<P extends RowParams> = ReadonlyArray<Prepared<PreparedRows<P>>>;

/** A row whose cells have found their columns. */
export interface FittedRow {
	/** The cells to write. */
	readonly cellsByColumn: ReadonlyMap<number, Cell>;
	readonly rowNumber?: unknown;
}

/** The rows of an item whose cells have found their columns. */
export interface FittedItem {
	readonly item: Item;
	readonly rows: readonly FittedRow[];
}

/**
 * Opens a table and finds a column for each field of the items. A refusal takes the place of an
 * item that does not fit.
 */
export async function fitRows(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: RowParams,
	all: ItemsWithRows<RowParams>,
) {
	const foundTable = await openTable(spreadsheet, target, params.headerRow - 1);
	if (!hasColumnNames(params)) return fitCells(foundTable, all);
	const rowNames = all.flatMap(({ prepared }) => listRowNames(prepared.namedRows));
	const table = fitColumns(foundTable, rowNames, params.extraColumns === 'add');
	const fitted = all.map(({ item, prepared: { namedRows } }) => {
		const rows = namedRows.map((row) => fitRow(row, table, params));
		return findMisfit(namedRows, table, params) ?? { item, rows };
	});
	return { table, fitted };
}

/**
 * Refuses to write a header above rows that have one.
 * @throws NodeError 400 if only the rows are empty in which the header was looked for
 */
export function refuseSecondHeader({ names, newNames, row }: FittedTable, lastRow: number): void {
	if (names.length > 0 || newNames.length === 0 || lastRow === row) return;
	throw createRefusal(
		`The ${searchedRowCount} rows from row ${row + 1} on are empty, but others below are not`,
		`Set ${quoteField('headerRow')} to the number of the row with the column names.`,
	);
}

/** Puts rows of cells into the first columns of the range, or else of the table. */
function fitCells(foundTable: Table, all: ItemsWithRows<RowParams>) {
	const isWholeTab = foundTable.target.a1 === undefined;
	const firstColumn = isWholeTab ? foundTable.firstColumn : foundTable.area.column;
	const lastColumn = Math.max(foundTable.lastColumn, firstColumn);
	const table: FittedTable = { ...foundTable, firstColumn, lastColumn, newNames: [] };
	const fitted = all.map(({ item, prepared }) => ({
		item,
		rows: prepared.cellRows.map((cells) => fitCellRow(cells, firstColumn)),
	}));
	return { table, fitted };
}

/** Leaves out null, which stands for a cell that does not change. */
export function fitCellRow(cells: readonly Cell[], firstColumn: number): FittedRow {
	const cellsByColumn = new Map<number, Cell>();
	for (const [index, cell] of cells.entries())
		if (cell !== null) cellsByColumn.set(firstColumn + index, cell);
	return { cellsByColumn };
}

/** Returns the refusal of rows that do not fit a table. */
function findMisfit(
	rows: readonly NamedRow[],
	table: FittedTable,
	{ extraColumns }: RowParams,
): NodeError | undefined {
	for (const { cellsByName } of rows) {
		const names = [...cellsByName.keys()];
		const extraNames = names.filter((name) => !table.columnsByName.has(name));
		const mayHaveExtra = extraNames.length === 0 || extraColumns === 'ignore';
		const hasColumns = extraNames.length < names.length;
		if (mayHaveExtra && hasColumns) continue;
		if (extraColumns === 'add' || table.names.length === 0)
			return createSpaceError(table, extraNames);
		return createColumnError(
			`The table has no column ${listNames(extraNames)}`,
			table.names,
			`${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${mentionChoice('extraColumns', 'add')} or ${mentionChoice('extraColumns', 'ignore')}. Or choose a value for each column in ${quoteField('columns')}.`,
		);
	}
	return undefined;
}

/** Leaves out null, and cells whose names are no columns. */
function fitRow(row: NamedRow, table: FittedTable, options: CellOptions): FittedRow {
	const cellsByColumn = new Map<number, Cell>();
	for (const name of row.cellsByName.keys()) {
		const column = table.columnsByName.get(name);
		const cell = readCell(row, name, table, options);
		if (column !== undefined && cell !== null) cellsByColumn.set(column, cell);
	}
	return { cellsByColumn, rowNumber: row.rowNumber };
}

/** Matches what is rather a code or a phone number, such as `007`, `12e5` or `+4930`. */
const codePattern = /^-?0\d|e|^\+/i;
const booleanPattern = /^(true|false)$/i;

/**
 * Returns the cell of a row. If Cell Format is `AUTO`, text in ISO 8601 becomes a date, and what a
 * person typed or a model filled in takes the type of its column, where it can be read as one.
 * Other texts stay texts.
 */
export function readCell(row: NamedRow, name: string, table: Table, options: CellOptions): Cell {
	const cell = row.cellsByName.get(name) ?? null;
	if (typeof cell !== 'string' || options.valueInputOption !== 'AUTO') return cell;
	const column = table.columnsByName.get(name) ?? -1;
	const type = row.typedNames.has(name) ? table.types.get(column) : undefined;
	const text = cell.trim();
	if (type === 'number' && isExactNumber(text) && !codePattern.test(text)) return Number(text);
	if (type === 'boolean' && booleanPattern.test(text)) return text.toLowerCase() === 'true';
	const date =
		type === 'date' ? parseShown(text, table.settings) : parseIso(cell, table.settings);
	return date?.likeColumn(table.dateFormats.get(column)) ?? cell;
}
