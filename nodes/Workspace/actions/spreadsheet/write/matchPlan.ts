import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, isNodeError, createRefusal } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import { type Cell, type NamedRow, collectNames, rowNumberKey } from '../cells';
import { DateCell, dropTimeNoise, isSameTime, mayBeDate } from '../dates';
import type { WriteParams } from '../fields';
import { type HeaderRow, findMisfit } from '../headerRow';
import { printTabCells, toColumnLetters } from '../range';
import { listNames, type Spreadsheet } from '../spreadsheet';

/** The changes for one item. */
export interface MatchStep {
	readonly action: 'updated' | 'appended' | 'unchanged';
	/** The item's rows; several if its key occurs several times. */
	readonly rows: readonly number[];
	/** The rows among these that change, with their new cells by column, in order. Rows and columns count from 0. */
	readonly changes: ReadonlyArray<{ readonly row: number; readonly cells: ReadonlyMap<number, Cell> }>;
}

export interface MatchPlanInput extends Pick<WriteParams, 'matchColumns' | 'valueInputOption' | 'headerRow'> {
	/** Positions of all columns by name. */
	readonly columns: ReadonlyMap<string, number>;
	/** What the table holds, as values. */
	readonly body: TableBody;
	/** The same as the sheet shows it, where that was needed. */
	readonly shown?: TableBody;
}

/** Finds the rows of items and what changes in them. A row that one item appends is updated by a later item with the same key. */
export class MatchPlan {
	/** Whether a text was compared with a number or a truth value: only what the sheet shows can tell if they are equal. */
	needsShownTexts = false;
	private readonly matching: MatchPlanInput;
	private readonly isTyped: boolean;
	/** Columns of the key; none if rows are found by their numbers. */
	private readonly keyColumns: readonly number[];
	/** Rows of the table by key, for each choice of columns that count by their values alone. */
	private readonly indexes = new Map<string, Map<string, number[]>>();
	/** Rows that earlier items append, by key. */
	private readonly appendedRows = new Map<string, readonly number[]>();
	private hasValues = false;
	/** Cells that earlier items change. */
	private readonly pendingCells = new Map<string, Cell>();
	private nextRow: number;

	constructor(matching: MatchPlanInput) {
		this.matching = matching;
		const { matchColumns, columns, body } = matching;
		this.isTyped = matching.valueInputOption === 'USER_ENTERED';
		this.keyColumns = isByRowNumber(matchColumns)
			? []
			: matchColumns.flatMap((name) => columns.get(name) ?? []);
		this.nextRow = body.last + 1;
	}

	/** The steps for an item; a NodeError if one of its rows cannot be looked for. */
	planRows(rows: readonly NamedRow[]): MatchStep[] | NodeError {
		const refused = rows.map((row) => this.findRows(row)).find(isNodeError);
		return refused ?? rows.map((row) => this.planRow(row));
	}

	private planRow(row: NamedRow): MatchStep {
		const cells = this.placeCells(row);
		const found = this.findRows(row);
		const isNew = isNodeError(found) || found.length === 0;
		const rows = isNew ? [this.nextRow++] : found;
		if (isNew) this.appendedRows.set(this.buildKey(this.getKeyCells(row)), rows);
		const changedIn = (at: number) =>
			[...cells].filter(([column, cell]) => !this.isUnchanged(at, column, cell));
		const changes = rows
			.map((at) => ({ row: at, cells: isNew ? cells : new Map(changedIn(at)) }))
			.filter((change) => isNew || change.cells.size > 0);
		for (const { row: at, cells: changed } of changes) {
			for (const [column, cell] of changed) this.pendingCells.set(`${at} ${column}`, cell);
		}
		const action = isNew ? 'appended' : changes.length > 0 ? 'updated' : 'unchanged';
		return { action, rows, changes };
	}

	private findRows(row: NamedRow): readonly number[] | NodeError {
		return isByRowNumber(this.matching.matchColumns)
			? this.findRowByNumber(row.rowNumber)
			: this.findRowsByKey(row);
	}

