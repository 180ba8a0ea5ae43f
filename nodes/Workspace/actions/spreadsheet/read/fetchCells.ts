import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { isDateFormat, printDate } from '../dates';
import * as ranges from '../range';
import type { Spreadsheet } from '../spreadsheet';
import { findHeaderRow } from '../table';

export type CellValue = string | number | boolean;
type Rows = ReadonlyArray<readonly CellValue[]>;

/** How the cells of a range are wanted. */
export interface CellFormat {
	readonly valueRenderOption: 'FORMATTED_VALUE' | 'FORMULA' | 'UNFORMATTED_VALUE';
	readonly dateTimeRenderOption: 'FORMATTED_STRING' | 'ISO_8601' | 'SERIAL_NUMBER';
	/** Where the header row is expected, from 0; -1 if there is none. */
	readonly headerRow: number;
	/** Whether cells are compared, so that the texts are needed that the sheet shows. */
	readonly hasFilters: boolean;
	/** Whether cells are compared by their size, so that dates are needed as numbers. */
	readonly comparesSize: boolean;
}

/** What was fetched of a range. Rows and columns count from 0, from the first cell of the range on. */
export interface FetchedCells {
	/** The range as Google printed it, and the place of its first cell in the tab. */
	readonly range: string;
	readonly start: ranges.CellPosition;
	/** The values as Google returns them. A date that shall become ISO 8601 is still a number. */
	readonly rows: Rows;
	/** The header row; -1 if there is none. */
	readonly headerRow: number;
	readonly formats: Formats;
	/** The texts that the sheet shows, if cells are compared or a header is a date. */
	readonly shownRows: Rows;
	/** The values with dates as numbers, if cells are compared by their size. */
	readonly comparedRows: Rows;
	/** Known if cells can be dates or are compared by their size. */
	readonly timeZone: string;
}

/** Returns the value of a cell as Read outputs it. */
export function getValue(cells: FetchedCells, row: number, column: number): CellValue {
	const value = cells.rows[row]?.[column] ?? '';
	if (typeof value !== 'number') return value;
	return printDate(value, cells.formats.find(row, column), cells.timeZone) ?? value;
}

/** Fetches the cells of a range. Further requests follow only if a number may be a date, or if cells are compared. */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	format: CellFormat,
	item: Pick<Item, 'doOnce'>,
): Promise<FetchedCells> {
	const { valueRenderOption, dateTimeRenderOption, hasFilters, comparesSize } = format;
	const isFormatted = valueRenderOption === 'FORMATTED_VALUE';
	const wantsIso = dateTimeRenderOption === 'ISO_8601';
	const fetchValues = buildFetch(spreadsheet, target, item);
	// Google does not know ISO 8601. It is made from the numbers and their formats.
	const dateOption = wantsIso ? 'SERIAL_NUMBER' : dateTimeRenderOption;
	const { range, rows } = await fetchValues(valueRenderOption, dateOption);
	const start = ranges.parseBounds(ranges.parseRange(range));
	let headerRow = -1;
	if (format.headerRow >= 0)
		headerRow = findHeaderRow(rows, format.headerRow, (cell) => cell !== '');
	let formats = noFormats;
	if (wantsIso && !isFormatted) formats = await fetchFormats(spreadsheet, range, rows, item);
	// A header that is a date has the name that the sheet shows.
	const hasDateHeader = rows[headerRow]?.some((_, column) =>
		isDateFormat(formats.find(headerRow, column)),
	);
	const cells = { range, start, rows, headerRow, formats, timeZone: formats.timeZone };
	let shownRows = rows;
	if (!isFormatted && (hasFilters || hasDateHeader))
		shownRows = (await fetchValues('FORMATTED_VALUE')).rows;
	if (!comparesSize) return { ...cells, shownRows, comparedRows: rows };
	const { rows: comparedRows } = await fetchValues('UNFORMATTED_VALUE');
	return { ...cells, shownRows, comparedRows, timeZone: await spreadsheet.fetchTimeZone() };
}

/** Builds the function that fetches the values of a range. Items of a run that read the same range share one request. */
function buildFetch(spreadsheet: Spreadsheet, target: ranges.TabRange, item: Pick<Item, 'doOnce'>) {
	return async (valueRenderOption: string, dateTimeRenderOption = 'SERIAL_NUMBER') => {
		const request = {
			...{ spreadsheetId: spreadsheet.id, range: ranges.printRange(target) },
			...{ majorDimension: 'ROWS', valueRenderOption, dateTimeRenderOption },
		};
		const send = async () => (await spreadsheet.valuesApi.get(request)).data;
		const key = `spreadsheet.read ${JSON.stringify(request)}`;
		const data = await item.doOnce(key, () => spreadsheet.sendForRange(target, send));
		return { range: data.range ?? '', rows: (data.values ?? []) as Rows };
	};
}

/** The number formats of cells, which tell dates from other numbers. */
interface Formats {
	readonly timeZone: string;
	/** Finds the format of a cell by its place in the fetched rows. */
	readonly find: (row: number, column: number) => sheets_v4.Schema$NumberFormat;
}

const noFormats: Formats = { timeZone: 'Etc/GMT', find: () => ({}) };

/** Fetches the formats of all columns with numbers, and those between them. Without any number, nothing is sent. */
async function fetchFormats(
	spreadsheet: Spreadsheet,
	range: string,
	rows: Rows,
	item: Pick<Item, 'doOnce'>,
): Promise<Formats> {
	const [firstColumn, lastColumn] = findNumberColumns(rows);
	if (lastColumn === -1) return noFormats;
	const place = ranges.parseRange(range);
	const start = ranges.parseBounds(place);
	const firstCell = { row: start.row, column: start.column + firstColumn };
	const width = lastColumn - firstColumn + 1;
	const area = ranges.printTabArea(place.tab, firstCell, rows.length, width);
	const fields = 'properties.timeZone,sheets.data.rowData.values.effectiveFormat.numberFormat';
	const fetch = async () => await spreadsheet.fetch(fields, area);
	const data = await item.doOnce(`spreadsheet.formats ${spreadsheet.id} ${area}`, fetch);
	const cellRows = data.sheets?.[0]?.data?.[0]?.rowData ?? [];
	return {
		timeZone: data.properties?.timeZone ?? '',
		find: (row, column) =>
			cellRows[row]?.values?.[column - firstColumn]?.effectiveFormat?.numberFormat ?? {},
	};
}

/** Returns the first and the last column with a number; -1 if there is none. */
function findNumberColumns(rows: Rows): readonly [number, number] {
	let [firstColumn, lastColumn] = [Infinity, -1];
	for (const cells of rows)
		for (const [column, cell] of cells.entries())
			if (typeof cell === 'number') {
				firstColumn = Math.min(firstColumn, column);
				lastColumn = Math.max(lastColumn, column);
			}
	return [firstColumn, lastColumn];
}
