import { getOrAdd } from '../../../../core/boundedMap';
import { createRefusal, isNodeError, type NodeError } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import type { Cell } from '../cells';
import { DateCell, isSameTime, roundToMillisecond } from '../dates/dates';
import { rowNumberKey, rowNumberKeys, type WriteParams } from '../fields';
import { createColumnError, listNames } from '../names';
import type { CellsByColumn, RowChange, RowStep } from '../requests';
import type { FittedRow } from '../rows';
import type { Spreadsheet } from '../spreadsheet';
import { fetchBody, type FittedTable, type TableBody } from '../table';

/** The cells of a row in the match columns, in their order; '' for a cell that has no value. */
type Key = readonly Cell[];

interface MatchInput {
	readonly params: WriteParams;
	readonly table: FittedTable;
	readonly body: TableBody;
	/** The texts that the sheet shows for the same cells. */
	readonly shown?: TableBody;
}

type RowsByItem = ReadonlyArray<readonly FittedRow[] | NodeError>;

/** Fetches what stands in a table, and plans the steps of each item. A refusal takes the place of an item's steps. */
export async function planMatches(
	spreadsheet: Spreadsheet,
	table: FittedTable,
	params: WriteParams,
	rowsByItem: RowsByItem,
) {
	checkMatchColumns(params, table);
	const body = await fetchBody(spreadsheet, table);
	let plan = new MatchPlan({ params, table, body });
	let stepsByItem = plan.planItems(rowsByItem);
	if (plan.needsShownTexts) {
		const shown = await fetchBody(spreadsheet, table, 'FORMATTED_VALUE');
		plan = new MatchPlan({ params, table, body, shown });
		stepsByItem = plan.planItems(rowsByItem);
	}
	return { stepsByItem, endRow: body.lastRow + 1 };
}

const isByRowNumber = ({ matchColumns }: WriteParams) =>
	matchColumns.length === 1 && rowNumberKeys.includes(matchColumns[0] ?? '');

