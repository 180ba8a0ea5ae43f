import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError, createRefusal } from '../../../core/errors';
import { foldText } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { type Cell, type RowsMembers, readNamedRows, type NamedRow, collectNames } from './cells';
import { convertCells } from './dates/dateCells';
import type { RowParams } from './fields';
import { createColumnError, listNames, headerRowAdvice } from './names';
import { parseBounds, printTabArea, toColumnLetters, type TabRange, parseTarget } from './range';
import type { Spreadsheet } from './spreadsheet';
import { buildEnlargeTabRequests, findNativeTable, isUnknownRangeError } from './spreadsheet';

/** Builds unique names of columns. A repeated header gets `_2`, `_3` and so on, an empty one becomes its letter. @param startColumn from 0 */
export function buildColumnNames(
	headerTexts: readonly string[],
	startColumn: number,
	reservedNames: readonly string[] = ['error', 'rowNumber', '__proto__'], // these keys of an item mean something else
): string[] {
	const usedNames = new Set(reservedNames);
	/** The number to try next for each name. With many equal headers, trying all numbers from 2 on would take long. */
	const nextNumbers = new Map<string, number>();
	return headerTexts.map((headerText, index) => {
		const name = headerText || toColumnLetters(startColumn + index);
		let uniqueName = name;
		let number = nextNumbers.get(name) ?? 2;
		while (usedNames.has(uniqueName)) uniqueName = `${name}_${number++}`;
		nextNumbers.set(name, number);
		usedNames.add(uniqueName);
		return uniqueName;
	});
}

/**
 * The header of a table, with the table's columns and the size of its tab. Rows and columns count from 0. A header has three stages: as
 * fetched, then with the columns that rows name by letter (`addLetterColumns…`), and then also with new columns (`addNewColumns`).
 */
export type TableHeader = Readonly<Awaited<ReturnType<typeof fetchTableHeader>>>;

/** Fetches a header. @param target the range with the table's columns @param rowNumber the number of the header row in the tab, from 1 */
export async function fetchTableHeader(
	spreadsheet: Spreadsheet,
	target: TabRange,
	rowNumber: number,
) {
	const a1 = `${rowNumber}:${rowNumber}`;
	const { sheet, ...tabInfo } = await spreadsheet.fetchTabInfo(target.tab ?? target.name, a1);
	const rowCells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const rowTexts = rowCells.map(readHeaderText);
	const rowValues = rowCells.map(
		({ effectiveValue: value }) => value?.numberValue ?? value?.boolValue,
	);
	while (rowTexts.at(-1) === '') rowTexts.pop();
	const row = rowNumber - 1;
	const { column: rangeStart, lastColumn: rangeEnd = Infinity } = parseBounds(target);
	const isInRange = (column: number) => column >= rangeStart && column <= rangeEnd;
	const filledColumns = [...rowTexts.keys()].filter(
		(column) => isInRange(column) && rowTexts[column] !== '',
	);
	let firstColumn = filledColumns[0] ?? rangeStart;
	while (firstColumn > 0 && rowTexts[firstColumn - 1]) firstColumn--;
	const firstNewColumn = (filledColumns.at(-1) ?? rangeStart - 1) + 1;
	const lastColumn = Math.max(firstNewColumn - 1, firstColumn);
	const headerTexts = rowTexts.slice(rangeStart, firstNewColumn);
	const shownTexts = rowCells
		.slice(rangeStart, firstNewColumn)
		.map((cell) => cell.formattedValue ?? '');
	const nextHeaderColumn = rowTexts.findIndex(
		(text, column) => column >= firstNewColumn && text !== '',
	);
	return {
		...tabInfo,
		row,
		/** Header texts of the whole row, from the tab's first column on. */
		rowTexts,
		/** Values of the whole row that are numbers (also dates) or booleans; undefined for texts. */
		rowValues,
		/** The native table that the header belongs to, if there is one. */
		nativeTable: findNativeTable(sheet, { row, column: firstColumn }),
		/** First and last column of the range. The last one may be Infinity. */
		rangeStart,
		rangeEnd,
		/** First column of the table. It is left of the range if the headers continue there without a gap. */
		firstColumn,
		/** Last column of the table at this stage. Without any column, it equals `firstColumn`. */
		lastColumn,
		/** Whether a column from `firstColumn` to `lastColumn` has no header. */
		hasGap: rowTexts.slice(firstColumn, lastColumn).includes(''),
		/** Names of the columns that have a header. In a table without headers, the letters by which items name columns. */
		names: buildColumnNames(headerTexts, rangeStart).filter(
			(_, index) => headerTexts[index] !== '',
		),
		/** Columns by name, or by letter if they have no header. Empty if there is no header yet. */
		columnsByName: indexColumns(headerTexts, shownTexts, rangeStart),
		/** Where new columns begin: directly after the table's columns of the first two stages. `addNewColumns` does not change it. */
		firstNewColumn,
		/** How many new columns fit: the number of empty header cells from `firstNewColumn` on. */
		maxNewColumns: (nextHeaderColumn === -1 ? Infinity : nextHeaderColumn) - firstNewColumn,
	};
}

