import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import type { Item } from '../../operation';
import { type Cell, type NamedCells, type NamedRow, namesIn } from './cells';
import { list } from './errors';
import {
	cellsOfName,
	findSheet,
	inTabs,
	isAboutTabs,
	type NativeTable,
	nativeTableAt,
	refuseTabLikeCell,
} from './sheets';
import {
	anchorOf,
	cellsOn,
	columnLetters,
	parseRange,
	printCell,
	type TabRange,
	type Targeted,
	targetOf,
} from './range';

/** Keys that mean something else in an output item. */
const reservedNames: readonly string[] = ['error', 'rowNumber', '__proto__'];

/**
 * Unique names of columns, from their headers: a repeated one gets `_2`, `_3` …, an empty one becomes its column letter.
 * @param startColumn of the first header, from 0
 */
export function columnNames(
	headers: readonly string[],
	startColumn: number,
	reserved: readonly string[] = reservedNames,
): string[] {
	const taken = new Set(reserved);
	/** The next number of a repeated name: trying from 2 each time would take long with many equal headers. */
	const numbers = new Map<string, number>();
	return headers.map((header, at) => {
		const name = header || columnLetters(startColumn + at);
		let unique = name;
		let number = numbers.get(name) ?? 2;
		while (taken.has(unique)) unique = `${name}_${number++}`;
		numbers.set(name, number);
		taken.add(unique);
		return unique;
	});
}

/** A tab's header row, as far as the range reaches. Columns count from 0. */
interface HeaderRow {
	/** First column of the table, left of the range too when headers stand there without a gap. */
	readonly left: number;
	/** Last column that has a header. */
	readonly right: number;
	/** Whether a column between them has none. */
	readonly hasGap: boolean;
	/** The texts that the range has in the row, from its first column on. */
	readonly headers: readonly string[];
	readonly start: number;
	/** Names of the columns, as reading the tab gives them; without those that have no header. */
	readonly names: readonly string[];
	/** Columns by name, or by letter where they have none. Empty when there is no header yet. */
	readonly columns: ReadonlyMap<string, number>;
	/** Where new headers go. */
	readonly free: number;
	/** How many columns from there are empty. */
	readonly room: number;
	/** Columns of the tab. */
	readonly columnCount: number;
}

/** How to find a header row. */
interface Headed {
	readonly spreadsheetId: string;
	/** The header's columns lie inside. */
	readonly target: TabRange;
	/** From 1. */
	readonly headerRow: number;
}

export async function readHeaderRow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<HeaderRow> {
	const { texts, columnCount } = await readRow(sheets, { spreadsheetId, target, headerRow });
	return { ...headersIn(texts, target), columnCount };
}

/** The texts of a row, from the tab's first column on. */
export async function readRow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<{ readonly texts: readonly string[]; readonly columnCount: number }> {
	const { data } = await sheets.spreadsheets.values.get({
		spreadsheetId,
		range: cellsOn(target.tab ?? target.name, `${headerRow}:${headerRow}`),
	});
	const { lastColumn = 0 } = anchorOf(parseRange(data.range ?? ''));
	return { texts: (data.values?.[0] ?? []).map(String), columnCount: lastColumn + 1 };
}

function headersIn(texts: readonly string[], range: TabRange): Omit<HeaderRow, 'columnCount'> {
	const { column: start, lastColumn } = anchorOf(range);
	const headers = texts.slice(start, lastColumn === undefined ? undefined : lastColumn + 1);
	const filled = headers.flatMap((text, at) => (text === '' ? [] : [start + at]));
	let left = filled[0] ?? start;
	while (left > 0 && texts[left - 1]) left--;
	const free = (filled.at(-1) ?? start - 1) + 1;
	const right = Math.max(free - 1, left);
	const hasGap = texts.slice(left, right).includes('');
	const next = texts.findIndex((text, at) => at >= free && text !== '');
	const room = (next === -1 ? Infinity : next) - free;
	const names = columnNames(headers, start).filter((_, at) => headers[at] !== '');
	return { headers, start, left, right, hasGap, names, columns: columnsByName(headers, start), free, room };
}

