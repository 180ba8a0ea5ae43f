import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../../core/errors';
import type { Item } from '../../../operation';
import type { Cell, CellInputOptions, NamedRow } from '../cells';
import { DateCell, mayBeDate, parseDate, printDate } from './dates';
import { type Corner, parseBounds, parseRange, printAreaLike, printTabArea } from '../range';
import type { Spreadsheet } from '../spreadsheet';

type InputParams = Pick<CellInputOptions, 'valueInputOption'>;

/** How Google is told to interpret cells: dates for `AUTO` are numbers already, so that no locale changes them. */
export function toInputOption({ valueInputOption }: InputParams): 'RAW' | 'USER_ENTERED' {
	return valueInputOption === 'AUTO' ? 'RAW' : valueInputOption;
}

/** The columns of a table, as far as types are concerned. Rows and columns count from 0. */
interface TypedTable {
	readonly title: string;
	readonly row: number;
	readonly rowCount: number;
	readonly left: number;
	readonly right: number;
	readonly columns: ReadonlyMap<string, number>;
}

/** How many rows below the header tell what a column holds. */
const sampleRows = 50;
const plainNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const booleanPattern = /^(true|false)$/i;

/** Whether a text that was typed into the form may mean a number or a boolean: n8n's column mapper makes text of everything. */
const mayBeTyped = (cell: Cell) =>
	typeof cell === 'string' && (plainNumberPattern.test(cell) || booleanPattern.test(cell));

/** What the columns of a table hold, by the first cells in them. */
async function readColumnTypes(
	book: Spreadsheet,
	{ title, row, rowCount, left, right, columns }: TypedTable,
): Promise<ReadonlyMap<string, string>> {
	if (row + 1 >= rowCount) return new Map();
	const range = printTabArea(title, { row: row + 1, column: left }, sampleRows, right - left + 1);
	const asked = { spreadsheetId: book.id, range, valueRenderOption: 'UNFORMATTED_VALUE' };
	const { data } = await book.values.get({ ...asked, dateTimeRenderOption: 'FORMATTED_STRING' });
	const lines = (data.values ?? []) as unknown[][];
	const findFirst = (at: number) => lines.map((line) => line[at] ?? '').find((value) => value !== '');
	return new Map([...columns].map(([name, column]) => [name, typeof findFirst(column - left)]));
}

/**
 * Prepares rows for sending. For `AUTO`, what was typed gets the type of its column (`4` becomes a number among numbers, and `TRUE` is
 * ticked among checkboxes), a complete date, time or timestamp becomes a date cell, and every other text stays text.
 */
export async function convertCells(
	book: Spreadsheet,
	{ valueInputOption }: InputParams,
	named: ReadonlyArray<readonly NamedRow[]>,
	table?: TypedTable,
): Promise<ReadonlyArray<readonly NamedRow[]>> {
	if (valueInputOption !== 'AUTO') return named;
	const all = named.flat();
	const hasTyped = ({ cells, typed }: NamedRow) =>
		[...(typed ?? [])].some((name) => mayBeTyped(cells.get(name) ?? ''));
	const hasDate = ({ cells }: NamedRow) =>
		[...cells.values()].some((cell) => typeof cell === 'string' && mayBeDate(cell));
	const types = table && all.some(hasTyped) ? await readColumnTypes(book, table) : undefined;
	const settings = all.some(hasDate) ? await book.readSettings() : undefined;
	if (!types && !settings) return named;
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
	return named.map((rows) => rows.map(convertRow));
}

/** A rectangle of cells. Rows and columns count from 0. */
export interface CellRectangle extends Corner {
	readonly cells: ReadonlyArray<readonly Cell[]>;
}

/** A tab, as far as it is known. */
interface DatedSheet {
	readonly title: string | undefined;
	readonly sheetId?: number | undefined;
}

/** Dates that were written into one column, by their rows. */
type DateColumn = Map<number, DateCell>;

/** Gives dates that were written a date format, where their cells have none and would show numbers. If that fails, a hint says so. */
export async function formatDates(
	book: Spreadsheet,
	item: Pick<Item, 'addHint'>,
	sheet: DatedSheet,
	written: readonly CellRectangle[],
): Promise<void> {
	const columns = new Map<number, DateColumn>();
	for (const { row, column, cells } of written) {
		for (const [down, line] of cells.entries()) {
			for (const [across, cell] of line.entries()) {
				if (!(cell instanceof DateCell)) continue;
				const dates: DateColumn = columns.get(column + across) ?? new Map<number, DateCell>();
				columns.set(column + across, dates.set(row + down, cell));
			}
		}
	}
	if (columns.size === 0) return;
	await formatColumns(book, sheet, columns).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		item.addHint(`The dates were written, but the sheet may show them as numbers: ${error.message}`);
	});
}

async function formatColumns(
	book: Spreadsheet,
	{ title, ...sheet }: DatedSheet,
	columns: ReadonlyMap<number, DateColumn>,
): Promise<void> {
	const spans = [...columns].map(([column, dates]) => {
		const rows = [...dates.keys()].sort((a, b) => a - b);
		return { column, dates, rows, first: rows[0] ?? 0, last: rows.at(-1) ?? 0 };
	});
	const { data } = await book.values.batchGet({
		spreadsheetId: book.id,
		ranges: spans.map(({ column, first, last }) =>
			printTabArea(title, { row: first, column }, last - first + 1, 1),
		),
		valueRenderOption: 'UNFORMATTED_VALUE',
		// Only a cell with a date format comes back as text.
		dateTimeRenderOption: 'FORMATTED_STRING',
	});
	const areas = spans.flatMap(({ column, dates, rows, first }, at) => {
		const values = (data.valueRanges?.[at]?.values ?? []) as unknown[][];
		const isPlain = (row: number) => typeof values[row - first]?.[0] === 'number';
		return groupRows(rows.filter(isPlain), dates).map((group) => ({ ...group, column }));
	});
	if (areas.length === 0) return;
	const { sheetId } = sheet.sheetId === undefined ? await book.findSheet(title) : sheet;
	await book.change(
		areas.map(({ from, to, column, type }) => {
			const rows = { startRowIndex: from, endRowIndex: to + 1 };
			const range = { sheetId, ...rows, startColumnIndex: column, endColumnIndex: column + 1 };
			return buildFormatRequest(range, type);
		}),
	);
}

