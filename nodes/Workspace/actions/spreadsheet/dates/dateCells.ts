import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../../core/errors';
import type { Item } from '../../../operation';
import type { Cell, NamedRow } from '../cells';
import type { RowParams } from '../fields';
import { DateCell, mayBeDate, parseDate, printDate } from './dates';
import type { CellPosition } from '../range';
import { groupNeighbors, parseBounds, parseRange, printAreaLike, printTabArea } from '../range';
import { maxRanges, type TabInfo, type Spreadsheet } from '../spreadsheet';

type InputParams = Pick<RowParams, 'valueInputOption'>;
type ValueRange = sheets_v4.Schema$ValueRange;

/** Converts the field Cell Format to Google's option. For our own `AUTO`, this is RAW, because `convertCells` does the rest. */
export const toInputOption = ({ valueInputOption }: InputParams) =>
	valueInputOption === 'AUTO' ? 'RAW' : valueInputOption;

/** What `fetchColumnTypes` must know of a table. Rows and columns count from 0. */
interface SampledTable extends Pick<TabInfo, 'title' | 'rowCount'> {
	readonly row: number;
	readonly left: number;
	readonly right: number;
	readonly columns: ReadonlyMap<string, number>;
}

/** How many rows below the header are read to find the type of a column. */
const sampleRowCount = 50;
const plainNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const booleanPattern = /^(true|false)$/i;

/** Returns whether a text may mean a number or a boolean: n8n's column mapper turns all values of its form into texts. */
const mayBeNumberOrBoolean = (cell: Cell) =>
	typeof cell === 'string' && (plainNumberPattern.test(cell) || booleanPattern.test(cell));

/** Google's options to read numbers and booleans as such, but dates as texts. A date must not count as a number. */
const textDateOptions = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' };

/** Returns, for each column's name, the `typeof` of its first value below the header; 'string' if there is none. */
async function fetchColumnTypes(spreadsheet: Spreadsheet, table: SampledTable) {
	const { title, row, rowCount, left, right, columns } = table;
	if (row + 1 >= rowCount) return new Map<string, string>();
	const range = printTabArea(title, { row: row + 1, column: left }, sampleRowCount, right - left + 1);
	const request = { spreadsheetId: spreadsheet.id, range, ...textDateOptions };
	const { data } = await spreadsheet.valuesApi.get(request);
	const rows = (data.values ?? []) as unknown[][];
	const findFirstValue = (index: number) => rows.map((row) => row[index] ?? '').find((cell) => cell !== '');
	const types = [...columns].map(([name, column]) => [name, typeof findFirstValue(column - left)] as const);
	return new Map<string, string>(types);
}

/**
 * Converts the cells of rows, if Cell Format is `AUTO`. A text from the form gets the type of its column: `4` becomes a number among
 * numbers, `TRUE` a boolean among checkboxes. A complete date, time, timestamp or duration becomes a date cell. Other texts stay texts.
 */
export async function convertCells(
	spreadsheet: Spreadsheet,
	{ valueInputOption }: InputParams,
	namedRowsByMember: ReadonlyArray<readonly NamedRow[]>,
	table?: SampledTable,
): Promise<ReadonlyArray<readonly NamedRow[]>> {
	if (valueInputOption !== 'AUTO') return namedRowsByMember;
	const allRows = namedRowsByMember.flat();
	const hasFormValue = ({ cellsByName, formNames }: NamedRow) =>
		[...(formNames ?? [])].some((name) => mayBeNumberOrBoolean(cellsByName.get(name) ?? ''));
	const hasDate = ({ cellsByName }: NamedRow) =>
		[...cellsByName.values()].some((cell) => typeof cell === 'string' && mayBeDate(cell));
	const types = table && allRows.some(hasFormValue) ? await fetchColumnTypes(spreadsheet, table) : undefined;
	const settings = allRows.some(hasDate) ? await spreadsheet.fetchDateSettings() : undefined;
	if (!types && !settings) return namedRowsByMember;
	const convertCell = (cell: Cell, type: string | undefined): Cell => {
		if (typeof cell !== 'string') return cell;
		if (type === 'number' && plainNumberPattern.test(cell)) return Number(cell);
		if (type === 'boolean' && booleanPattern.test(cell)) return /true/i.test(cell);
		return (settings && parseDate(cell, settings)) ?? cell;
	};
	const convertRow = ({ cellsByName, rowNumber, formNames }: NamedRow): NamedRow => {
		const convertedCells = [...cellsByName].map(([name, cell]) => {
			return [name, convertCell(cell, formNames?.has(name) ? types?.get(name) : undefined)] as const;
		});
		return { cellsByName: new Map(convertedCells), rowNumber };
	};
	return namedRowsByMember.map((rows) => rows.map(convertRow));
}

/** A rectangle of cells with its place in a tab. Rows and columns count from 0. */
export type CellRectangle = CellPosition & { readonly grid: ReadonlyArray<readonly Cell[]> };

/** A tab with dates. Without an ID, the tab is looked up by its title. */
type DatedTab = { readonly title: string | undefined; readonly sheetId?: number | undefined };

/** Dates of one column, in the order of their rows. */
type DateColumn = readonly [WrittenDate, ...WrittenDate[]];
type WrittenDate = CellPosition & Pick<DateCell, 'type'>;

