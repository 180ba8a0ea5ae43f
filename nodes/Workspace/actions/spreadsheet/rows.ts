import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { NodeError } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import type { Item, Prepared } from '../../operation';
import {
	type Cell,
	collectNames,
	type GivenRows,
	hasColumnNames,
	type NamedRow,
	readGivenRows,
} from './cells';
import { parseIso, parseShown } from './dates/dates';
import type { RowParams } from './fields';
import { createColumnError, headerRowAdvice, listNames } from './names';
import { parseTarget, type TabRange } from './range';
import type { CellsByColumn } from './requests';
import { Spreadsheet } from './spreadsheet';
import { type ColumnType, fitColumns, type FittedTable, openTable, type Table } from './table';

/** What `prepare` makes of an item. */
export interface PreparedRows<P extends RowParams> {
	readonly params: P;
	readonly given: GivenRows;
	/** The share of a request that the rows need. */
	readonly weight: number;
}

/** The size of requests that Google recommends in the docs of the Sheets API: at most 2 MB. */
const maxRequestBytes = 2_000_000;
/** What the JSON of a batch update adds to each value. */
const cellOverheadBytes = 48;

export function prepareRows<P extends RowParams>(params: P, item: Item): PreparedRows<P> {
	const given = readGivenRows(params, item);
	const { cellRows = [], namedRows = [] } = given;
	let bytes = 0;
	for (const cells of [...cellRows, ...namedRows.map(({ cellsByName }) => cellsByName.values())])
		for (const cell of cells) bytes += cellOverheadBytes + Buffer.byteLength(String(cell));
	return { params, given, weight: bytes / maxRequestBytes };
}

/** Items whose rows go to the same place with the same options, so the first item's parameters count for all. */
export type ItemsWithRows<P extends RowParams> = ReadonlyArray<Prepared<PreparedRows<P>>>;

/** Opens the spreadsheet of items, and creates the tab if the user wants it. */
export async function openTarget(sheets: sheets_v4.Sheets, params: RowParams, item: Item) {
	const spreadsheet = new Spreadsheet(sheets, params.spreadsheetId, item);
	const target = parseTarget(await spreadsheet.resolveTab(params));
	if (params.createTab) await spreadsheet.createMissingTab(target);
	return { spreadsheet, target };
}

/** At most 15 digits, because a number keeps no more. */
const plainNumberPattern = /^-?(?=(?:\D*\d){1,15}\D*$)(?:0|[1-9]\d*)(?:\.\d+)?$/;
const booleanPattern = /^(true|false)$/i;

/**
 * Gives the cells of rows the types that they have in the table, if Cell Format is `AUTO`: text in ISO 8601 becomes a date. What a person
 * typed or a model filled in takes the type of its column, where it can be read as one. Other texts stay texts.
 */
export function typeRows<P extends RowParams>(
	all: ItemsWithRows<P>,
	table: Table,
	{ valueInputOption }: RowParams,
): NamedRow[][] {
	const rowsByItem = all.map(({ prepared }) => [...(prepared.given.namedRows ?? [])]);
	if (valueInputOption !== 'AUTO') return rowsByItem;
	return rowsByItem.map((rows) => rows.map((row) => typeCells(row, table)));
}

function typeCells(row: NamedRow, { columnsByName, types, settings }: Table): NamedRow {
	const cellsByName = new Map<string, Cell>();
	for (const [name, cell] of row.cellsByName) {
		const column = row.typedNames.has(name) ? columnsByName.get(name) : undefined;
		const type = types.get(column ?? -1);
		cellsByName.set(name, typeof cell === 'string' ? typeText(cell, type, settings) : cell);
	}
	return { ...row, cellsByName };
}

function typeText(text: string, type: ColumnType | undefined, settings: Table['settings']): Cell {
	const trimmed = text.trim();
	if (type === 'number' && plainNumberPattern.test(trimmed)) return Number(trimmed);
	if (type === 'boolean' && booleanPattern.test(trimmed)) return /true/i.test(trimmed);
	if (type === 'date') return parseShown(text, settings) ?? text;
	return parseIso(text, settings) ?? text;
}

/** A row whose cells have found their columns. */
export interface FittedRow {
	/** The cells to write, in the order of their columns. */
	readonly cellsByColumn: CellsByColumn;
	readonly rowNumber: unknown;
}

type RowsByItem = ReadonlyArray<readonly FittedRow[] | NodeError>;

/** Opens a table and finds a column for each field of the items. A refusal takes the place of the rows that do not fit. */
export async function fitRows<P extends RowParams>(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: RowParams,
	all: ItemsWithRows<P>,
): Promise<{ table: FittedTable; rowsByItem: RowsByItem }> {
	const foundTable = await openTable(spreadsheet, target, () => params.headerRow - 1);
	if (!hasColumnNames(params)) return fitCells(foundTable, all);
	const typedRows = typeRows(all, foundTable, params);
	const names = collectNames(typedRows.flat());
	const table = fitColumns(foundTable, names, params.extraColumns === 'add');
	const rowsByItem = typedRows.map((rows) => {
		const misfit = findMisfit(rows, table, params);
		return misfit ?? rows.map((row) => fitRow(row, table));
	});
	return { table, rowsByItem };
}

/** Puts rows of cells into the first columns of the range, or else of the table. */
function fitCells<P extends RowParams>(foundTable: Table, all: ItemsWithRows<P>) {
	const { target, rangeStart } = foundTable;
	const firstColumn = target.a1 === undefined ? foundTable.firstColumn : rangeStart;
	const toCells = (row: readonly Cell[]) =>
		row
			.map((cell, index) => [firstColumn + index, cell] as const)
			.filter(([, cell]) => cell !== null);
	const rowsByItem = all.map(({ prepared }) =>
		(prepared.given.cellRows ?? []).map((row) => {
			return { cellsByColumn: new Map(toCells(row)), rowNumber: undefined };
		}),
	);
	return { table: { ...foundTable, firstColumn, newNames: [] }, rowsByItem };
}

/** Returns the refusal of rows that do not fit a table. */
function findMisfit(
	rows: readonly NamedRow[],
	{ columnsByName, names }: FittedTable,
	{ extraColumns }: RowParams,
): NodeError | undefined {
	for (const { cellsByName } of rows) {
		const unknownNames = [...cellsByName.keys()].filter((name) => !columnsByName.has(name));
		const hasNoColumn = unknownNames.length === cellsByName.size;
		if (!hasNoColumn && (unknownNames.length === 0 || extraColumns === 'ignore')) continue;
		const choices = `${mentionChoice('extraColumns', 'add')} or ${mentionChoice('extraColumns', 'ignore')}`;
		return createColumnError(
			`The table has no column ${listNames(unknownNames)}`,
			names,
			`${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${choices}. Or choose a value for each column in ${quoteField('columns')}.`,
		);
	}
	return undefined;
}

/** Leaves out null, which stands for a cell that does not change, and cells whose names are no columns. */
function fitRow({ cellsByName, rowNumber }: NamedRow, { columnsByName }: FittedTable): FittedRow {
	const cells: Array<[number, Cell]> = [];
	for (const [name, cell] of cellsByName) {
		const column = columnsByName.get(name);
		if (column !== undefined && cell !== null) cells.push([column, cell]);
	}
	cells.sort(([a], [b]) => a - b);
	return { cellsByColumn: new Map(cells), rowNumber };
}
