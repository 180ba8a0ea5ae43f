import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../../core/errors';
import type { Item } from '../../../operation';
import type { Cell, NamedRow } from '../cells';
import type { RowParams } from '../fields';
import { DateCell, mayBeDate, parseDate, printDate } from './dates';
import {
	type CellPosition,
	groupNeighbors,
	parseBounds,
	parseRange,
	printAreaLike,
	printTabArea,
} from '../range';
import { maxRanges, type TabInfo, type Spreadsheet } from '../spreadsheet';

type InputParams = Pick<RowParams, 'valueInputOption'>;

/** Chooses how Google interprets cells. `AUTO` sends RAW: its dates are numbers already, so that no locale changes them. */
export const toInputOption = ({ valueInputOption }: InputParams) =>
	valueInputOption === 'AUTO' ? 'RAW' : valueInputOption;

/** The columns of a table, as far as types are concerned. Rows and columns count from 0. */
interface TypedTable extends Pick<TabInfo, 'title' | 'rowCount'> {
	readonly row: number;
	readonly left: number;
	readonly right: number;
	readonly columns: ReadonlyMap<string, number>;
}

/** How many rows below the header tell what a column holds. */
const sampleRows = 50;
const plainNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const booleanPattern = /^(true|false)$/i;

/** Whether a text that was typed into the form may mean a number or a boolean: n8n's column mapper makes text of everything. */
const mayBeNumberOrBoolean = (cell: Cell) =>
	typeof cell === 'string' && (plainNumberPattern.test(cell) || booleanPattern.test(cell));

/** Reads values with their types, but dates as texts, so that a date does not count as a number. */
const typedReadOptions = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' };

/** What the columns of a table hold, by the first cells in them. */
async function fetchColumnTypes(
	book: Spreadsheet,
	{ title, row, rowCount, left, right, columns }: TypedTable,
) {
	if (row + 1 >= rowCount) return new Map<string, string>();
	const range = printTabArea(title, { row: row + 1, column: left }, sampleRows, right - left + 1);
	const { data } = await book.values.get({ spreadsheetId: book.id, range, ...typedReadOptions });
	const rows = (data.values ?? []) as unknown[][];
	const findFirstValue = (index: number) =>
		rows.map((line) => line[index] ?? '').find((value) => value !== '');
	return new Map<string, string>([...columns].map(([name, at]) => [name, typeof findFirstValue(at - left)]));
}

/**
 * Prepares rows for sending. For `AUTO`, what was typed gets the type of its column (`4` becomes a number among numbers, and `TRUE` is
 * ticked among checkboxes), a complete date, time or timestamp becomes a date cell, and every other text stays text.
 */
export async function convertCells(
	book: Spreadsheet,
	{ valueInputOption }: InputParams,
	memberRows: ReadonlyArray<readonly NamedRow[]>,
	table?: TypedTable,
): Promise<ReadonlyArray<readonly NamedRow[]>> {
	if (valueInputOption !== 'AUTO') return memberRows;
	const allRows = memberRows.flat();
	const hasTyped = ({ cells, typed }: NamedRow) =>
		[...(typed ?? [])].some((name) => mayBeNumberOrBoolean(cells.get(name) ?? ''));
	const hasDate = ({ cells }: NamedRow) =>
		[...cells.values()].some((cell) => typeof cell === 'string' && mayBeDate(cell));
	const types = table && allRows.some(hasTyped) ? await fetchColumnTypes(book, table) : undefined;
	const settings = allRows.some(hasDate) ? await book.fetchDateSettings() : undefined;
	if (!types && !settings) return memberRows;
	const convert = (cell: Cell, type: string | undefined): Cell => {
		if (typeof cell !== 'string') return cell;
		if (type === 'number' && plainNumberPattern.test(cell)) return Number(cell);
		if (type === 'boolean' && booleanPattern.test(cell)) return /true/i.test(cell);
		return (settings && parseDate(cell, settings)) ?? cell;
	};
	const convertRow = ({ cells, rowNumber, typed }: NamedRow): NamedRow => {
		const converted = [...cells].map(([name, cell]) => {
			return [name, convert(cell, typed?.has(name) ? types?.get(name) : undefined)] as const;
		});
		return { cells: new Map(converted), rowNumber };
	};
	return memberRows.map((rows) => rows.map(convertRow));
}

/** A rectangle of cells. Rows and columns count from 0. */
export type CellRectangle = CellPosition & { readonly cells: ReadonlyArray<readonly Cell[]> };

/** A tab, as far as it is known. */
type DatedTab = { readonly title: string | undefined; readonly sheetId?: number | undefined };

/** Dates of one column, in the order of their rows. */
type DateColumn = readonly [WrittenDate, ...WrittenDate[]];
type WrittenDate = CellPosition & Pick<DateCell, 'type'>;

/** Gives dates that were written a date format, where their cells have none and would show numbers. If that fails, a hint says so. */
export async function formatDates(
	book: Spreadsheet,
	member: { readonly item: Pick<Item, 'addHint'> } | undefined,
	tab: DatedTab,
	rectangles: readonly CellRectangle[],
): Promise<void> {
	const dates: WrittenDate[] = [];
	for (const { row, column, cells } of rectangles) {
		for (const [rowOffset, line] of cells.entries()) {
			for (const [columnOffset, cell] of line.entries())
				if (cell instanceof DateCell)
					dates.push({ row: row + rowOffset, column: column + columnOffset, type: cell.type });
		}
	}
	if (dates.length === 0) return;
	dates.sort((a, b) => a.column - b.column || a.row - b.row);
	const columns = groupNeighbors(dates, (above, below) => below.column === above.column);
	await formatColumns(book, tab, columns).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		member?.item.addHint(`The dates were written, but the sheet may show them as numbers: ${error.message}`);
	});
}

