import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isDateFormat, type NumberFormat, printSerialAsIso } from '../dates';
import * as ranges from '../range';
import type { Spreadsheet } from '../spreadsheet';

export type CellValue = string | number | boolean;
type Rows = ReadonlyArray<readonly CellValue[]>;

/** How the cells of a range are wanted. */
interface CellFormat {
	readonly valueRenderOption: 'FORMATTED_VALUE' | 'FORMULA' | 'UNFORMATTED_VALUE';
	readonly dateTimeRenderOption: 'FORMATTED_STRING' | 'ISO_8601' | 'SERIAL_NUMBER';
}

/**
 * What was fetched of a range. Rows and columns count from 0, from the first cell of the range on.
 */
export interface FetchedCells {
	readonly spreadsheet: Spreadsheet;
	readonly target: ranges.TabRange;
	/** The range as Google printed it, and the place of its first cell in the tab. */
	readonly range: string;
	readonly start: ranges.CellPosition;
	/** The values as Google returns them. A date that shall become ISO 8601 is still a number. */
	readonly rows: Rows;
	readonly formats: DateFormats;
}

/** Returns the value of a cell as Read outputs it. */
export function getValue(cells: FetchedCells, row: number, column: number): CellValue {
	const value = cells.rows[row]?.[column] ?? '';
	const format = typeof value === 'number' ? cells.formats.find(row, column) : undefined;
	return (format && printSerialAsIso(Number(value), format, cells.formats.timeZone)) ?? value;
}

/** Fetches the cells of a range. A further request follows only if a number may be a date. */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	{ valueRenderOption, dateTimeRenderOption }: CellFormat,
): Promise<FetchedCells> {
	// Google does not know ISO 8601: it is made from serial numbers and their formats.
	const isIso = dateTimeRenderOption === 'ISO_8601';
	const dateOption = isIso ? undefined : dateTimeRenderOption;
	const { range, rows } = await spreadsheet.sendForRange(target, () =>
		fetchRows(spreadsheet, ranges.printRange(target), valueRenderOption, dateOption),
	);
	const formats = isIso
		? await spreadsheet.readOnce(`formats ${valueRenderOption} ${range}`, () =>
				fetchDateFormats(spreadsheet, range, rows),
			)
		: noFormats;
	return {
		spreadsheet,
		target,
		range,
		start: ranges.parseBounds(ranges.parseRange(range)),
		rows,
		formats,
	};
}

/** Fetches the same cells in another form, with dates as numbers. */
export async function fetchCellsAs(
	{ spreadsheet, target }: FetchedCells,
	valueRenderOption: CellFormat['valueRenderOption'],
): Promise<Rows> {
	return (await fetchRows(spreadsheet, ranges.printRange(target), valueRenderOption)).rows;
}

/**
 * A column has the name that the sheet shows for its header. For a number, such as a year, or a
 * formula, this may be another text than the value that was fetched.
 */
const mayBeShownOtherwise = (header: CellValue) =>
	typeof header !== 'string' || header.startsWith('=');

/**
 * Fetches the texts that the sheet shows in a header row, if they may not be its values.
 * @param hasFilters whether the texts of all cells are needed anyway
 */
export async function fetchHeaders(cells: FetchedCells, row: number, hasFilters: boolean) {
	if (hasFilters) return (await fetchCellsAs(cells, 'FORMATTED_VALUE'))[row] ?? [];
	const { spreadsheet, range, rows } = cells;
	const headers = rows[row] ?? [];
	if (!headers.some(mayBeShownOtherwise)) return headers;
	const area = printPart(range, { row, column: 0 }, 1, headers.length);
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
	/** Of the spreadsheet; '' if no cell may be a date. */
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
