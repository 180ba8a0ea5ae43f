import { getOrAdd, maxKeyLength } from '../../../../core/maps';
import { createRefusal, isNodeError, type NodeError } from '../../../../core/errors';
import { listNames } from '../../../../core/text';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import { type Cell, isExactNumber } from '../cells';
import { createColumnError, findColumnsInAnyCase } from '../columnNames';
import { DateCell, type DateSettings, parseIso, toMilliseconds } from '../dates';
import { rowNumberKey, rowNumberKeys, type WriteParams } from '../fields';
import { type FittedItem, type FittedRow, refuseSecondHeader } from '../rows';
import type { Spreadsheet } from '../spreadsheet';
import { fetchBody, type FittedTable, getFirstRow, type TableBody } from '../table';
import type { PlannedWrite, RowChange, RowStep, TablePlan } from '../tablePlan';

/** The cells of a row in the match columns, in their order; '' for a cell that has no value. */
type Key = readonly Cell[];

/** Fetches what stands in a table, and plans the write of each item. A refusal takes its place. */
export async function planMatches(
	spreadsheet: Spreadsheet,
	table: FittedTable,
	params: WriteParams,
	fitted: ReadonlyArray<FittedItem | NodeError>,
): Promise<Array<PlannedWrite | NodeError>> {
	const keyColumns = findKeyColumns(params, table);
	const body = await fetchBody(spreadsheet, table);
	refuseSecondHeader(table, body.lastRow);
	// What is above the range is not in the table, nor are rows added there.
	const endRow = Math.max(body.lastRow + 1, getFirstRow(table));
	const plan = { spreadsheet, table, endRow, options: params, hasResultPerRow: true };
	const matcher = new RowMatcher(plan, body, keyColumns);
	const writes: Array<PlannedWrite | NodeError> = [];
	for (const given of fitted) {
		const planned = isNodeError(given) ? given : await matcher.planItem(given);
		const isFirst = given === fitted[0];
		writes.push(isNodeError(planned) ? planned : { plan, ...planned, isFirst });
	}
	return writes;
}

/**
 * Finds the match columns; none if rows are matched by their number, even if a column is called
 * that.
 * @throws NodeError 400 if the table does not have all of them. Row Number can only be the only one
 */