/** By the names that reading the tab gives them, then by their own; a column without a header by its letter. */
function columnsByName(headers: readonly string[], start: number): Map<string, number> {
	const columns = new Map<string, number>();
	const last = headers.findLastIndex((text) => text !== '');
	for (const names of [columnNames(headers, start), columnNames(headers, start, [])]) {
		for (const [at, name] of names.entries()) {
			if (at <= last && !columns.has(name)) columns.set(name, start + at);
		}
	}
	return columns;
}

/**
 * The header row with the columns beside it that have no header, if rows name them by their letters, as reading the tab does. Only
 * those that follow one another count: any other name of one to three letters is a name.
 */
export function withLetters<H extends HeaderRow>(header: H, names: ReadonlySet<string>): H {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const used = [...names].flatMap((name) => columns.get(name) ?? []);
	let { free, room } = header;
	const { headers, start } = header;
	const beside = Array.from({ length: names.size }, () => '');
	const read = columnNames([...headers.slice(0, free - start), ...beside], start);
	for (
		let name = read[free - start];
		room > 0 && name !== undefined && names.has(name);
		name = read[free - start]
	) {
		columns.set(name, free++);
		room--;
	}
	const left = Math.min(header.left, ...used);
	const right = Math.max(header.right, free - 1);
	const hasGap = header.hasGap || left < header.left || right > header.right;
	return { ...header, left, right, hasGap, columns, free, room };
}

/** Writes headers into the free columns. @returns the header row with them */
async function addHeaders(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
	header: HeaderRow,
	names: readonly string[],
): Promise<HeaderRow> {
	const { free, columnCount } = header;
	if (names.length === 0) return header;
	const wider = withColumns(header, names);
	const tab = target.tab ?? target.name;
	const missing = free + names.length - columnCount;
	if (missing > 0) await widen(sheets, spreadsheetId, tab, missing);
	await sheets.spreadsheets.values.update({
		spreadsheetId,
		range: cellsOn(tab, printCell({ row: headerRow - 1, column: free })),
		valueInputOption: 'RAW',
		requestBody: { values: [[...names]] },
	});
	return wider;
}

/** The header row with new columns at its free end. @throws NodeError 400 where another table begins there */
export function withColumns<H extends HeaderRow>(header: H, names: readonly string[]): H {
	const { free, room, columns } = header;
	if (names.length === 0) return header;
	if (names.length > room) {
		throw refusal(
			`There is no space for new columns: ${list(names)}`,
			`Column ${columnLetters(free + room)} of the header row is already in use.`,
		);
	}
	const added = names.map((name, at) => [name, free + at] as const);
	return {
		...header,
		right: free + names.length - 1,
		names: [...header.names, ...names],
		columns: new Map([...columns, ...added]),
	};
}

async function widen(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	tab: string | undefined,
	length: number,
): Promise<void> {
	const { sheetId } = await findSheet(sheets, spreadsheetId, tab);
	const requests = [{ appendDimension: { sheetId, dimension: 'COLUMNS', length } }];
	await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
}

/** A header row, and what a batch needs to know of its tab. */
export interface SheetHeader extends HeaderRow {
	readonly sheetId: number;
	readonly title: string;
	/** Of the whole row, from the tab's first column on. */
	readonly texts: readonly string[];
	readonly rowCount: number;
	/** The table that the header is of, where Google knows it as one. */
	readonly native: NativeTable | undefined;
}