/** Returns the text of a header as Read does: the text of its value, or what the sheet shows if it is a date. */
function readHeaderText({
	effectiveValue,
	effectiveFormat,
	formattedValue,
}: sheets_v4.Schema$CellData) {
	const { stringValue, numberValue, boolValue } = effectiveValue ?? {};
	const isDate = /^(DATE|TIME)/.test(effectiveFormat?.numberFormat?.type ?? '');
	const value = stringValue ?? boolValue ?? (isDate ? undefined : numberValue);
	return String(value ?? formattedValue ?? '');
}

/**
 * Maps names to columns. A column can be named by its name in Read's items, its header, the text that the sheet shows for the header, or
 * the header without spaces around it. If two columns share a name, the first of these four kinds wins.
 */
export function indexColumns(
	texts: readonly string[],
	shownTexts: readonly string[],
	startColumn: number,
) {
	const textKinds = [texts, shownTexts, texts.map((text) => text.trim())];
	const otherNames = textKinds.map((names) => buildColumnNames(names, startColumn, []));
	const columnsByName = new Map<string, number>();
	for (const names of [buildColumnNames(texts, startColumn), ...otherNames])
		for (const [index, name] of names.entries())
			if (!columnsByName.has(name)) columnsByName.set(name, startColumn + index);
	return columnsByName;
}

/**
 * If a table has no header, adds the columns that rows name by letter: Read names columns without a header by letters. `letterErrors` has a
 * NodeError for each member that has the letter of a column outside of the range or tab, unless it leaves out such fields.
 */
export function addLetterColumnsToEmptyHeader(
	table: TableWithRows,
	params: ColumnParams,
): TableWithRows {
	const { header, namedRowsByMember } = table;
	if (header.columnsByName.size > 0) return table;
	const { rangeStart, rangeEnd, columnCount } = header;
	const length = Math.min(rangeEnd + 1, columnCount) - rangeStart;
	const freeLetters = Array.from({ length }, (_, index) => toColumnLetters(rangeStart + index));
	const mayLeaveOut = params.extraColumns === 'ignore';
	const letterErrors = namedRowsByMember.map((rows) => {
		const letters = collectNames(rows).filter((name) => /^[A-Z]{1,3}$/.test(name));
		const unknown = letters.filter((letter) => !freeLetters.includes(letter));
		if (unknown.length === 0 || (mayLeaveOut && unknown.length < letters.length))
			return undefined;
		const advice = `Without column names, such a field names a column by its letter. Leave it out, or change ${quoteField('range')}.`;
		return createRefusal(
			`The table has no column ${listNames(unknown)}`,
			`${advice} ${headerRowAdvice}`,
		);
	});
	const fittingRows = namedRowsByMember.filter((_, index) => !letterErrors[index]).flat();
	const names = collectNames(fittingRows).filter((name) => freeLetters.includes(name));
	const columnsByName = new Map(
		names.map((name) => [name, rangeStart + freeLetters.indexOf(name)]),
	);
	if (columnsByName.size === 0) return { ...table, letterErrors };
	const firstColumn = Math.min(...columnsByName.values());
	const lastColumn = Math.max(...columnsByName.values());
	const maxNewColumns = header.maxNewColumns - (lastColumn + 1 - rangeStart);
	const size = { firstColumn, lastColumn, firstNewColumn: lastColumn + 1, maxNewColumns };
	return { ...table, header: { ...header, columnsByName, names, ...size }, letterErrors };
}

