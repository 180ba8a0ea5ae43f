import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { isDateFormat, printDate } from '../dates';
import {
	type CellPosition,
	parseBounds,
	parseRange,
	printRange,
	printTabArea,
	type TabRange,
} from '../range';
import type { Spreadsheet } from '../spreadsheet';
import { findHeaderRow, type Header } from '../table';
import type { ComparedCell } from './filters';

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
interface FetchedRange {
	/** The range as Google printed it. */
	readonly range: string;
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

export interface FetchedCells extends FetchedRange {
	/** The place of the first cell in the tab. */
	readonly start: CellPosition;
	/** Returns the value of a cell as Read outputs it. */
	getValue(row: number, column: number): CellValue;
	/** Returns the header of a column. */
	getHeader(column: number): Header;
	/** Returns a cell as filters compare it. */
	getCompared(row: number, column: number): ComparedCell;
}

function toCells(fetched: FetchedRange): FetchedCells {
	const { rows, headerRow, formats, shownRows, comparedRows, timeZone } = fetched;
	const getValue = (row: number, column: number) => {
		const value = rows[row]?.[column] ?? '';
		if (typeof value !== 'number') return value;
		return printDate(value, formats.find(row, column), timeZone) ?? value;
	};
	const getShown = (row: number, column: number) => String(shownRows[row]?.[column] ?? '');
	return {
		...fetched,
		start: parseBounds(parseRange(fetched.range)),
		getValue,
		getHeader(column) {
			const shownText = getShown(headerRow, column);
			const isDate = isDateFormat(formats.find(headerRow, column));
			const text = isDate ? shownText : String(rows[headerRow]?.[column] ?? '');
			return { text, shownText };
		},
		getCompared: (row, column) => ({
			texts: [String(getValue(row, column)), getShown(row, column)],
			value: comparedRows[row]?.[column],
		}),
	};
}

/** Fetches the cells of a range. Further requests follow only if a number may be a date, or if cells are compared. */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: TabRange,
	format: CellFormat,
	item: Pick<Item, 'doOnce'>,
): Promise<FetchedCells> {
	const { valueRenderOption, dateTimeRenderOption, hasFilters, comparesSize } = format;
	const isFormatted = valueRenderOption === 'FORMATTED_VALUE';
	const wantsIso = dateTimeRenderOption === 'ISO_8601';
	const fetchData = buildFetch(spreadsheet, target, item);
	// Google does not know ISO 8601. It is made from the numbers and their formats.
	const data = await fetchData(valueRenderOption, wantsIso ? undefined : dateTimeRenderOption);
	const range = data.range ?? '';
	const rows = readRows(data);
	const headerRow = findHeaderRow(rows, format.headerRow);
	const formats =
		wantsIso && !isFormatted ? await fetchFormats(spreadsheet, range, rows, item) : noFormats;
	// A header that is a date has the name that the sheet shows.
	const hasDateHeader = rows[headerRow]?.some((_, column) =>
		isDateFormat(formats.find(headerRow, column)),
	);
	const needsShown = !isFormatted && (hasFilters || hasDateHeader === true);
	const fetchRows = async (render: string) => readRows(await fetchData(render));
	const shownRows = needsShown ? await fetchRows('FORMATTED_VALUE') : rows;
	const comparedRows = comparesSize ? await fetchRows('UNFORMATTED_VALUE') : rows;
	const timeZone = comparesSize ? await spreadsheet.fetchTimeZone() : formats.timeZone;
	return toCells({ range, rows, headerRow, formats, shownRows, comparedRows, timeZone });
}

/** Builds the function that fetches the values of a range. Items of a run that read the same range share one request. */
function buildFetch(spreadsheet: Spreadsheet, target: TabRange, item: Pick<Item, 'doOnce'>) {
	const place = { spreadsheetId: spreadsheet.id, range: printRange(target) };
	return async (valueRenderOption: string, dateTimeRenderOption = 'SERIAL_NUMBER') => {
		const options = { majorDimension: 'ROWS', valueRenderOption, dateTimeRenderOption };
		const request = { ...place, ...options };
		const send = async () => (await spreadsheet.valuesApi.get(request)).data;
		const key = `spreadsheet.read ${JSON.stringify(request)}`;
		return await item.doOnce(key, () => spreadsheet.sendForRange(target, send));
	};
}

const readRows = ({ values }: sheets_v4.Schema$ValueRange) => (values ?? []) as Rows;

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
	let [firstColumn, lastColumn] = [Infinity, -1];
	for (const cells of rows)
		for (const [column, cell] of cells.entries())
			if (typeof cell === 'number') {
				firstColumn = Math.min(firstColumn, column);
				lastColumn = Math.max(lastColumn, column);
			}
	if (lastColumn === -1) return noFormats;
	const place = parseRange(range);
	const start = parseBounds(place);
	const firstCell = { row: start.row, column: start.column + firstColumn };
	const area = printTabArea(place.tab, firstCell, rows.length, lastColumn - firstColumn + 1);
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