	/** @param isByValue for each key column, whether only its values count, and not what the sheet shows too */
	private indexRows(isByValue: readonly boolean[]): ReadonlyMap<string, number[]> {
		const { body, shown, headerRow } = this.matching;
		const choice = shown ? String(isByValue) : '';
		const known = this.indexes.get(choice);
		if (known) return known;
		const index = new Map<string, number[]>();
		for (let row = headerRow; row <= body.last; row++) {
			for (const one of [body, ...(shown ? [shown] : [])]) {
				const cells = this.keyColumns.map((column, at) => (isByValue[at] ? body : one).at(row, column));
				if (cells.every((cell) => cell === '')) continue;
				this.hasValues ||= cells.some((cell) => typeof cell !== 'string');
				const key = this.buildKey(cells);
				const same = index.get(key) ?? [];
				// Rows come in their order.
				if (same.at(-1) !== row) same.push(row);
				index.set(key, same);
			}
		}
		this.indexes.set(choice, index);
		return index;
	}

	private getKeyCells({ cells }: NamedRow): Cell[] {
		const { matchColumns, columns } = this.matching;
		return matchColumns.map((name) => {
			const given = cells.get(name);
			if (given !== undefined) return given ?? '';
			const sameColumn = [...cells].find(([other]) => columns.get(other) === columns.get(name));
			return sameColumn?.[1] ?? '';
		});
	}

	private findRowsByKey(row: NamedRow): readonly number[] | NodeError {
		const cells = this.getKeyCells(row);
		if (cells.every((cell) => cell === '')) return buildNoKeyError(this.matching.matchColumns);
		const found = this.lookUpRows(cells);
		if (!found && this.hasValues && !this.isTyped)
			this.needsShownTexts ||= cells.some((cell) => typeof cell === 'string');
		return found ?? [];
	}

	/** A number finds rows by value, because 5.3 may be shown as 5. Text that reads as a number finds what is shown only if no value equals it. */
	private lookUpRows(cells: readonly Cell[]): readonly number[] | undefined {
		const found = this.lookUpKey(cells);
		if (found || !cells.some(isDate)) return found;
		// The column may hold texts that read as dates.
		return this.lookUpKey(cells.map((cell) => (isDate(cell) ? cell.text : cell)));
	}

	private lookUpKey(cells: readonly Cell[]): readonly number[] | undefined {
		const key = this.buildKey(cells);
		const isValue = cells.map((cell) => typeof cell !== 'string');
		const isNumber = cells.map((cell, at) => isValue[at] || isPlainNumber(this.toKeyText(cell)));
		const found = this.indexRows(isNumber).get(key) ?? this.appendedRows.get(key);
		return found ?? this.indexRows(this.isTyped ? isNumber : isValue).get(key);
	}

	private buildKey(cells: readonly Cell[]): string {
		return JSON.stringify(cells.map((cell) => this.toKeyText(cell)));
	}

	private toKeyText(cell: Cell): string {
		if (isDate(cell) || typeof cell === 'number')
			return String(dropTimeNoise(isDate(cell) ? cell.serial : cell));
		return this.isTyped ? normalizeTyped(String(cell)) : String(cell);
	}