async function formatColumns(
	book: Spreadsheet,
	{ title, ...tab }: DatedTab,
	columns: readonly DateColumn[],
): Promise<void> {
	const ranges = columns.map(([first, ...others]) =>
		printTabArea(title, first, (others.at(-1)?.row ?? first.row) - first.row + 1, 1),
	);
	const { data } = await book.values.batchGet({ spreadsheetId: book.id, ranges, ...typedReadOptions });
	const areas = columns.flatMap((dates, index) => {
		const values = (data.valueRanges?.[index]?.values ?? []) as unknown[][];
		const unformattedDates = dates.filter(({ row }) => typeof values[row - dates[0].row]?.[0] === 'number');
		return groupNeighbors(
			unformattedDates,
			(above, below) => below.row === above.row + 1 && below.type === above.type,
		);
	});
	if (areas.length === 0) return;
	const { sheetId } = tab.sheetId === undefined ? await book.fetchTab(title) : tab;
	await book.change(
		areas.map(([{ row, column, type }, ...others]) => {
			const rows = { startRowIndex: row, endRowIndex: row + 1 + others.length };
			const range = { sheetId, ...rows, startColumnIndex: column, endColumnIndex: column + 1 };
			// Without a pattern, the sheet's locale decides.
			const numberFormat = type.startsWith('[') ? { type: 'TIME', pattern: type } : { type };
			const cell = { userEnteredFormat: { numberFormat } };
			return { repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } };
		}),
	);
}

/** Matches a text with digits: a shown date has digits unless it is only the name of a day or month. Skips addresses and formulas. */
const shownDatePattern = /^(?!=)[^@]{0,60}\p{Nd}[^@]{0,60}$/u;
/**
 * Matches names with digits, which most texts with digits are and no locale's dates look like: a word with a digit right behind it, such
 * as A7 or INV2024 (in dates, only T, AM, PM and "thg" stand right before a digit), or a long number beside words.
 */
const shownNamePattern =
	/(?<![\p{L}\p{M}\p{Nd}])(?!T\p{Nd}|AM|PM|th)\p{Script=Latin}+\p{Nd}|^(?=.*\p{L}).*\p{Nd}{5}/iu;

const mayShowDate = (cell: unknown) =>
	typeof cell === 'string' && shownDatePattern.test(cell) && !shownNamePattern.test(cell);

/**
 * Prints dates in ISO 8601, whatever the sheet shows. If a text may be a date, asks in one more request for its number and format.
 * @param data cells as read, in which dates are texts @param headerRows how many rows at the top keep their texts
 */
export async function printDates(book: Spreadsheet, data: sheets_v4.Schema$ValueRange, headerRows: number) {
	const values = (data.values ?? []) as unknown[][];
	const isInColumns = data.majorDimension === 'COLUMNS';
	const start = parseBounds(parseRange(data.range ?? 'A1'));
	const areasByColumn = new Map<number, Area>();
	for (const [lineIndex, line] of values.entries()) {
		for (const [cellIndex, cell] of line.entries()) {
			const [row, column] = isInColumns ? [cellIndex, lineIndex] : [lineIndex, cellIndex];
			if (row < headerRows || !mayShowDate(cell)) continue;
			const area = { row, column, lastRow: row, lastColumn: column };
			areasByColumn.set(column, joinAreas(areasByColumn.get(column) ?? area, area));
		}
	}
	if (areasByColumn.size === 0) return data;
	const columnAreas = [...areasByColumn.values()];
	const areas = columnAreas.length > maxRanges ? [columnAreas.reduce(joinAreas)] : columnAreas;
	const ranges = areas.map(({ row, column, lastRow, lastColumn }) => {
		const firstCell = { row: start.row + row, column: start.column + column };
		return printAreaLike(data.range ?? '', firstCell, lastRow - row + 1, lastColumn - column + 1);
	});
	const { properties, sheets } = await book.fetch(dateFields, ranges);
	const printedValues = values.map((line) => [...line]);
	for (const [areaIndex, { row, column }] of areas.entries()) {
		for (const [rowOffset, line] of (sheets?.[0]?.data?.[areaIndex]?.rowData ?? []).entries()) {
			for (const [columnOffset, cell] of (line.values ?? []).entries()) {
				const [lineIndex, cellIndex] = isInColumns
					? [column + columnOffset, row + rowOffset]
					: [row + rowOffset, column + columnOffset];
				const [shownText, serial] = [printedValues[lineIndex]?.[cellIndex], cell.effectiveValue?.numberValue];
				if (typeof shownText !== 'string' || typeof serial !== 'number' || shownText.startsWith('='))
					continue;
				const iso = printDate(serial, cell.effectiveFormat?.numberFormat ?? {}, properties?.timeZone ?? '');
				if (printedValues[lineIndex] && iso !== undefined) printedValues[lineIndex][cellIndex] = iso;
			}
		}
	}
	return { ...data, values: printedValues };
}

const dateFields =
	'properties.timeZone,sheets.data.rowData.values(effectiveValue.numberValue,effectiveFormat.numberFormat)';

type Area = CellPosition & { readonly lastRow: number; readonly lastColumn: number };

/** The smallest area that holds both. */
const joinAreas = (area: Area, other: Area): Area => ({
	row: Math.min(area.row, other.row),
	column: Math.min(area.column, other.column),
	lastRow: Math.max(area.lastRow, other.lastRow),
	lastColumn: Math.max(area.lastColumn, other.lastColumn),
});