function findKeyColumns({ matchColumns }: WriteParams, table: FittedTable): number[] {
	const [name = '', ...otherNames] = matchColumns;
	if (otherNames.length === 0 && rowNumberKeys.includes(name)) return [];
	const columnsByName = findColumnsInAnyCase(
		table,
		matchColumns.map((column) => [column]),
	);
	const unknownNames = matchColumns.filter((column) => !columnsByName.has(column));
	if (unknownNames.length === 0)
		return matchColumns.flatMap((column) => columnsByName.get(column) ?? []);
	const message = `The table has no column ${listNames(unknownNames)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	throw createColumnError(message, [...table.names, ...table.newNames], advice);
}

interface MatchPlan extends TablePlan {
	readonly options: WriteParams;
}

/**
 * Finds the rows of items by their key, which is their values in the match columns, and plans what
 * changes. Earlier items count as if they were already written.
 */
class RowMatcher {
	readonly #plan: MatchPlan;
	readonly #body: TableBody;
	readonly #keyColumns: readonly number[];
	/**
	 * The rows by the text of their key, for each choice of key columns in which the text counts
	 * that the sheet shows.
	 */
	readonly #indexes = new Map<string, Map<string, number[]>>();
	/**
	 * Whether a key that was read has a number or a boolean, of which the sheet may show another
	 * text.
	 */
	#hasValues = false;
	/** The texts that the sheet shows, once they were needed. */
	#shown: TableBody | undefined;
	/** Cells that earlier items change, by row and column. */
	readonly #pendingCells = new Map<string, Cell>();
	#endRow: number;

	constructor(plan: MatchPlan, body: TableBody, keyColumns: readonly number[]) {
		this.#plan = plan;
		this.#body = body;
		this.#keyColumns = keyColumns;
		this.#endRow = plan.endRow;
	}

	/**
	 * Returns a refusal if one of the rows is refused. The items after it are then planned anew,
	 * without it.
	 */
	async planItem({ item, rows }: FittedItem) {
		const steps: RowStep[] = [];
		for (const row of rows) {
			const step = await this.#planRow(row);
			if (isNodeError(step)) return step;
			for (const change of step.changes)
				for (const [column, cell] of change.cellsByColumn)
					this.#pendingCells.set(`${change.row} ${column}`, cell);
			if (step.action === 'appended') this.#addToIndex(this.#getIndex(), this.#endRow++);
			steps.push(step);
		}
		return { item, steps };
	}

	async #planRow({ cellsByColumn, rowNumber }: FittedRow): Promise<RowStep | NodeError> {
		const { matchColumns, writeMode, unmatched } = this.#plan.options;
		if (this.#keyColumns.length === 0) {
			const row = this.#findByNumber(rowNumber);
			return isNodeError(row) ? row : await this.#planUpdate([row], cellsByColumn);
		}
		const key = this.#keyColumns.map((column) =>
			this.#toComparable(column, cellsByColumn.get(column) ?? ''),
		);
		if (key.every((cell) => String(cell).trim() === '')) return createNoKeyError(matchColumns);
		const rows = await this.#findByKey(key);
		if (rows.length > 0) {
			const step = await this.#planUpdate(rows, cellsByColumn);
			return { ...step, hint: describeRepeatedKey(key, rows) };
		}
		const row = this.#endRow;
		if (writeMode !== 'update')
			return { action: 'appended', row, changes: [{ row, cellsByColumn }] };
		if (unmatched === 'skip') return { action: 'skipped', row, changes: [] };
		return createRefusal(
			`No row has ${listNames(key.map(String))} in ${listNames(matchColumns)}`,
			`Nothing was written for the item. Correct the key, set ${quoteField('unmatched')} to ${mentionChoice('unmatched', 'skip')}, or set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'updateOrAdd')}.`,
		);
	}

	async #planUpdate(
		rows: readonly number[],
		cellsByColumn: FittedRow['cellsByColumn'],
	): Promise<RowStep> {
		const changes: RowChange[] = [];
		for (const row of rows) {
			const changedCells = new Map<number, Cell>();
			for (const [column, cell] of cellsByColumn)
				if (!(await this.#isUnchanged(row, column, cell))) changedCells.set(column, cell);
			if (changedCells.size > 0) changes.push({ row, cellsByColumn: changedCells });
		}
		const row = changes[0]?.row ?? rows[0] ?? 0;
		return { action: changes.length > 0 ? 'updated' : 'unchanged', row, changes };
	}

	#findByNumber(rowNumber: unknown): number | NodeError {
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return createNoKeyError([mentionChoice('matchColumns', rowNumberKey)]);
		const row = typeof rowNumber === 'object' ? NaN : Number(rowNumber) - 1;
		const { table, endRow } = this.#plan;
		const firstRow = getFirstRow(table);
		if (Number.isInteger(row) && row >= firstRow && row < endRow) return row;
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${firstRow + 1} to ${endRow}. Read the rows again, or match them by a column.`,
		);
	}

	/** Finds the rows that have a key or, if there are none, those for which the sheet shows it. */
	async #findByKey(key: Key): Promise<readonly number[]> {
		const rows = this.#findEqualRows(key);
		const isShown = key.map(hasText);
		if (rows.length > 0 || !this.#hasValues || !isShown.includes(true)) return rows;
		// The sheet may show 12% for 0.12. Read gives such texts for formatted cells.
		await this.#loadShown();
		const shownKey = key.map((cell) => (hasText(cell) ? String(cell) : cell));
		return this.#findEqualRows(shownKey, isShown);
	}

	/**
	 * An exact match wins, then the same text, then the same value, as for "001234" and 1234.
	 * @param isShown by key column: whether the text that the sheet shows counts
	 */
	#findEqualRows(key: Key, isShown?: readonly boolean[]): number[] {
		const candidates = this.#getIndex(isShown).get(this.#toIndexText(key)) ?? [];
		for (const isEqual of [isSameCell, isSameText, isSameValue]) {
			const rows = candidates.filter((row) =>
				this.#readKey(row, isShown).every((cell, at) => isEqual(cell, key[at] ?? '')),
			);
			if (rows.length > 0) return rows;
		}
		return [];
	}

	#getIndex(isShown?: readonly boolean[]): Map<string, number[]> {
		return getOrAdd(this.#indexes, String(isShown), () => {
			const index = new Map<string, number[]>();
			const { table, endRow } = this.#plan;
			for (let row = getFirstRow(table); row < endRow; row++)
				this.#addToIndex(index, row, isShown);
			return index;
		});
	}

	#addToIndex(index: Map<string, number[]>, row: number, isShown?: readonly boolean[]): void {
		const text = this.#toIndexText(this.#readKey(row, isShown));
		getOrAdd(index, text, () => []).push(row);
	}

	#readKey(row: number, isShown: readonly boolean[] = []): Key {
		return this.#keyColumns.map((column, at) => {
			if (isShown[at]) return this.#shown?.getCell(row, column) ?? '';
			const cell = this.#getCell(row, column);
			if (!hasText(cell)) this.#hasValues = true;
			return cell;
		});
	}

	/** Returns the same text for keys that may be equal, and for some others. */
	#toIndexText(key: Key): string {
		const texts = key.map((cell) => toIndexText(cell, this.#plan.table.settings));
		return texts.map((text) => text.slice(0, maxKeyLength / texts.length)).join('\n');
	}

	/** Fetches the texts that the sheet shows, which need a request of their own. */
	async #loadShown(): Promise<TableBody> {
		const { spreadsheet, table } = this.#plan;
		return (this.#shown ??= await fetchBody(spreadsheet, table, 'FORMATTED_VALUE'));
	}

	/** In a column of dates, a text that is written as such may still say the date of a cell. */
	#toComparable(column: number, cell: Cell): Cell {
		const { types, settings } = this.#plan.table;
		const mayBeDate = typeof cell === 'string' && types.get(column) === 'date';
		return (mayBeDate && parseIso(cell.trim(), settings)) || cell;
	}

	#getCell(row: number, column: number): Cell {
		return this.#pendingCells.get(`${row} ${column}`) ?? this.#body.getCell(row, column);
	}

	/**
	 * Returns whether the cell already has this value. It is then not written, so that its formula
	 * or format stays.
	 */
	async #isUnchanged(row: number, column: number, cell: Cell): Promise<boolean> {
		// The key in the table is never written, because it equals the item's key, although its
		// type may differ.
		if (this.#keyColumns.includes(column)) return true;
		const stored = this.#getCell(row, column);
		if (isSameCell(stored, this.#toComparable(column, cell))) return true;
		const isPending = this.#pendingCells.has(`${row} ${column}`);
		if (isPending || !hasText(cell) || typeof stored === 'string') return false;
		const shown = await this.#loadShown();
		return shown.getCell(row, column) === String(cell);
	}
}

function createNoKeyError(columns: readonly string[]): NodeError {
	const advice = `The node finds the row by ${quoteField('matchColumns')}. Enter a value for each of them in ${quoteField('columns')}, too. ${missingDataAdvice}`;
	return createRefusal(`The item has no value for ${listNames(columns)}`, advice);
}

function describeRepeatedKey(key: Key, rows: readonly number[]): string | undefined {
	if (rows.length === 1) return undefined;
	const numbers = rows.slice(0, 20).map((row) => row + 1);
	const end = rows.length > numbers.length ? ' …' : '';
	return `${rows.length} rows have the key ${listNames(key.map(String))}, and all of them were written: ${numbers.join(', ')}${end}.`;
}

const hasText = (cell: Cell) => typeof cell === 'string' || cell instanceof DateCell;

/**
 * @param stored a cell of the table, in which a date is a number, or a cell that an earlier item
 * changes
 */
function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!(cell instanceof DateCell)) return stored === cell;
	const serial = stored instanceof DateCell ? stored.serial : stored;
	if (typeof serial !== 'number') return stored === cell.text;
	return toMilliseconds(serial) === toMilliseconds(cell.serial);
}

const isSameText = (stored: Cell, cell: Cell) => String(stored).trim() === String(cell).trim();

/**
 * Whether texts are equal, or a text and a value of another type. Two texts such as "7" and "007"
 * are not.
 */
function isSameValue(stored: Cell, cell: Cell): boolean {
	if (isSameCell(stored, cell) || isSameText(stored, cell)) return true;
	if (typeof stored === 'string' && typeof cell === 'string') return false;
	const text = String(stored).trim().toLowerCase();
	const otherText = String(cell).trim().toLowerCase();
	const areNumbers = isExactNumber(text) && isExactNumber(otherText);
	return text === otherText || (areNumbers && Number(text) === Number(otherText));
}

/** @param settings of the spreadsheet, in which a date may also be a text in ISO 8601 */
function toIndexText(cell: Cell, settings: DateSettings): string {
	const text = String(cell).trim();
	const date = cell instanceof DateCell ? cell : parseIso(text, settings);
	// A number with more digits than V8 keeps is a text.
	const isNumber = isExactNumber(text) || String(Number(text)) === text;
	const number = date?.serial ?? (isNumber ? Number(text) : NaN);
	return Number.isNaN(number) ? text.toLowerCase() : String(toMilliseconds(number));
}