	private findRowByNumber(rowNumber: unknown): readonly number[] | NodeError {
		const { headerRow, body } = this.matching;
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return buildNoKeyError([rowNumberKey]);
		const number = typeof rowNumber === 'object' ? NaN : Number(rowNumber);
		if (Number.isInteger(number) && number > headerRow && number <= body.last + 1) return [number - 1];
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${headerRow + 1} to ${body.last + 1}. Read the rows again, or match them by a column.`,
		);
	}

	/** The cells by column, in order, without null, which leaves a cell unchanged. */
	private placeCells({ cells }: NamedRow): Map<number, Cell> {
		const found = new Map<number, Cell>();
		for (const [name, cell] of cells) {
			const column = this.matching.columns.get(name);
			if (column !== undefined && cell !== null) found.set(column, cell);
		}
		return new Map([...found].sort(([a], [b]) => a - b));
	}

	/** Whether the cell already has this value: then it is not written, and its formula or format stays. */
	private isUnchanged(row: number, column: number, cell: Cell): boolean {
		// A row keeps its key, which equals the item's, though perhaps in another type.
		if (this.keyColumns.includes(column)) return true;
		const { body, shown } = this.matching;
		const pending = this.pendingCells.get(`${row} ${column}`);
		if (pending !== undefined) return isSameCell(pending, cell);
		const value = body.at(row, column);
		if (isSameCell(value, cell)) return true;
		const text = isDate(cell) ? cell.text : cell;
		if (typeof text !== 'string' || typeof value === 'string') return false;
		// No sheet shows this.
		if (isDate(cell) && text.includes('T')) return false;
		if (this.isTyped) {
			if (text.startsWith("'")) return false;
			if (normalizeTyped(text) === String(value)) return true;
			if (isPlainNumber(text)) return false;
		}
		this.needsShownTexts = true;
		return shown?.at(row, column) === text;
	}
}

function isDate(cell: Cell): cell is DateCell {
	return cell instanceof DateCell;
}

/** @param stored a cell of the table, in which a date is a number, or a cell that an earlier item changes */
function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!isDate(cell)) return stored === cell;
	const serial = isDate(stored) ? stored.serial : stored;
	return typeof serial === 'number' ? isSameTime(serial, cell.serial) : stored === cell.text;
}

/**
 * Reads a table and plans the steps. What the sheet shows is read only if a text may be a number or a date.
 * @returns the steps of each member, or a NodeError that says why there are none, and the last row of the table
 */
export async function planSteps(
	book: Spreadsheet,
	params: WriteParams,
	{ found: sheet, header }: { readonly found: HeaderRow; readonly header: HeaderRow },
	given: ReadonlyArray<readonly NamedRow[]>,
) {
	const { matchColumns } = params;
	const { columns } = header;
	const names = [...new Set([...matchColumns, ...collectNames(given.flat())])];
	const used = names.flatMap((name) => columns.get(name) ?? []).filter((column) => column < sheet.free);
	const all = Array.from({ length: sheet.right - sheet.left + 1 }, (_, at) => sheet.left + at);
	const read = isByRowNumber(matchColumns) ? all : used;
	const planFor = (bodies: Pick<MatchPlanInput, 'body' | 'shown'>) => {
		const plan = new MatchPlan({ ...params, columns, ...bodies });
		const steps = given.map((rows) => findMisfit(rows, header, params) ?? plan.planRows(rows));
		return { isUnsure: plan.needsShownTexts, steps, last: bodies.body.last };
	};
	const isSmall = sheet.rowCount * read.length <= maxCellsTogether;
	const mayInsert = !isByRowNumber(matchColumns) || columns.size > sheet.columns.size;
	if (isSmall && mayInsert && sheet.columns.size > 0) {
		const cells = given.flat().map((row) => [...row.cells.values()]);
		if (mayNeedShownTexts(params, cells)) return planFor(await readValuesAndTexts(book, sheet, read));
	}
	const body = await readTableBody(book, sheet, read);
	const first = planFor({ body });
	if (!first.isUnsure) return first;
	return planFor({ body, shown: await readTableBody(book, sheet, read, 'FORMATTED_VALUE') });
}

/** Up to this many cells, values and texts are read in one request: it takes up to 80 bytes for each cell, two take about 50. */
const maxCellsTogether = 200_000;

/** Whether cells are entered as typed and texts look like numbers. Then one request reads all, which avoids a fifth if rows are inserted. */
function mayNeedShownTexts({ valueInputOption }: WriteParams, cells: readonly Cell[][]): boolean {
	const all = cells.flat();
	const isTyped = valueInputOption === 'USER_ENTERED';
	if (!isTyped && !all.some(isDate)) return false;
	const isKnown = (value: string) =>
		isTyped && (mayBeDate(value) || normalizeTyped(value) !== value || isPlainNumber(value));
	return all.some(
		(value) => typeof value === 'string' && /\d|^(true|false)$/i.test(value) && !isKnown(value),
	);
}

export function isByRowNumber(matchColumns: readonly string[]): boolean {
	return matchColumns.length === 1 && matchColumns[0] === rowNumberKey;
}

function buildNoKeyError(matchColumns: readonly string[]): NodeError {
	return createRefusal(
		`The item has no value for ${listNames(matchColumns)}`,
		`The node finds the row by ${quoteField('matchColumns')}. If the value comes from an expression, check that the item contains the data.`,
	);
}

/** The text of what the sheet stores for a typed text: "007" is 7, TRUE is a truth value, an apostrophe in front only marks text. */
export function normalizeTyped(text: string): string {
	if (text.startsWith("'")) return text.slice(1);
	const trimmed = text.trim();
	if (isPlainNumber(trimmed)) return String(Number(trimmed));
	return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : text;
}

export function isPlainNumber(text: string): boolean {
	return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
}

/** The rows below a header, in some columns. Rows and columns count from 0. */
interface TableBody {
	/** The last row that holds anything in these columns; the header's if none does. */
	readonly last: number;
	/** What reading gives for a cell; "" where it is empty. */
	at(row: number, column: number): Cell;
}

/** The ranges of some columns of a table, by their positions in the tab, and how Google's answer becomes a body. */
function planBodyRead({ title, native, row: first }: TablePosition, columns: readonly number[]) {
	const spans = groupColumns(columns);
	return {
		// The header is read too, because a range may not begin below the last row of the tab.
		ranges: spans.map(({ from, to }) =>
			printTabCells(
				title,
				`${toColumnLetters(from)}${first + 1}:${toColumnLetters(to)}${native?.bodyEnd ?? ''}`,
			),
		),
		/** @param grids the cells of each range */
		bodyOf: (grids: readonly Cell[][][]): TableBody => ({
			last: first + Math.max(0, ...grids.map((grid) => grid.length - 1)),
			at(row, column) {
				const span = spans.findIndex(({ from, to }) => column >= from && column <= to);
				return grids[span]?.[row - first]?.[column - (spans[span]?.from ?? 0)] ?? '';
			},
		}),
	};
}

type TablePosition = Pick<HeaderRow, 'title' | 'native' | 'row'>;

export async function readTableBody(
	book: Spreadsheet,
	table: TablePosition,
	columns: readonly number[],
	valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' = 'UNFORMATTED_VALUE',
): Promise<TableBody> {
	const { ranges, bodyOf } = planBodyRead(table, columns);
	if (ranges.length === 0) return bodyOf([]);
	const { data } = await book.values.batchGet({ spreadsheetId: book.id, ranges, valueRenderOption });
	return bodyOf((data.valueRanges ?? []).map(({ values }) => (values ?? []) as Cell[][]));
}

/** Reads values, with dates as numbers, and what the sheet shows: in one request instead of two, but with more bytes for each cell. */
export async function readValuesAndTexts(
	book: Spreadsheet,
	table: TablePosition,
	columns: readonly number[],
) {
	const { ranges, bodyOf } = planBodyRead(table, columns);
	const { sheets } = await book.get('sheets.data.rowData.values(effectiveValue,formattedValue)', ranges);
	const grids = (sheets?.[0]?.data ?? []).map(({ rowData = [] }) => {
		// Google also returns cells that only have a format.
		const isFilled = (cell: sheets_v4.Schema$CellData) => cell.effectiveValue ?? cell.formattedValue;
		const end = rowData.findLastIndex(({ values }) => values?.some(isFilled));
		return rowData.slice(0, end + 1).map(({ values }) => values ?? []);
	});
	const mapCells = (cellOf: (cell: sheets_v4.Schema$CellData) => Cell) =>
		bodyOf(grids.map((grid) => grid.map((line) => line.map(cellOf))));
	return {
		body: mapCells(({ effectiveValue: { numberValue, boolValue, stringValue } = {}, formattedValue }) => {
			return numberValue ?? boolValue ?? stringValue ?? formattedValue ?? '';
		}),
		shown: mapCells(({ formattedValue }) => formattedValue ?? ''),
	};
}

/** Groups columns that are beside one another, to read them as one range. */
function groupColumns(columns: readonly number[]) {
	const spans: Array<{ from: number; to: number }> = [];
	for (const column of [...new Set(columns)].sort((a, b) => a - b)) {
		const last = spans.at(-1);
		if (last?.to === column - 1) last.to = column;
		else spans.push({ from: column, to: column });
	}
	const [first, last] = [spans[0], spans.at(-1)];
	// The ranges are part of a URL, whose length is limited.
	return first && last && spans.length > 50 ? [{ from: first.from, to: last.to }] : spans;
}