export async function readSheetHeader(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<SheetHeader> {
	const tab = target.tab ?? target.name;
	const { sheet, ...found } = await findSheet(sheets, spreadsheetId, tab, `${headerRow}:${headerRow}`);
	const cells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(({ formattedValue }) => formattedValue ?? '');
	while (texts.at(-1) === '') texts.pop();
	const header = headersIn(texts, target);
	const native = nativeTableAt(sheet, { row: headerRow - 1, column: header.left });
	return { ...header, ...found, texts, native };
}

interface HeaderParams extends Targeted {
	/** From 1. */
	readonly headerRow: number;
	readonly extraColumns: 'add' | 'error' | 'ignore';
}

/** A table as described by its header row. */
export interface Table<H extends HeaderRow = HeaderRow> {
	readonly target: TabRange;
	readonly header: H;
}

/** Rows in the order of a table's columns. */
interface RowsByHeader extends Table {
	/** By member; a NodeError for a member whose fields do not fit the table. */
	readonly rows: ReadonlyArray<Cell[][] | NodeError>;
}

/** @param read how the header row is read, and what of the tab beside it */
export async function tableOf<H>(
	sheets: sheets_v4.Sheets,
	params: HeaderParams,
	item: Item,
	read: (sheets: sheets_v4.Sheets, headed: Headed) => Promise<H>,
): Promise<{ readonly target: TabRange; readonly header: H }> {
	const { spreadsheetId, headerRow } = params;
	const target = targetOf(params);
	const asked = { spreadsheetId, target, item };
	const readIn = async (inside: TabRange) => ({
		target: inside,
		header: await read(sheets, { spreadsheetId, target: inside, headerRow }),
	});
	const resolved = async () => await readIn(await cellsOfName(sheets, spreadsheetId, target));
	await refuseTabLikeCell(sheets, asked);
	return await inTabs(sheets, asked, async () => {
		if (target.tab !== undefined && target.name !== undefined) return await resolved();
		return await readIn(target).catch(async (error: unknown) => {
			// The word is not the name of a tab: it may be a named range.
			if (isAboutTabs(error) && target.name !== undefined) return await resolved();
			throw error;
		});
	});
}

/** Rows by the tab's header row, which is written first where it is empty. */
export async function rowsByHeader(
	sheets: sheets_v4.Sheets,
	{ params, item }: { readonly params: HeaderParams; readonly item: Item },
	members: ReadonlyArray<readonly NamedRow[]>,
): Promise<RowsByHeader> {
	const { target, header: read } = await tableOf(sheets, params, item, readHeaderRow);
	const { header: found, names: extra } = columnsFor(read, params.extraColumns, members.flat());
	const headed = { spreadsheetId: params.spreadsheetId, target, headerRow: params.headerRow };
	const header = await addHeaders(sheets, headed, found, extra);
	const strict = params.extraColumns === 'error';
	const rows = members.map((given) => {
		const misfit = given
			.map(({ cells }) => misfitOf(cells, header, strict))
			.find((failure) => failure !== undefined);
		return misfit ?? given.map(({ cells }) => rowOf(cells, header));
	});
	return { target, header, rows };
}

/** The columns that rows name, and the names that are to be added to the header row. */
export function columnsFor<H extends HeaderRow>(
	read: H,
	extraColumns: HeaderParams['extraColumns'],
	rows: readonly NamedRow[],
): { readonly header: H; readonly names: readonly string[] } {
	const names = namesIn(rows);
	const header = withLetters(read, new Set(names));
	const { columns } = header;
	const mayAdd = extraColumns === 'add' || columns.size === 0;
	return { header, names: mayAdd ? names.filter((name) => !columns.has(name)) : [] };
}

/** Why cells cannot go into a table. */
export function misfitOf(
	cells: NamedCells,
	{ columns, names }: HeaderRow,
	strict: boolean,
): NodeError | undefined {
	const unknown = [...cells.keys()].filter((name) => !columns.has(name));
	if (unknown.length === 0) return undefined;
	const known = list(names);
	if (strict) {
		return refusal(
			`The table has no column ${list(unknown)}`,
			`Its columns are ${known}. Set ${named('extraColumns')} to add or ignore, or remove the fields from the item.`,
		);
	}
	if (unknown.length < cells.size) return undefined;
	return refusal('None of the fields of the item is a column of the table', `Its columns are ${known}.`);
}

/** A cell for every column of the table; null where there is no such field. */
function rowOf(cells: NamedCells, { columns, left, right }: HeaderRow): Cell[] {
	const row: Cell[] = Array.from({ length: right - left + 1 }, () => null);
	for (const [name, cell] of cells) {
		const column = columns.get(name);
		if (column !== undefined) row[column - left] = cell;
	}
	return row;
}
