import { type NodeError, isNodeError, createRefusal } from '../../../../core/errors';
import { foldText } from '../../../../core/text';
import { printChoice, quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import { type Cell, type NamedRow, collectNames } from '../cells';
import { DateCell, dropTimeNoise, isSameTime } from '../dates/dates';
import { rowNumberKey, type WriteMember, type WriteParams } from '../fields';
import type { resolveColumns } from '../headerRow';
import { spreadRefusals } from '../sendRows';
import { listNames } from '../names';
import type { Spreadsheet } from '../spreadsheet';
import { fetchTableBody, fetchValuesAndTexts, type TableBody } from './tableBody';

/** What an item does to the table. */
export interface MatchStep {
	readonly action: 'updated' | 'appended' | 'unchanged' | 'skipped';
	/** The rows of the table that the item matches or adds; several rows may have its key. */
	readonly rows: readonly number[];
	/** Those of the rows that change, with their new cells by column, in order. Rows and columns count from 0. */
	readonly changes: ReadonlyArray<{ readonly row: number; readonly cells: ReadonlyMap<number, Cell> }>;
	/** If the row is added: a key of the table that differs from the row's key only by case or spaces. */
	readonly nearKey?: string;
}

type MatchParams = Pick<WriteParams, 'matchColumns' | 'valueInputOption' | 'headerRow' | 'unmatched'>;

export interface MatchPlanInput extends MatchParams {
	/** The indexes of all columns by name, from 0. */
	readonly columns: ReadonlyMap<string, number>;
	/** The values of the table's cells. */
	readonly body: TableBody;
	/** The texts that the sheet shows for the same cells, if a comparison needs them. */
	readonly shownTexts?: TableBody;
}

/** Finds the row of each item and the cells to change. If one item adds a row, a later item with the same key updates it. */
export class MatchPlan {
	/** Whether a text was compared with a number or a boolean. Only the text that the sheet shows can then tell if they are equal. */
	needsShownTexts = false;
	readonly #matching: MatchPlanInput;
	readonly #isUserEntered: boolean;
	/** The match columns, from 0. Empty if rows are tableRows by their numbers. */
	readonly #keyColumns: readonly number[];
	/** Rows of the table by key. There is one index for each choice of the columns that are compared only by value. */
	readonly #indexes = new Map<string, Map<string, number[]>>();
	/** Rows that earlier items add, by key. */
	readonly #appendedRows = new Map<string, readonly number[]>();
	#foldedKeys: Map<string, string> | undefined;
	#hasNonTextKeys = false;
	/** Cells that earlier items change. */
	readonly #pendingCells = new Map<string, Cell>();
	#nextRow: number;

	constructor(input: MatchPlanInput) {
		this.#matching = input;
		const { matchColumns, columns, body } = input;
		this.#isUserEntered = input.valueInputOption === 'USER_ENTERED';
		const keyNames = isByRowNumber(matchColumns) ? [] : matchColumns;
		this.#keyColumns = keyNames.flatMap((name) => columns.get(name) ?? []);
		this.#nextRow = body.lastRow + 1;
	}

	/** Returns an error if one of an item's rows has no key, or may not be added. */
	findRefusal(rows: readonly NamedRow[]): NodeError | undefined {
		const findRowsOrError = (row: NamedRow) => {
			const tableRows = this.#findRows(row);
			const isUnmatched = !isNodeError(tableRows) && tableRows.length === 0;
			return isUnmatched && this.#matching.unmatched === 'error'
				? this.#createUnmatchedError(row)
				: tableRows;
		};
		return rows.map(findRowsOrError).find(isNodeError);
	}

	/** Plans the steps for an item without a refusal. */
	planRows(rows: readonly NamedRow[]): MatchStep[] {
		return rows.map((row) => this.#planRow(row));
	}

	#createUnmatchedError(row: NamedRow): NodeError {
		const nearKey = this.#findNearKey(row);
		return createRefusal(
			`No row has ${listNames(this.#getKeyCells(row).map(String))} in ${listNames(this.#matching.matchColumns)}`,
			`Nothing was written for the item. ${nearKey === undefined ? '' : `A row has ${listNames([nearKey])}, which differs only by case or spaces. `}Set ${quoteField('unmatched')} to ${printChoice('unmatched', 'append')} or ${printChoice('unmatched', 'skip')}, or correct the key.`,
		);
	}

	#findNearKey(row: NamedRow): string | undefined {
		const fold = (texts: readonly string[]) => JSON.stringify(texts.map(foldText));
		const { body, headerRow } = this.#matching;
		this.#foldedKeys ??= new Map(
			Array.from({ length: body.lastRow + 1 - headerRow }, (_, index) => {
				const key = this.#keyColumns.map((column) => String(body.getCell(headerRow + index, column)));
				return [fold(key), key.join(', ')];
			}),
		);
		return this.#foldedKeys.get(fold(this.#getKeyCells(row).map(String)));
	}

	#planRow(row: NamedRow): MatchStep {
		const cells = this.#toCellsByColumn(row);
		const foundRows = this.#findRows(row);
		const isNew = isNodeError(foundRows) || foundRows.length === 0;
		if (isNew && this.#matching.unmatched === 'skip') return { action: 'skipped', rows: [], changes: [] };
		const nearKey = isNew ? this.#findNearKey(row) : undefined;
		const rows = isNew ? [this.#nextRow++] : foundRows;
		if (isNew) this.#appendedRows.set(this.#buildKey(this.#getKeyCells(row)), rows);
		const findChangedCells = (index: number) =>
			new Map([...cells].filter(([column, cell]) => !this.#isUnchanged(index, column, cell)));
		const changes = rows
			.map((index) => ({ row: index, cells: isNew ? cells : findChangedCells(index) }))
			.filter((change) => isNew || change.cells.size > 0);
		for (const { row: changedRow, cells: changedCells } of changes) {
			for (const [column, cell] of changedCells) this.#pendingCells.set(`${changedRow} ${column}`, cell);
		}
		const action = isNew ? 'appended' : changes.length > 0 ? 'updated' : 'unchanged';
		return { action, rows, changes, nearKey };
	}

	#findRows(row: NamedRow): readonly number[] | NodeError {
		if (isByRowNumber(this.#matching.matchColumns)) return this.#findRowByNumber(row.rowNumber);
		return this.#findRowsByKey(row);
	}

	/** Maps keys to rows. @param isByValue for each key column: true if only values count, false if shown texts count, too */
	#indexRows(isByValue: readonly boolean[]): ReadonlyMap<string, number[]> {
		const { body, shownTexts, headerRow } = this.#matching;
		const indexKey = shownTexts ? String(isByValue) : '';
		const knownIndex = this.#indexes.get(indexKey);
		if (knownIndex) return knownIndex;
		const index = new Map<string, number[]>();
		for (let row = headerRow; row <= body.lastRow; row++) {
			for (const view of shownTexts ? [body, shownTexts] : [body]) {
				const cells = this.#keyColumns.map((column, key) =>
					(isByValue[key] ? body : view).getCell(row, column),
				);
				if (cells.every((cell) => cell === '')) continue;
				this.#hasNonTextKeys ||= cells.some((cell) => typeof cell !== 'string');
				const key = this.#buildKey(cells);
				const rowsWithKey = index.get(key) ?? [];
				// Value and shown text may give the same key. Rows are in their order, so only the last one can be this row.
				if (rowsWithKey.at(-1) !== row) rowsWithKey.push(row);
				index.set(key, rowsWithKey);
			}
		}
		this.#indexes.set(indexKey, index);
		return index;
	}

	#getKeyCells({ cells }: NamedRow): Cell[] {
		const { matchColumns, columns } = this.#matching;
		return matchColumns.map((name) => {
			const isSameColumn = (otherName: string) => columns.get(otherName) === columns.get(name);
			const nameInRow = cells.has(name) ? name : [...cells.keys()].find(isSameColumn);
			return (nameInRow === undefined ? null : cells.get(nameInRow)) ?? '';
		});
	}

	#findRowsByKey(row: NamedRow): readonly number[] | NodeError {
		const cells = this.#getKeyCells(row);
		if (cells.every((cell) => cell === '')) return createNoKeyError(listNames(this.#matching.matchColumns));
		const rows = this.#lookUpRows(cells);
		if (!rows && this.#hasNonTextKeys && !this.#isUserEntered)
			this.needsShownTexts ||= cells.some((cell) => typeof cell === 'string');
		return rows ?? [];
	}

	/** Finds rows by key. A date's text is tried after its number, because a column may hold texts that look like dates. */
	#lookUpRows(cells: readonly Cell[]): readonly number[] | undefined {
		const rows = this.#lookUpKey(cells);
		if (rows || !cells.some(isDate)) return rows;
		return this.#lookUpKey(cells.map((cell) => (isDate(cell) ? cell.text : cell)));
	}

	/** Compares numbers by value, because 5.3 may be shown as 5. For text that is a number, tries values first, then shown texts. */
	#lookUpKey(cells: readonly Cell[]): readonly number[] | undefined {
		const key = this.#buildKey(cells);
		const isValue = cells.map((cell) => typeof cell !== 'string');
		const isNumber = cells.map((cell, index) => isValue[index] || isPlainNumber(this.#toKeyText(cell)));
		const rows = this.#indexRows(isNumber).get(key) ?? this.#appendedRows.get(key);
		return rows ?? this.#indexRows(this.#isUserEntered ? isNumber : isValue).get(key);
	}

	#buildKey(cells: readonly Cell[]): string {
		return JSON.stringify(cells.map((cell) => this.#toKeyText(cell)));
	}

	#toKeyText(cell: Cell): string {
		const value = isDate(cell) ? cell.serial : cell;
		if (typeof value === 'number') return String(dropTimeNoise(value));
		return this.#isUserEntered ? toStoredText(String(cell)) : String(cell);
	}

	#findRowByNumber(rowNumber: unknown): readonly number[] | NodeError {
		const { headerRow, body } = this.#matching;
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return createNoKeyError(`'${printChoice('matchColumns', rowNumberKey)}'`);
		const number = typeof rowNumber === 'object' ? NaN : Number(rowNumber);
		if (Number.isInteger(number) && number > headerRow && number <= body.lastRow + 1) return [number - 1];
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${headerRow + 1} to ${body.lastRow + 1}. Read the rows again, or match them by a column.`,
		);
	}

	/** Returns the cells to write, by column and in order. Leaves out null, which leaves a cell unchanged. */
	#toCellsByColumn({ cells }: NamedRow): Map<number, Cell> {
		const cellsByColumn = new Map<number, Cell>();
		for (const [name, cell] of cells) {
			const column = this.#matching.columns.get(name);
			if (column !== undefined && cell !== null) cellsByColumn.set(column, cell);
		}
		return new Map([...cellsByColumn].sort(([a], [b]) => a - b));
	}

	/** Returns whether the cell already has this value. It is then not written, so that its formula or format stays. */
	#isUnchanged(row: number, column: number, cell: Cell): boolean {
		// A key is never written again: it equals the item's key, although its type may differ.
		if (this.#keyColumns.includes(column)) return true;
		const { body, shownTexts } = this.#matching;
		const pendingCell = this.#pendingCells.get(`${row} ${column}`);
		if (pendingCell !== undefined) return isSameCell(pendingCell, cell);
		const value = body.getCell(row, column);
		if (isSameCell(value, cell)) return true;
		const text = isDate(cell) ? cell.text : cell;
		if (typeof text !== 'string' || typeof value === 'string') return false;
		// No locale shows a date with a T, as ISO 8601 does.
		if (isDate(cell) && text.includes('T')) return false;
		if (this.#isUserEntered) {
			if (text.startsWith("'")) return false;
			if (toStoredText(text) === String(value)) return true;
			if (isPlainNumber(text)) return false;
		}
		this.needsShownTexts = true;
		return shownTexts?.getCell(row, column) === text;
	}
}

const isDate = (cell: Cell) => cell instanceof DateCell;

/** @param stored a cell of the table, in which a date is a number, or a new cell of an earlier item */
function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!isDate(cell)) return stored === cell;
	const serial = isDate(stored) ? stored.serial : stored;
	return typeof serial === 'number' ? isSameTime(serial, cell.serial) : stored === cell.text;
}

/**
 * Fetches a table and plans the steps. Fetches the texts that the sheet shows only if a text of an item may equal a number or a date.
 * @returns for each member its steps, or a NodeError if it has none, and the last row of the table, from 0
 */
export async function planSteps(
	book: Spreadsheet,
	params: WriteParams,
	{ currentHeader: header, header: { columns }, refusals }: ReturnType<typeof resolveColumns>,
	memberRows: ReadonlyArray<readonly NamedRow[]>,
	members: readonly WriteMember[],
) {
	const { matchColumns } = params;
	const names = [...new Set([...matchColumns, ...collectNames(memberRows.flat())])];
	const { left, right, freeColumn } = header;
	const namedColumns = names.flatMap((name) => columns.get(name) ?? []);
	const usedColumns = namedColumns.filter((column) => column < freeColumn);
	const allColumns = Array.from({ length: right - left + 1 }, (_, index) => left + index);
	const columnsToRead = isByRowNumber(matchColumns) ? allColumns : usedColumns;
	const planFor = (bodies: Pick<MatchPlanInput, 'body' | 'shownTexts'>) => {
		const plan = new MatchPlan({ ...params, columns, ...bodies });
		const refusalsByMember = memberRows.map((rows, index) => refusals[index] ?? plan.findRefusal(rows));
		// The rows of runs that are not sent must not change the plan of the other runs.
		const steps = spreadRefusals(refusalsByMember, members, 'written').map(
			(refusal, index) => refusal ?? plan.planRows(memberRows[index] ?? []),
		);
		return { isUnsure: plan.needsShownTexts, steps, lastRow: bodies.body.lastRow };
	};
	const isUserEntered = params.valueInputOption === 'USER_ENTERED';
	// Fetches shown texts at once if there are dates or values as typed, because most of these need a comparison with shown texts.
	const mayNeedTexts = isUserEntered || memberRows.flat().some((row) => [...row.cells.values()].some(isDate));
	if (mayNeedTexts && header.columns.size > 0 && header.rowCount * columnsToRead.length <= maxCellsTogether)
		return planFor(await fetchValuesAndTexts(book, header, columnsToRead));
	const body = await fetchTableBody(book, header, columnsToRead);
	const plan = planFor({ body });
	if (!plan.isUnsure) return plan;
	return planFor({ body, shownTexts: await fetchTableBody(book, header, columnsToRead, 'FORMATTED_VALUE') });
}

/** Limit for one request for values and texts, which takes up to 80 bytes for each cell. Two requests take about 50 bytes. */
const maxCellsTogether = 200_000;

export const isByRowNumber = (matchColumns: readonly string[]) =>
	matchColumns.length === 1 && matchColumns[0] === rowNumberKey;

function createNoKeyError(columns: string): NodeError {
	const advice = `The node finds the row by ${quoteField('matchColumns')}. ${missingDataAdvice}`;
	return createRefusal(`The item has no value for ${columns}`, advice);
}

/** Converts a typed text to the text of the stored value: "007" to 7, TRUE to true. An apostrophe in front only marks text. */
export function toStoredText(text: string): string {
	if (text.startsWith("'")) return text.slice(1);
	const trimmed = text.trim();
	if (isPlainNumber(trimmed)) return String(Number(trimmed));
	return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : text;
}

export const isPlainNumber = (text: string) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