function groupRows(rows: readonly number[], dates: DateColumn) {
	const groups: Array<{ from: number; to: number; type: DateCell['type'] | undefined }> = [];
	for (const row of rows) {
		const [last, type] = [groups.at(-1), dates.get(row)?.type];
		if (last?.to === row - 1 && last.type === type) last.to = row;
		else groups.push({ from: row, to: row, type });
	}
	return groups;
}

/** Without a pattern, the sheet's locale decides. */
function buildFormatRequest(
	range: sheets_v4.Schema$GridRange,
	type: DateCell['type'] | undefined,
): sheets_v4.Schema$Request {
	const numberFormat = type === 'DURATION' ? { type: 'TIME', pattern: '[h]:mm:ss' } : { type };
	return {
		repeatCell: {
			range,
			cell: { userEnteredFormat: { numberFormat } },
			fields: 'userEnteredFormat.numberFormat',
		},
	};
}

/** A text with digits, as every date is shown that is more than the name of a day or month; not an address or a formula. */
const shownDatePattern = /^(?!=)[^@]{0,60}\p{Nd}[^@]{0,60}$/u;
/**
 * A word with a digit right behind it, such as A7 or INV2024 (before a digit, dates have T, AM, PM and "thg" at most), or a long number
 * beside words: most texts with digits are such names, and no date of any locale is shown like this.
 */
const shownNamePattern =
	/(?<![\p{L}\p{M}\p{Nd}])(?!T\p{Nd}|AM|PM|th)\p{Script=Latin}+\p{Nd}|^(?=.*\p{L}).*\p{Nd}{5}/iu;

const mayShowDate = (cell: unknown) =>
	typeof cell === 'string' && shownDatePattern.test(cell) && !shownNamePattern.test(cell);
/** A request has this many ranges at most, because they are part of its URL. */
const maxRanges = 50;

/**
 * Prints dates in ISO 8601, whatever the sheet shows. Only if a text may be a date, one request asks for the numbers and formats behind it.
 * @param read cells as read, in which dates are texts @param headerRows how many rows at the top keep their texts
 */
export async function printDates(
	book: Spreadsheet,
	read: sheets_v4.Schema$ValueRange,
	headerRows: number,
): Promise<sheets_v4.Schema$ValueRange> {
	const values = (read.values ?? []) as unknown[][];
	const isInColumns = read.majorDimension === 'COLUMNS';
	const start = parseBounds(parseRange(read.range ?? 'A1'));
	const spans = new Map<number, { first: number; last: number }>();
	for (const [at, line] of values.entries()) {
		for (const [inLine, cell] of line.entries()) {
			const [row, column] = isInColumns ? [inLine, at] : [at, inLine];
			if (row < headerRows || !mayShowDate(cell)) continue;
			const { first = row, last = row } = spans.get(column) ?? {};
			spans.set(column, { first: Math.min(first, row), last: Math.max(last, row) });
		}
	}
	if (spans.size === 0) return read;
	const areas = joinSpans(spans);
	const ranges = areas.map(({ row, column, rows, columns }) =>
		printAreaLike(read.range ?? '', { row: start.row + row, column: start.column + column }, rows, columns),
	);
	const { properties, sheets } = await book.get(dateFields, ranges);
	const printed = values.map((line) => [...line]);
	for (const [at, { row, column }] of areas.entries()) {
		for (const [down, line] of (sheets?.[0]?.data?.[at]?.rowData ?? []).entries()) {
			for (const [across, cell] of (line.values ?? []).entries()) {
				const [first, second] = isInColumns ? [column + across, row + down] : [row + down, column + across];
				const [shown, serial] = [printed[first]?.[second], cell.effectiveValue?.numberValue];
				if (typeof shown !== 'string' || typeof serial !== 'number' || shown.startsWith('=')) continue;
				const iso = printDate(serial, cell.effectiveFormat?.numberFormat ?? {}, properties?.timeZone ?? '');
				if (printed[first] && iso !== undefined) printed[first][second] = iso;
			}
		}
	}
	return { ...read, values: printed };
}

const dateFields =
	'properties.timeZone,sheets.data.rowData.values(effectiveValue.numberValue,effectiveFormat.numberFormat)';

/** One area for each column; a single one for all where these are too many. */
function joinSpans(spans: ReadonlyMap<number, { readonly first: number; readonly last: number }>) {
	const all = [...spans].map(([column, { first, last }]) => ({
		...{ row: first, rows: last - first + 1 },
		...{ column, columns: 1 },
	}));
	if (all.length <= maxRanges) return all;
	const row = all.reduce((least, one) => Math.min(least, one.row), Infinity);
	const end = all.reduce((most, one) => Math.max(most, one.row + one.rows), 0);
	const columns = [...spans.keys()];
	const column = Math.min(...columns);
	return [{ row, rows: end - row, column, columns: Math.max(...columns) - column + 1 }];
}