/** Adds the columns without a header that rows name by letter, if they follow the last header directly. Other letters are new names. */
export function addLetterColumnsAfterHeader(
	header: TableHeader,
	names: ReadonlySet<string>,
): TableHeader {
	const columnsByName = new Map(header.columnsByName);
	if (columnsByName.size === 0) return header;
	const usedColumns = [...names].flatMap((name) => columnsByName.get(name) ?? []);
	const { rowTexts, rangeStart } = header;
	let { firstNewColumn, maxNewColumns } = header;
	const emptyTexts = Array.from({ length: Math.min(names.size, maxNewColumns) }, () => '');
	const headerTexts = [...rowTexts.slice(rangeStart, firstNewColumn), ...emptyTexts];
	for (const name of buildColumnNames(headerTexts, rangeStart).slice(
		firstNewColumn - rangeStart,
	)) {
		if (!names.has(name)) break;
		columnsByName.set(name, firstNewColumn++);
		maxNewColumns--;
	}
	const firstColumn = Math.min(header.firstColumn, ...usedColumns);
	const lastColumn = Math.max(header.lastColumn, firstNewColumn - 1);
	const hasGap =
		header.hasGap || firstColumn < header.firstColumn || lastColumn > header.lastColumn;
	return {
		...header,
		firstColumn,
		lastColumn,
		hasGap,
		columnsByName,
		firstNewColumn,
		maxNewColumns,
	};
}

/** Adds new columns after the last one. Returns a NodeError 400 if other headers leave no space for them. */
export function addNewColumns(
	header: TableHeader,
	names: readonly string[],
): TableHeader | NodeError {
	const { firstNewColumn, maxNewColumns, columnsByName } = header;
	if (names.length === 0) return header;
	if (names.length > maxNewColumns) {
		const advice = `Column ${toColumnLetters(firstNewColumn + maxNewColumns)} of the header row is already in use.`;
		return createRefusal(`There is no space for new columns: ${listNames(names)}`, advice);
	}
	const addedColumns = names.map((name, index) => [name, firstNewColumn + index] as const);
	return {
		...header,
		lastColumn: firstNewColumn + names.length - 1,
		names: [...header.names, ...names],
		columnsByName: new Map([...columnsByName, ...addedColumns]),
	};
}

async function writeHeaders(
	spreadsheet: Spreadsheet,
	header: TableHeader,
	names: readonly string[],
) {
	if (names.length === 0) return;
	const { title, row, firstNewColumn } = header;
	await spreadsheet.change(
		buildEnlargeTabRequests(header, { minColumns: firstNewColumn + names.length }),
	);
	await spreadsheet.update(
		printTabArea(title, { row, column: firstNewColumn }, 1, 1),
		[[...names]],
		'RAW',
	);
}

type ColumnParams = Pick<RowParams, 'extraColumns'>;
type TableParams = ColumnParams &
	Pick<RowParams, 'tab' | 'range' | 'headerRow' | 'valueInputOption'>;

/** A table: its header, and the range that the user chose for it. */
export type SheetTable = Pick<TableWithRows, 'target' | 'header'>;
type TableWithRows = Awaited<ReturnType<typeof fetchTable>> & {
	letterErrors?: Array<NodeError | undefined>;
};

/** Fetches the header of a table, and converts the rows of each member to cells. @param getRowNumber returns the header row's number in the tab */
export async function fetchTable(
	spreadsheet: Spreadsheet,
	params: TableParams,
	members: RowsMembers,
	getRowNumber: (target: TabRange) => number = () => params.headerRow,
) {
	const namedRowsByMember = members.map(readNamedRows);
	const entered = parseTarget(params);
	const fetchIn = async (target: TabRange) => {
		return {
			target,
			header: await fetchTableHeader(spreadsheet, target, getRowNumber(target)),
		};
	};
	const fetchInNamedRange = async () => await fetchIn(await spreadsheet.resolveName(entered));
	const table = await spreadsheet.sendForRange(entered, async () => {
		if (entered.tab !== undefined && entered.name !== undefined)
			return await fetchInNamedRange();
		return await fetchIn(entered).catch(async (error: unknown) => {
			// No tab has this name, but a named range may have it.
			if (isUnknownRangeError(error) && entered.name !== undefined)
				return await fetchInNamedRange();
			throw error;
		});
	});
	const convertedRows = await convertCells(spreadsheet, params, namedRowsByMember, table.header);
	return { ...table, namedRowsByMember: convertedRows };
}

