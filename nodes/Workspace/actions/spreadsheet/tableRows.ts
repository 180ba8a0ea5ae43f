import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError } from '../../../core/errors';
import { foldText } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import type { Item, Prepared } from '../../operation';
import { type Cell, collectNames, type GivenRows, type NamedRow, readGivenRows } from './cells';
import { parseIso, parseShown } from './dates/dates';
import type { RowParams } from './fields';
import { createColumnError, headerRowAdvice, listNames } from './names';
import { parseTarget, type TabRange } from './range';
import { weighCells } from './requests';
import { Spreadsheet } from './spreadsheet';
import { type ColumnType, fitColumns, type FittedTable, openTable, type Table } from './table';

/** What `prepare` makes of an item. */
export interface PreparedRows<P extends RowParams> {
	readonly params: P;
	readonly given: GivenRows;
	/** The share of a request that the rows need. */
	readonly weight: number;
}

export function prepareRows<P extends RowParams>(params: P, item: Item): PreparedRows<P> {
	const given = readGivenRows(params, item);
	const cellLists =
		given.cellRows ?? given.namedRows.map(({ cellsByName }) => cellsByName.values());
	return { params, given, weight: weighCells(cellLists) };
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
 * Gives the cells of a row the types that they have in the table, if Cell Format is `AUTO`: text in ISO 8601 becomes a date. What a person
 * typed or a model filled in takes the type of its column, where it can be read as one. Other texts stay texts.
 */
function typeCells(row: NamedRow, table: Table): NamedRow {
	const cellsByName = new Map<string, Cell>();
	for (const [name, cell] of row.cellsByName) {
		const type = row.typedNames.has(name) ? findColumnType(name, table) : undefined;
		cellsByName.set(name, typeof cell === 'string' ? typeText(cell, type, table) : cell);
	}
	return { ...row, cellsByName };
}

function findColumnType(name: string, { columnsByName, types }: Table): ColumnType | undefined {
	const column = columnsByName.get(name);
	return column === undefined ? undefined : types.get(column);
}

function typeText(text: string, type: ColumnType | undefined, { settings }: Table): Cell {
	const trimmed = text.trim();
	if (type === 'number' && plainNumberPattern.test(trimmed)) return Number(trimmed);
	if (type === 'boolean' && booleanPattern.test(trimmed)) return /true/i.test(trimmed);
	const date = parseIso(text, settings);
	return date ?? (type === 'date' ? parseShown(text, settings) : undefined) ?? text;
}

/** Names the columns of numbers in which a row stores a text. */
function findTextsAmongNumbers({ cellsByName }: NamedRow, table: Table): string[] {
	const names = [...cellsByName.keys()];
	return names.filter((name) => {
		const cell = cellsByName.get(name);
		return typeof cell === 'string' && cell !== '' && findColumnType(name, table) === 'number';
	});
}

/** Returns the rows of each item with the types that their cells have in the table. */
export function typeRows<P extends RowParams>(
	all: ItemsWithRows<P>,
	table: Table,
	{ valueInputOption }: RowParams,
): NamedRow[][] {
	return all.map(({ prepared }) => {
		const rows = prepared.given.namedRows ?? [];
		return valueInputOption === 'AUTO' ? rows.map((row) => typeCells(row, table)) : [...rows];
	});
}

/** Opens a table and finds a column for each field of the items. A refusal takes the place of the rows that do not fit. */
export async function fitRows<P extends RowParams>(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: RowParams,
	all: ItemsWithRows<P>,
) {
	const getRow = () => params.headerRow - 1;
	const foundTable = await openTable(spreadsheet, target, { getRow });
	const typedRows = typeRows(all, foundTable, params);
	const names = collectNames(typedRows.flat());
	const table = fitColumns(foundTable, names, params.extraColumns === 'add');
	if (isNodeError(table)) throw table;
	const rowsByItem = typedRows.map((rows) => findMisfit(rows, table, params) ?? rows);
	return { table, rowsByItem };
}

/** Returns the refusal of rows that do not fit a table. */
function findMisfit(
	rows: readonly NamedRow[],
	{ columnsByName, names }: FittedTable,
	{ extraColumns }: RowParams,
): NodeError | undefined {
	for (const { cellsByName } of rows) {
		const unknownNames = [...cellsByName.keys()].filter((name) => !columnsByName.has(name));
		if (unknownNames.length > 0 && extraColumns === 'error') {
			const message = `The table has no column ${listNames(unknownNames)}`;
			return createMisfitError(message, names, unknownNames);
		}
		const message = 'None of the fields of the item is a column of the table';
		if (unknownNames.length === cellsByName.size)
			return createMisfitError(message, names, unknownNames);
	}
	return undefined;
}

function createMisfitError(
	message: string,
	names: readonly string[],
	missingNames: readonly string[],
) {
	const mapping = `choose a value for each column in ${quoteField('columns')}`;
	const choices = `${mentionChoice('extraColumns', 'add')} or ${mentionChoice('extraColumns', 'ignore')}`;
	const foldedNames = names.map(foldText);
	const hasSimilarName = missingNames.some((name) => foldedNames.includes(foldText(name)));
	// Adding a column would not help if the column that the user means has a similar name.
	const advice = hasSimilarName
		? `Rename the field, or ${mapping}.`
		: `${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${choices}. Or ${mapping}.`;
	return createColumnError(message, names, advice);
}

/** Adds hints to an item about what may not be as the user expects it. */
export function addRowHints(item: Item, rows: readonly NamedRow[], table: FittedTable): void {
	const columnNames = new Set(rows.flatMap((row) => findTextsAmongNumbers(row, table)));
	if (columnNames.size > 0)
		item.addHint(
			`A text was stored in ${listNames([...columnNames])}, which holds numbers, so that sums leave it out. Provide numbers as such: 1200.5.`,
		);
	const { headers, names, newNames, row } = table;
	const otherNames = headers.map(({ text }) => text).filter(Boolean);
	// Headers outside the range suggest that the user has chosen the wrong range.
	if (newNames.length > 0 && newNames.length === names.length && otherNames.length > 0)
		item.addHint(
			`The range had no column names, so the node added ${listNames(newNames)} to row ${row + 1}, next to ${listNames(otherNames)}. To use the existing columns, leave ${quoteField('range')} empty.`,
		);
}