/** @throws NodeError 400 if the table does not have all match columns. Row Number can only be the only one */
function checkMatchColumns(params: WriteParams, table: FittedTable): void {
	const { columnsByName, names, newNames } = table;
	const unknownNames = params.matchColumns.filter((name) => !columnsByName.has(name));
	if (unknownNames.length === 0 || isByRowNumber(params)) return;
	const message = `The table has no column ${listNames(unknownNames)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	throw createColumnError(message, [...names, ...newNames], advice);
}

/** Plans the steps of items. An item's key is its values in the match columns. Earlier items count as if they were already written. */
class MatchPlan {
	/** Whether a text may equal a number, a date or a boolean of the table. Only the text that the sheet shows can answer this. */
	needsShownTexts = false;
	readonly #input: MatchInput;
	#endRow: number;
	readonly #keyColumns: readonly number[];
	/** The rows by the position of a match column and a text of their cell in it. */
	readonly #rowsByText = new Map<string, number[]>();
	/** Whether a key of the table has a number or a boolean, of which the sheet may show another text. */
	#hasValues = false;
	/** Cells that earlier items change, by row and column. */
	readonly #pendingCells = new Map<string, Cell>();

	constructor(input: MatchInput) {
		this.#input = input;
		const { params, table, body } = input;
		this.#endRow = body.lastRow + 1;
		this.#keyColumns = params.matchColumns.map((name) => table.columnsByName.get(name) ?? -1);
		if (isByRowNumber(params)) return;
		for (let row = table.row + 1; row <= body.lastRow; row++) this.#indexRow(row);
	}

	planItems(rowsByItem: RowsByItem): Array<readonly RowStep[] | NodeError> {
		return rowsByItem.map((rows) => {
			if (isNodeError(rows)) return rows;
			// Nothing of an item is planned if one of its rows is refused.
			const refusal = rows.map((row) => this.#findRows(row)).find(isNodeError);
			return refusal ?? rows.map((row) => this.#planRow(row));
		});
	}

	#planRow(row: FittedRow): RowStep {
		const found = this.#findRows(row);
		const rows = isNodeError(found) ? [] : found;
		const step = rows.length > 0 ? this.#planUpdate(rows, row) : this.#planMissing(row);
		for (const change of step.changes)
			for (const [column, cell] of change.cellsByColumn)
				this.#pendingCells.set(`${change.row} ${column}`, cell);
		if (step.action === 'appended') this.#indexRow(this.#endRow++);
		return step;
	}

	#planUpdate(rows: readonly number[], { cellsByColumn }: FittedRow): RowStep {
		const changes: RowChange[] = [];
		for (const row of rows) {
			const changedCells = [...cellsByColumn].filter(
				([column, cell]) => !this.#isUnchanged(row, column, cell),
			);
			if (changedCells.length > 0)
				changes.push({ row, cellsByColumn: new Map(changedCells) });
		}
		const action = changes.length > 0 ? 'updated' : 'unchanged';
		if (rows.length === 1) return { action, rows, changes };
		const key = listNames(this.#readKey(cellsByColumn).map(String));
		const numbers = rows.slice(0, 20).map((row) => row + 1);
		const hint = `${rows.length} rows have the key ${key}, and all of them were written: ${numbers.join(', ')}${rows.length > numbers.length ? ' …' : ''}.`;
		return { action, rows, changes, hint };
	}

	#planMissing({ cellsByColumn }: FittedRow): RowStep {
		if (this.#input.params.writeMode === 'update')
			return { action: 'skipped', rows: [], changes: [] };
		const row = this.#endRow;
		return { action: 'appended', rows: [row], changes: [{ row, cellsByColumn }] };
	}

	/** Finds the rows of the table that a row of an item updates. Refuses one without a key, or one that may not be added. */
	#findRows({ cellsByColumn, rowNumber }: FittedRow): readonly number[] | NodeError {
		const { params } = this.#input;
		if (isByRowNumber(params)) return this.#findByNumber(rowNumber);
		const key = this.#readKey(cellsByColumn);
		if (key.every((cell) => cell === '')) return createNoKeyError(params.matchColumns);
		const rows = this.#findByKey(key);
		if (rows.length > 0 || params.writeMode !== 'update' || params.unmatched === 'skip')
			return rows;
		return createRefusal(
			`No row has ${listNames(key.map(String))} in ${listNames(params.matchColumns)}`,
			`Nothing was written for the item. Correct the key, set ${quoteField('unmatched')} to ${mentionChoice('unmatched', 'skip')}, or set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'updateOrAdd')}.`,
		);
	}

	#findByNumber(rowNumber: unknown): readonly number[] | NodeError {
		const { table, body } = this.#input;
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return createNoKeyError([mentionChoice('matchColumns', rowNumberKey)]);
		const row = typeof rowNumber === 'object' ? NaN : Number(rowNumber) - 1;
		if (Number.isInteger(row) && row > table.row && row <= body.lastRow) return [row];
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${table.row + 2} to ${body.lastRow + 1}. Read the rows again, or match them by a column.`,
		);
	}

	#readKey(cellsByColumn: CellsByColumn): Key {
		return this.#keyColumns.map((column) => cellsByColumn.get(column) ?? '');
	}

	/** An exact match wins, then the same text or value, as for "001234" and 1234, then what the sheet shows. */
	#findByKey(key: Key): readonly number[] {
		const rows = this.#findCandidates(key);
		for (const isEqual of [isSameCell, isSameText, isSameValue]) {
			const matches = rows.filter((row) =>
				key.every((cell, at) => isEqual(this.#getKeyCell(row, at), cell)),
			);
			if (matches.length > 0) return matches;
		}
		if (this.#hasValues && key.some(isText)) this.needsShownTexts = true;
		return rows.filter((row) => key.every((cell, at) => this.#isShownAs(row, at, cell)));
	}

	/** Returns the rows that may have a key: those of the match column that leaves the fewest. */
	#findCandidates(key: Key): readonly number[] {
		let fewestRows: ReadonlyArray<readonly number[]> = [];
		let fewestCount = Infinity;
		for (const [at, cell] of key.entries()) {
			const texts = [...new Set([toValueText(cell), String(cell).trim()])];
			const rowLists = texts.map((text) => this.#rowsByText.get(`${at} ${text}`) ?? []);
			const count = rowLists.reduce((sum, { length }) => sum + length, 0);
			if (count < fewestCount) [fewestCount, fewestRows] = [count, rowLists];
		}
		return [...new Set(fewestRows.flat())].sort((a, b) => a - b);
	}

	#isShownAs(row: number, position: number, cell: Cell): boolean {
		if (!isText(cell)) return isSameValue(this.#getKeyCell(row, position), cell);
		const column = this.#keyColumns[position] ?? -1;
		return this.#input.shown?.getCell(row, column) === String(cell).trim();
	}

	#getKeyCell(row: number, position: number): Cell {
		return this.#getCell(row, this.#keyColumns[position] ?? -1);
	}

	#getCell(row: number, column: number): Cell {
		return this.#pendingCells.get(`${row} ${column}`) ?? this.#input.body.getCell(row, column);
	}

	#indexRow(row: number): void {
		for (const [at, column] of this.#keyColumns.entries()) {
			const cell = this.#getKeyCell(row, at);
			const shownText = this.#input.shown?.getCell(row, column) ?? cell;
			this.#hasValues ||= !isText(cell);
			for (const text of new Set([toValueText(cell), toValueText(shownText)]))
				getOrAdd(this.#rowsByText, `${at} ${text}`, () => []).push(row);
		}
	}

	/** Returns whether the cell already has this value. It is then not written, so that its formula or format stays. */
	#isUnchanged(row: number, column: number, cell: Cell): boolean {
		// The key in the table is never written, because it equals the item's key, although its type may differ.
		if (this.#keyColumns.includes(column)) return true;
		const { params, shown } = this.#input;
		const stored = this.#getCell(row, column);
		if (isSameCell(stored, cell)) return true;
		const isPending = this.#pendingCells.has(`${row} ${column}`);
		if (isPending || !isText(cell) || typeof stored === 'string') return false;
		const text = String(cell);
		if (params.valueInputOption === 'USER_ENTERED' && isSameValue(stored, text)) return true;
		this.needsShownTexts = true;
		return shown?.getCell(row, column) === text;
	}
}

function createNoKeyError(columns: readonly string[]): NodeError {
	const advice = `The node finds the row by ${quoteField('matchColumns')}. ${missingDataAdvice}`;
	return createRefusal(`The item has no value for ${listNames(columns)}`, advice);
}

const isDateCell = (cell: Cell) => cell instanceof DateCell;
const isText = (cell: Cell) => typeof cell === 'string' || isDateCell(cell);

/** @param stored a cell of the table, in which a date is a number, or a cell that an earlier item changes */
function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!isDateCell(cell)) return stored === cell;
	const serial = isDateCell(stored) ? stored.serial : stored;
	return typeof serial === 'number' ? isSameTime(serial, cell.serial) : stored === cell.text;
}

const isSameText = (stored: Cell, cell: Cell) => String(stored).trim() === String(cell).trim();

/** Whether texts are equal, or a text and a value of another type. Two texts such as "7" and "007" are not. */
function isSameValue(stored: Cell, cell: Cell): boolean {
	if (isSameText(stored, cell)) return true;
	const areTexts = typeof stored === 'string' && typeof cell === 'string';
	return !areTexts && toValueText(stored) === toValueText(cell);
}

/** Returns the same text for all cells that may be equal, such as 1234 and " 001234". */
function toValueText(cell: Cell): string {
	if (isDateCell(cell)) return String(roundToMillisecond(cell.serial));
	if (typeof cell === 'number') return String(roundToMillisecond(cell));
	const text = String(cell).trim();
	if (isPlainNumber(text)) return String(Number(text));
	return /^(true|false)$/i.test(text) ? text.toLowerCase() : text;
}

/** At most 15 digits, because a number keeps no more. */
const isPlainNumber = (text: string) =>
	/^[+-]?(?=(?:\D*\d){1,15}(?!\d))(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
