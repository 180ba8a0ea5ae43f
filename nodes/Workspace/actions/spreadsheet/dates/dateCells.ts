import { isNodeError } from '../../../../core/errors';
import type { Cell, NamedRow } from '../cells';
import type { RowParams } from '../fields';
import { DateCell, mayBeIso, parseIso } from './dates';
import * as ranges from '../range';
import type { Spreadsheet } from '../spreadsheet';

type InputParams = Pick<RowParams, 'valueInputOption'>;

/** Converts the field Cell Format to Google's option. For our own `AUTO`, this is RAW, because `convertCells` does the rest. */
export const toInputOption = ({ valueInputOption }: InputParams) =>
	valueInputOption === 'AUTO' ? 'RAW' : valueInputOption;

/** What `fetchColumnTypes` must know of a table. Rows and columns count from 0. */
type SampledTable = Readonly<Record<'rowCount' | 'row' | 'firstColumn' | 'lastColumn', number>> &
	Readonly<{ title: string; columnsByName: ReadonlyMap<string, number> }>;

/** How many rows below the header are read to find the type of a column. */
const sampleRowCount = 50;
const plainNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const booleanPattern = /^(true|false)$/i;

/** Returns whether a text may mean a number or a boolean: n8n's column mapper turns all values of its form into texts. */
const mayBeNumberOrBoolean = (cell: Cell) =>
	typeof cell === 'string' && (plainNumberPattern.test(cell) || booleanPattern.test(cell));

/** Google's options to read numbers and booleans as such, but dates as texts. A date must not count as a number. */
const textDateOptions = {
	valueRenderOption: 'UNFORMATTED_VALUE',
	dateTimeRenderOption: 'FORMATTED_STRING',
};

/** Returns, for each column's name, the `typeof` of its first value below the header; 'string' if there is none. */
async function fetchColumnTypes(spreadsheet: Spreadsheet, table: SampledTable) {
	const { title, row, rowCount, firstColumn, lastColumn, columnsByName } = table;
	if (row + 1 >= rowCount) return new Map<string, string>();
	const start = { row: row + 1, column: firstColumn };
	const range = ranges.printTabArea(title, start, sampleRowCount, lastColumn - firstColumn + 1);
	const request = { spreadsheetId: spreadsheet.id, range, ...textDateOptions };
	const { data } = await spreadsheet.valuesApi.get(request);
	const rows = (data.values ?? []) as unknown[][];
	const findFirstValue = (column: number) =>
		rows.map((line) => line[column - firstColumn] ?? '').find((cell) => cell !== '');
	return new Map(
		[...columnsByName].map(([name, column]) => [name, typeof findFirstValue(column)]),
	);
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
	const needsTypes = ({ cellsByName, formNames }: NamedRow) =>
		[...(formNames ?? [])].some((name) => mayBeNumberOrBoolean(cellsByName.get(name) ?? ''));
	const hasDate = ({ cellsByName }: NamedRow) =>
		[...cellsByName.values()].some((cell) => typeof cell === 'string' && mayBeIso(cell));
	const types =
		table && allRows.some(needsTypes) ? await fetchColumnTypes(spreadsheet, table) : undefined;
	const settings = allRows.some(hasDate) ? await spreadsheet.fetchDateSettings() : undefined;
	if (!types && !settings) return namedRowsByMember;
	const convertCell = (cell: Cell, type: string | undefined): Cell => {
		if (typeof cell !== 'string') return cell;
		if (type === 'number' && plainNumberPattern.test(cell)) return Number(cell);
		if (type === 'boolean' && booleanPattern.test(cell)) return /true/i.test(cell);
		return (settings && parseIso(cell, settings)) ?? cell;
	};
	const convertRow = ({ cellsByName, rowNumber, formNames }: NamedRow): NamedRow => {
		const convertedCells = [...cellsByName].map(([name, cell]) => {
			return [
				name,
				convertCell(cell, formNames?.has(name) ? types?.get(name) : undefined),
			] as const;
		});
		return { cellsByName: new Map(convertedCells), rowNumber };
	};
	return namedRowsByMember.map((rows) => rows.map(convertRow));
}

/** A rectangle of cells with its place in a tab. Rows and columns count from 0. */
export type CellRectangle = ranges.CellPosition & { readonly grid: ReadonlyArray<readonly Cell[]> };

/** A tab with dates. Without an ID, the tab is looked up by its title. */
type DatedTab = { readonly title: string | undefined; readonly sheetId?: number | undefined };

/** The place of a date, and the format that its cell needs. */
type WrittenDate = ranges.CellPosition & DateCell['format'];

/** Formats written dates as dates, if their cells show numbers. If this fails, adds a hint. */
export async function formatDates(
	spreadsheet: Spreadsheet,
	tab: DatedTab,
	rectangles: readonly CellRectangle[],
	addHint: (text: string) => void,
): Promise<void> {
	const dates: WrittenDate[] = [];
	for (const { row, column, grid } of rectangles)
		for (const [rowOffset, line] of grid.entries())
			for (const [columnOffset, cell] of line.entries())
				if (cell instanceof DateCell)
					dates.push({
						row: row + rowOffset,
						column: column + columnOffset,
						...cell.format,
					});
	if (dates.length === 0) return;
	dates.sort((a, b) => a.column - b.column || a.row - b.row);
	await formatCells(spreadsheet, tab, dates).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		addHint(`The dates were written, but the sheet may show them as numbers: ${error.message}`);
	});
}

/** @param dates in the order of their columns, and within a column in the order of their rows */
async function formatCells(spreadsheet: Spreadsheet, tab: DatedTab, dates: readonly WrittenDate[]) {
	const columns = ranges.groupNeighbors(
		dates,
		(date, nextDate) => nextDate.column === date.column,
	);
	const rangeTexts = columns.map(([firstDate, ...otherDates]) => {
		const lastDate = otherDates.at(-1) ?? firstDate;
		return ranges.printTabArea(tab.title, firstDate, lastDate.row - firstDate.row + 1, 1);
	});
	const grids = await spreadsheet.fetchValues(rangeTexts, textDateOptions);
	const unformattedDates = columns.flatMap((column, index) => {
		const values = grids[index] ?? [];
		// With `textDateOptions`, Google returns a number only for a cell without a date format.
		return column.filter(({ row }) => typeof values[row - column[0].row]?.[0] === 'number');
	});
	if (unformattedDates.length === 0) return;
	const continuesArea = (above: WrittenDate, { row, column, type, pattern }: WrittenDate) =>
		column === above.column &&
		row === above.row + 1 &&
		type === above.type &&
		pattern === above.pattern;
	const sheetId = tab.sheetId ?? (await spreadsheet.fetchTabInfo(tab.title)).sheetId;
	const requests = ranges.groupNeighbors(unformattedDates, continuesArea).map((area) => {
		const { row, column, ...numberFormat } = area[0];
		const rows = { startRowIndex: row, endRowIndex: row + area.length };
		const range = { sheetId, ...rows, startColumnIndex: column, endColumnIndex: column + 1 };
		const cell = { userEnteredFormat: { numberFormat } };
		return { repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } };
	});
	await spreadsheet.change(requests);
}