/** Formats written dates as dates, if their cells show numbers. If this fails, adds a hint to the member. */
export async function formatDates(
	spreadsheet: Spreadsheet,
	member: { readonly item: Pick<Item, 'addHint'> } | undefined,
	tab: DatedTab,
	rectangles: readonly CellRectangle[],
): Promise<void> {
	const dates: WrittenDate[] = [];
	for (const { row, column, grid } of rectangles)
		for (const [rowOffset, line] of grid.entries())
			for (const [columnOffset, cell] of line.entries())
				if (cell instanceof DateCell)
					dates.push({ row: row + rowOffset, column: column + columnOffset, type: cell.type });
	if (dates.length === 0) return;
	dates.sort((a, b) => a.column - b.column || a.row - b.row);
	const columns = groupNeighbors(dates, (above, below) => below.column === above.column);
	await formatColumns(spreadsheet, tab, columns).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		member?.item.addHint(`The dates were written, but the sheet may show them as numbers: ${error.message}`);
	});
}

async function formatColumns(spreadsheet: Spreadsheet, { title, ...tab }: DatedTab, columns: DateColumn[]) {
	const ranges = columns.map(([firstDate, ...otherDates]) =>
		printTabArea(title, firstDate, (otherDates.at(-1)?.row ?? firstDate.row) - firstDate.row + 1, 1),
	);
	const grids = await spreadsheet.fetchValues(ranges, textDateOptions);
	const continuesArea = (above: WrittenDate, { row, type }: WrittenDate) =>
		row === above.row + 1 && type === above.type;
	const dateGroups = columns.flatMap((dates, index) => {
		const values = grids[index] ?? [];
		// With `textDateOptions`, Google returns a number only for a cell without a date format.
		const unformattedDates = dates.filter(({ row }) => typeof values[row - dates[0].row]?.[0] === 'number');
		return groupNeighbors(unformattedDates, continuesArea);
	});
	if (dateGroups.length === 0) return;
	const { sheetId } = tab.sheetId === undefined ? await spreadsheet.fetchTabInfo(title) : tab;
	await spreadsheet.change(
		dateGroups.map(([{ row, column, type }, ...otherDates]) => {
			const rows = { startRowIndex: row, endRowIndex: row + 1 + otherDates.length };
			const range = { sheetId, ...rows, startColumnIndex: column, endColumnIndex: column + 1 };
			// If there is no pattern, the sheet's locale decides how a date looks.
			const numberFormat = type.startsWith('[') ? { type: 'TIME', pattern: type } : { type };
			const cell = { userEnteredFormat: { numberFormat } };
			return { repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } };
		}),
	);
}

/** Matches a text with a digit, without @ (addresses) or = in front (formulas). A date shown without a digit, such as Monday, is missed. */
const shownDatePattern = /^(?!=)[^@]{0,60}\p{Nd}[^@]{0,60}$/u;
/**
 * Matches texts with digits that are no dates in any locale: with a word directly before a digit, such as A7 or INV2024, or with letters and
 * at least five digits in a row. In dates, only T, AM, PM and the Vietnamese "thg" (`th` in the pattern) are directly before a digit.
 */
const shownCodePattern =
	/(?<![\p{L}\p{M}\p{Nd}])(?!T\p{Nd}|AM|PM|th)\p{Script=Latin}+\p{Nd}|^(?=.*\p{L}).*\p{Nd}{5}/iu;

const mayShowDate = (cell: unknown) =>
	typeof cell === 'string' && shownDatePattern.test(cell) && !shownCodePattern.test(cell);

/**
 * Replaces dates by ISO 8601 texts. If texts may be dates, one more request fetches the numbers and formats of their cells.
 * @param data cells in which dates are texts as the sheet shows them @param headerHeight how many rows at the top stay unchanged
 */
export async function fetchDatesAsIso(spreadsheet: Spreadsheet, data: ValueRange, headerHeight: number) {
	const values = (data.values ?? []) as unknown[][];
	const isInColumns = data.majorDimension === 'COLUMNS';
	const start = parseBounds(parseRange(data.range ?? 'A1'));
	// The area of each column that contains all its possible dates, from the first cell of the range.
	const areasByColumn = new Map<number, Area>();
	for (const [lineIndex, line] of values.entries()) {
		for (const [cellIndex, cell] of line.entries()) {
			const [row, column] = isInColumns ? [cellIndex, lineIndex] : [lineIndex, cellIndex];
			if (row < headerHeight || !mayShowDate(cell)) continue;
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
	const { properties, sheets } = await spreadsheet.fetch(dateFields, ranges);
	const printedValues = values.map((line) => [...line]);
	for (const [rangeIndex, { row, column }] of areas.entries()) {
		for (const [rowOffset, rowData] of (sheets?.[0]?.data?.[rangeIndex]?.rowData ?? []).entries()) {
			for (const [columnOffset, cell] of (rowData.values ?? []).entries()) {
				const position = [row + rowOffset, column + columnOffset];
				const [line = 0, index = 0] = isInColumns ? position.toReversed() : position;
				const [text, serial] = [printedValues[line]?.[index], cell.effectiveValue?.numberValue];
				if (typeof text !== 'string' || typeof serial !== 'number' || text.startsWith('=')) continue;
				const iso = printDate(serial, cell.effectiveFormat?.numberFormat ?? {}, properties?.timeZone ?? '');
				if (printedValues[line] && iso !== undefined) printedValues[line][index] = iso;
			}
		}
	}
	return { ...data, values: printedValues };
}

const dateFields =
	'properties.timeZone,sheets.data.rowData.values(effectiveValue.numberValue,effectiveFormat.numberFormat)';

type Area = CellPosition & { readonly lastRow: number; readonly lastColumn: number };

/** Returns the smallest area that contains both areas. */
const joinAreas = (area: Area, otherArea: Area): Area => ({
	row: Math.min(area.row, otherArea.row),
	column: Math.min(area.column, otherArea.column),
	lastRow: Math.max(area.lastRow, otherArea.lastRow),
	lastColumn: Math.max(area.lastColumn, otherArea.lastColumn),
});
