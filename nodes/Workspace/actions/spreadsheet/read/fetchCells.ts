import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isDateFormat, type NumberFormat, printSerialAsIso } from '../dates';
import * as ranges from '../range';
import type { Spreadsheet } from '../spreadsheet';
import { findHeaderRow } from '../table';

export type CellValue = string | number | boolean;
type Rows = ReadonlyArray<readonly CellValue[]>;

/** How the cells of a range are wanted. */
interface CellFormat {
	readonly valueRenderOption: 'FORMATTED_VALUE' | 'FORMULA' | 'UNFORMATTED_VALUE';
	readonly dateTimeRenderOption: 'FORMATTED_STRING' | 'ISO_8601' | 'SERIAL_NUMBER';
	/** Where the header row is expected, from 0; -1 if there is none. */
	readonly headerRow: number;
	/** Whether cells are compared, so that the texts are needed that the sheet shows. */
	readonly hasFilters: boolean;
	/** Whether cells are compared by their size, so that dates are needed as numbers. */
	readonly comparesSize: boolean;
}

/**
 * What was fetched of a range. Rows and columns count from 0, from the first cell of the range on.
 */
export interface FetchedCells {
	/** The range as Google printed it, and the place of its first cell in the tab. */
	readonly range: string;
	readonly start: ranges.CellPosition;
	/** The values as Google returns them. A date that shall become ISO 8601 is still a number. */
	readonly rows: Rows;
	/** The header row; -1 if there is none. */
	readonly headerRow: number;
	/** Returns the format of a cell that may be a date. */
	readonly findDateFormat: DateFormats['find'];
	/** The texts that the sheet shows, if cells are compared or a header is not a text. */
	readonly shownRows: Rows;
	/** The values with dates as numbers, if cells are compared by their size. */
	readonly comparedRows: Rows;
	/** Known if cells can be dates or are compared by their size. */
	readonly timeZone: string;
}

/** Returns the value of a cell as Read outputs it. */
export function getValue(cells: FetchedCells, row: number, column: number): CellValue {
	const value = cells.rows[row]?.[column] ?? '';
	const format = typeof value === 'number' ? cells.findDateFormat(row, column) : undefined;
	return (format && printSerialAsIso(Number(value), format, cells.timeZone)) ?? value;
}

/**
 * Fetches the cells of a range. Further requests follow only if a number may be a date, or if cells
 * are compared.
 */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	format: CellFormat,
): Promise<FetchedCells> {
	const { valueRenderOption, dateTimeRenderOption, hasFilters, comparesSize } = format;
	const fetchAs = (valueOption: string, dateOption?: string) =>
		fetchRows(spreadsheet, ranges.printRange(target), valueOption, dateOption);
	// Google does not know ISO 8601: it is made from serial numbers and their formats.
	const isIso = dateTimeRenderOption === 'ISO_8601';
	const dateOption = isIso ? undefined : dateTimeRenderOption;
	const { range, rows } = await spreadsheet.sendForRange(target, () =>
		fetchAs(valueRenderOption, dateOption),
	);
	const headerRow = format.headerRow < 0 ? -1 : findHeaderRow(rows, format.headerRow);
	const fetchFormats = () => fetchDateFormats(spreadsheet, range, rows);
	const formats = isIso
		? await spreadsheet.readOnce(`formats ${valueRenderOption} ${range}`, fetchFormats)
		: noFormats;
	let shownRows = rows;
	if (hasFilters) shownRows = (await fetchAs('FORMATTED_VALUE')).rows;
	else if (rows[headerRow]?.some(mayBeShownOtherwise))
		shownRows = rows.with(headerRow, await fetchShownRow(spreadsheet, range, rows, headerRow));
	return {
		range,
		start: ranges.parseBounds(ranges.parseRange(range)),
		rows,
		headerRow,
		findDateFormat: formats.find,
		shownRows,
		comparedRows: comparesSize ? (await fetchAs('UNFORMATTED_VALUE')).rows : rows,
		timeZone: formats.timeZone || (comparesSize ? await spreadsheet.fetchTimeZone() : ''),
	};
}