/** Puts cells into the order of the table's columns. A member whose fields do not fit the table gets a NodeError in place of its rows. */
export async function alignRows(
	spreadsheet: Spreadsheet,
	params: TableParams,
	members: RowsMembers,
) {
	const table = await fetchTable(spreadsheet, params, members);
	const { oldHeader, newNames, newHeader: header, errors } = resolveColumns(table, params);
	const rowsByMember = table.namedRowsByMember.map(
		(rows, index) => errors[index] ?? rows.map((row) => alignRow(row, header)),
	);
	let writingHeaders: Promise<void> | undefined;
	/** Writes the headers of new columns. Only the first call sends a request. */
	const addHeaders = () => (writingHeaders ??= writeHeaders(spreadsheet, oldHeader, newNames));
	// Headers outside the range suggest that the user has chosen the wrong range.
	if (oldHeader.columnsByName.size === 0 && oldHeader.rowTexts.length > 0)
		members[0]?.item.addHint(
			`The range had no column names, so the node added ${listNames(newNames)} to row ${oldHeader.row + 1}, next to ${listNames(oldHeader.rowTexts.filter(Boolean))}. To use the existing columns, leave ${quoteField('range')} empty.`,
		);
	return { target: table.target, header, rowsByMember, addHeaders };
}

/**
 * Resolves the columns that rows name. `oldHeader` has the existing columns, also those named by letter, and `newHeader` also `newNames`.
 * `errors` has, for each member, a NodeError if its rows do not fit the table, and otherwise undefined.
 */
export function resolveColumns(table: TableWithRows, params: ColumnParams) {
	const { header: fetchedHeader, namedRowsByMember, letterErrors = [] } = table;
	const isHeaderNew = fetchedHeader.columnsByName.size === 0;
	const names = collectNames(namedRowsByMember.filter((_, index) => !letterErrors[index]).flat());
	const oldHeader = table.letterErrors
		? fetchedHeader
		: addLetterColumnsAfterHeader(fetchedHeader, new Set(names));
	const canAdd = params.extraColumns === 'add' || isHeaderNew;
	const newNames = canAdd ? names.filter((name) => !oldHeader.columnsByName.has(name)) : [];
	const grownHeader = addNewColumns(oldHeader, newNames);
	const [newHeader, noSpaceError] = isNodeError(grownHeader)
		? [oldHeader, grownHeader]
		: [grownHeader];
	const errors = namedRowsByMember.map(
		(rows, index) =>
			letterErrors[index] ?? noSpaceError ?? findMisfitError(rows, newHeader, params),
	);
	return { namedRowsByMember, oldHeader, newNames, newHeader, errors };
}

/** Returns the error for rows that do not fit a table; undefined if they fit. */
export function findMisfitError(
	rows: readonly NamedRow[],
	header: TableHeader,
	params: ColumnParams,
) {
	const { columnsByName, names } = header;
	for (const { cellsByName } of rows) {
		const unknownNames = [...cellsByName.keys()].filter((name) => !columnsByName.has(name));
		if (unknownNames.length > 0 && params.extraColumns === 'error')
			return createMisfitError(
				`The table has no column ${listNames(unknownNames)}`,
				names,
				unknownNames,
			);
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
	const mapping = `set ${quoteField('valuesSource')} to ${mentionChoice('valuesSource', 'columns')}`;
	const choices = `${mentionChoice('extraColumns', 'add')} or ${mentionChoice('extraColumns', 'ignore')}`;
	const foldedNames = names.map(foldText);
	const hasSimilarName = missingNames.some((name) => foldedNames.includes(foldText(name)));
	// Adding a column would not help if the column that the user means has a similar name.
	const advice = hasSimilarName
		? `Rename the field, or ${mapping} to choose a value for each column.`
		: `${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${choices}. To choose a value for each column, ${mapping}.`;
	return createColumnError(message, names, missingNames, advice);
}

/** Returns a cell for each column of the table: null if the row has none for it. */
function alignRow({ cellsByName }: NamedRow, header: TableHeader): Cell[] {
	const { columnsByName } = header;
	const cellsByColumn = new Map(
		[...cellsByName].map(([name, cell]) => [columnsByName.get(name), cell]),
	);
	return listColumns(header).map((column) => cellsByColumn.get(column) ?? null);
}

/** Lists the columns of a table, also those without a header. */
export const listColumns = ({ firstColumn, lastColumn }: TableHeader) =>
	Array.from({ length: lastColumn - firstColumn + 1 }, (_, index) => firstColumn + index);
