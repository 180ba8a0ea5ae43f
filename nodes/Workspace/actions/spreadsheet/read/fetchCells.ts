import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { isDateFormat, printDate } from '../dates/dates';
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

/** The cells of a range. Rows and columns count from 0, from the first cell of the range on. */
export interface FetchedCells {
	/** The range as Google printed it. */
	readonly range: string;
	/** The values as Google returns them. A date that shall become ISO 8601 is still a number. */
	readonly rows: Rows;
	/** The header row; -1 if there is none. */
	readonly headerRow: number;
	/** The place of the first cell in the tab. */
	readonly start: CellPosition;
	/** Known if cells can be dates or are compared by their size. */
	readonly timeZone: string;
	/** Returns the value of a cell as Read outputs it. */
	getValue(row: number, column: number): CellValue;
	/** Returns the header of a column. */
	getHeader(column: number): Header;
	/** Returns a cell as filters compare it. */
	getCompared(row: number, column: number): ComparedCell;
}

/** How Google returns values. */
type ValueOptions = Readonly<Record<'valueRenderOption' | 'dateTimeRenderOption', string>>;

/** Fetches the cells of a range. Further requests follow only if a number may be a date, or if cells are compared. */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: TabRange,
	format: CellFormat,
	item: Pick<Item, 'doOnce'>,
): Promise<FetchedCells> {
	const { valueRenderOption, hasFilters, comparesSize } = format;
	const isFormatted = valueRenderOption === 'FORMATTED_VALUE';
	const wantsIso = format.dateTimeRenderOption === 'ISO_8601';
	// Google does not know ISO 8601. It is made from the numbers and their formats.
	const dateTimeRenderOption = wantsIso ? 'SERIAL_NUMBER' : format.dateTimeRenderOption;
	// Items of a run that read the same range share one request.
	const fetchData = async (options: ValueOptions) => {
		const place = { spreadsheetId: spreadsheet.id, range: printRange(target) };
		const request = { ...place, majorDimension: 'ROWS', ...options };
		const send = async () => (await spreadsheet.valuesApi.get(request)).data;
		const key = `spreadsheet.read ${JSON.stringify(request)}`;
		return await item.doOnce(key, () => spreadsheet.sendForRange(target, send));
	};
	const fetchRows = async (render: string) =>
		readRows(
			await fetchData({ valueRenderOption: render, dateTimeRenderOption: 'SERIAL_NUMBER' }),
		);
	const data = await fetchData({ valueRenderOption, dateTimeRenderOption });
	const range = data.range ?? '';
	const rows = readRows(data);
	const headerRow = findHeaderRow(rows, format.headerRow);
	const needsFormats = wantsIso && !isFormatted;
	const formats = needsFormats ? await fetchFormats(spreadsheet, range, rows, item) : noFormats;
	const isDate = (row: number, column: number) => isDateFormat(formats.find(row, column));
	// A header that is a date has the name that the sheet shows.
	const hasDateHeader = rows[headerRow]?.some((_, column) => isDate(headerRow, column));
	const needsShown = !isFormatted && (hasFilters || hasDateHeader === true);
	const shownRows = needsShown ? await fetchRows('FORMATTED_VALUE') : rows;
	const comparedRows = comparesSize ? await fetchRows('UNFORMATTED_VALUE') : rows;
	const timeZone = comparesSize ? await spreadsheet.fetchTimeZone() : formats.timeZone;
	const getValue = (row: number, column: number) => {
		const value = rows[row]?.[column] ?? '';
		if (typeof value !== 'number') return value;
		return printDate(value, formats.find(row, column), timeZone) ?? value;
	};
	return {
		...{ range, rows, headerRow, timeZone, getValue },
		start: parseBounds(parseRange(range)),
		getHeader(column) {
			const value = String(rows[headerRow]?.[column] ?? '');
			const shownText = String(shownRows[headerRow]?.[column] ?? '');
			return { text: isDate(headerRow, column) ? shownText : value, shownText };
		},
		getCompared: (row, column) => ({
			texts: [String(getValue(row, column)), String(shownRows[row]?.[column] ?? '')],
			value: comparedRows[row]?.[column],
		}),
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