/**
 * A column has the name that the sheet shows for its header. For a number, such as a year, or a
 * formula, this may be another text than the value that was fetched.
 */
const mayBeShownOtherwise = (header: CellValue) =>
	typeof header !== 'string' || header.startsWith('=');

/** Fetches the texts that the sheet shows in one row of a range. */
async function fetchShownRow(spreadsheet: Spreadsheet, range: string, rows: Rows, row: number) {
	const width = rows[row]?.length ?? 0;
	const area = printPart(range, { row, column: 0 }, 1, width);
	const shown = await fetchRows(spreadsheet, area, 'FORMATTED_VALUE');
	return shown.rows[0] ?? [];
}

/** Prints a part of a range. @param start the part's first cell, counted from that of the range */
function printPart(range: string, start: ranges.CellPosition, height: number, width: number) {
	const { tab, ...place } = ranges.parseRange(range);
	const { row, column } = ranges.parseBounds(place);
	const firstCell = { row: row + start.row, column: column + start.column };
	return ranges.printTabArea(tab, firstCell, height, width);
}

/**
 * Fetches the rows of a range. Equal requests, also those of other items of the run, are one
 * request.
 */
async function fetchRows(
	spreadsheet: Spreadsheet,
	range: string,
	valueRenderOption: string,
	dateTimeRenderOption = 'SERIAL_NUMBER',
) {
	const request = {
		spreadsheetId: spreadsheet.id,
		range,
		majorDimension: 'ROWS',
		valueRenderOption,
		dateTimeRenderOption,
	};
	const send = async () => (await spreadsheet.valuesApi.get(request)).data;
	const data = await spreadsheet.readOnce(`values ${JSON.stringify(request)}`, send);
	return { range: data.range ?? '', rows: (data.values ?? []) as Rows };
}

/** The number formats of the cells that may be dates, by their place in the fetched rows. */
interface DateFormats {
	readonly timeZone: string;
	readonly find: (row: number, column: number) => NumberFormat | undefined;
}

const noFormats: DateFormats = { timeZone: '', find: () => undefined };

/**
 * How many cells a request for formats has at most. The format of a cell is much longer in JSON
 * than its value.
 */
const maxFormatCells = 200_000;

/**
 * Fetches the formats of all columns with numbers, and those between them. Without any number,
 * nothing is sent.
 */
async function fetchDateFormats(
	spreadsheet: Spreadsheet,
	range: string,
	rows: Rows,
): Promise<DateFormats> {
	const numberColumns = findNumberColumns(rows);
	if (numberColumns.size === 0) return noFormats;
	const firstColumn = Math.min(...numberColumns);
	const width = Math.max(...numberColumns) - firstColumn + 1;
	const sliceHeight = Math.ceil(maxFormatCells / width);
	const formats: Array<Array<NumberFormat | undefined>> = [];
	let timeZone = '';
	for (let row = 0; row < rows.length; row += sliceHeight) {
		const height = Math.min(sliceHeight, rows.length - row);
		const slice = printPart(range, { row, column: firstColumn }, height, width);
		const { properties, sheets } = await spreadsheet.fetch(formatFields, slice);
		timeZone = properties?.timeZone ?? '';
		for (const { values = [] } of sheets?.[0]?.data?.[0]?.rowData ?? [])
			formats.push(values.map(readDateFormat));
		// Google leaves out rows at the end that have no format.
		formats.length = row + height;
	}
	return { timeZone, find: (row, column) => formats[row]?.[column - firstColumn] };
}

const formatFields = 'properties.timeZone,sheets.data.rowData.values.effectiveFormat.numberFormat';

/** Other formats are left out, because those of a full sheet would fill the memory. */
function readDateFormat({ effectiveFormat }: sheets_v4.Schema$CellData) {
	const { numberFormat } = effectiveFormat ?? {};
	return numberFormat && isDateFormat(numberFormat) ? numberFormat : undefined;
}

function findNumberColumns(rows: Rows): Set<number> {
	const columns = new Set<number>();
	for (const cells of rows)
		for (const [column, cell] of cells.entries())
			if (typeof cell === 'number') columns.add(column);
	return columns;
}
