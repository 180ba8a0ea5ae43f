import { type NodeError, isNodeError, createRefusal } from '../../../../core/errors';
import { foldText } from '../../../../core/text';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import { type Cell, type NamedRow, collectNames } from '../cells';
import { DateCell, roundToMillisecond, isSameTime } from '../dates/dates';
import { rowNumberKey, type WriteParams } from '../fields';
import { listColumns, type resolveColumns } from '../tableHeader';
import { listNames } from '../names';
import type { Spreadsheet } from '../spreadsheet';
import { fetchTableBody, fetchValuesAndTexts, type TableBody } from './tableBody';

/** What one row of an item does to the table. */
export interface MatchStep {
	readonly action: 'updated' | 'appended' | 'unchanged' | 'skipped';
	/** The rows of the table that have the key (maybe several), or the row that the step adds. From 0. */
	readonly rows: readonly number[];
	/** The rows that change, from 0, with their new cells in the order of the columns. */
	readonly changes: ReadonlyArray<
		Readonly<{ row: number; cellsByColumn: ReadonlyMap<number, Cell> }>
	>;
	/** For an added row: a key in the table that differs from the row's key only by case or spaces. */
	readonly nearKey?: string;
}

/** `headerRow`, the number of the header row from 1, is also the index of the first row below it. */
type MatchParams = Pick<
	WriteParams,
	'matchColumns' | 'valueInputOption' | 'headerRow' | 'unmatched'
>;

export interface MatchPlanInput extends MatchParams {
	/** The columns of the table by their names. Columns count from 0. */
	readonly columnsByName: ReadonlyMap<string, number>;
	readonly body: TableBody;
	/** The texts that the sheet shows for the same cells; undefined until `needsShownTexts` asks for them. */
	readonly shownTexts?: TableBody;
}

/** What a cell of an item's key is compared with: the value of a cell in the table, or also the text that the sheet shows for it. */
type Comparison = 'value' | 'valueOrShownText';

/** Plans steps. An item's key is its values in the match columns. A plan takes the changes of earlier items into account. */
export class MatchPlan {
	/** Whether a text may equal a number or a boolean of the table. Only the text that the sheet shows for the cell can answer this. */
	needsShownTexts = false;
	readonly #input: MatchPlanInput;
	readonly #isUserEntered: boolean;
	/** The match columns, from 0. Empty if rows are found by their numbers. */
	readonly #keyColumns: readonly number[];
	/** The results of `#indexRows`, by its parameter. */
	readonly #indexes = new Map<string, Map<string, number[]>>();
	/** Rows that earlier items add, by key. */
	readonly #addedRows = new Map<string, readonly number[]>();
	/** The keys of the table as messages show them, by the same keys without case and spaces. */
	#foldedKeys: Map<string, string> | undefined;
	/** Whether a key of the table has a number or a boolean. Known after the first call of `#indexRows`. */
	#hasNonTextKeys = false;
	/** Cells that earlier items change, by row and column. */
	readonly #pendingCells = new Map<string, Cell>();
	#nextRow: number;

	constructor(input: MatchPlanInput) {
		this.#input = input;
		this.#isUserEntered = input.valueInputOption === 'USER_ENTERED';
		const keyNames = isByRowNumber(input.matchColumns) ? [] : input.matchColumns;
		this.#keyColumns = keyNames.flatMap((name) => input.columnsByName.get(name) ?? []);
		this.#nextRow = input.body.lastRow + 1;
	}

	/** Returns the error of an item's first row that has no key or a wrong row number, or may not be added. */
	findRefusal(rows: readonly NamedRow[]): NodeError | undefined {
		return rows.map((row) => this.#findRows(row)).find(isNodeError);
	}

	/** Plans the steps of an item for which `findRefusal` found nothing. */
	planRows(rows: readonly NamedRow[]): MatchStep[] {
		return rows.map((row) => {
			const step = this.#planRow(row);
			for (const { row: changedRow, cellsByColumn } of step.changes)
				for (const [column, cell] of cellsByColumn)
					this.#pendingCells.set(`${changedRow} ${column}`, cell);
			return step;
		});
	}

	#createUnmatchedError(row: NamedRow): NodeError {
		const nearKey = this.#findNearKey(row);
		return createRefusal(
			`No row has ${listNames(this.#readKey(row).map(String))} in ${listNames(this.#input.matchColumns)}`,
			`Nothing was written for the item. ${nearKey === undefined ? '' : `A row has ${listNames([nearKey])}, which differs only by case or spaces. `}Set ${quoteField('unmatched')} to ${mentionChoice('unmatched', 'append')} or ${mentionChoice('unmatched', 'skip')}, or correct the key.`,
		);
	}

	#findNearKey(row: NamedRow): string | undefined {
		const fold = (texts: readonly string[]) => JSON.stringify(texts.map(foldText));
		const { body, headerRow: firstBodyRow } = this.#input;
		this.#foldedKeys ??= new Map(
			Array.from({ length: body.lastRow + 1 - firstBodyRow }, (_, index) => {
				const keyTexts = this.#keyColumns.map((column) =>
					String(body.getCell(firstBodyRow + index, column)),
				);
				return [fold(keyTexts), keyTexts.join(', ')];
			}),
		);
		return this.#foldedKeys.get(fold(this.#readKey(row).map(String)));
	}

	#planRow(row: NamedRow): MatchStep {
		const cells = this.#toCellsByColumn(row);
		const foundRows = this.#findRows(row);
		if (!isNodeError(foundRows) && foundRows.length > 0)
			return this.#planUpdate(foundRows, cells);
		if (this.#input.unmatched === 'skip') return { action: 'skipped', rows: [], changes: [] };
		const newRow = this.#nextRow++;
		this.#addedRows.set(this.#buildKey(this.#readKey(row)), [newRow]);
		const changes = [{ row: newRow, cellsByColumn: cells }];
		return { action: 'appended', rows: [newRow], changes, nearKey: this.#findNearKey(row) };
	}

	#planUpdate(rows: readonly number[], cells: ReadonlyMap<number, Cell>): MatchStep {
		const changes = rows.flatMap((row) => {
			const changedCells = [...cells].filter(
				([column, cell]) => !this.#isUnchanged(row, column, cell),
			);
			return changedCells.length > 0 ? { row, cellsByColumn: new Map(changedCells) } : [];
		});
		return { action: changes.length > 0 ? 'updated' : 'unchanged', rows, changes };
	}

	/** Finds the rows of the table that a row of an item updates. Returns an error if the row has no key, or may not be added. */
	#findRows(row: NamedRow): readonly number[] | NodeError {
		const { matchColumns, unmatched } = this.#input;
		const rows = isByRowNumber(matchColumns)
			? this.#findByNumber(row.rowNumber)
			: this.#findByKey(row);
		const isUnmatched = !isNodeError(rows) && rows.length === 0;
		return isUnmatched && unmatched === 'error' ? this.#createUnmatchedError(row) : rows;
	}

	#findByKey(row: NamedRow): readonly number[] | NodeError {
		const key = this.#readKey(row);
		if (key.every((cell) => cell === ''))
			return createNoKeyError(listNames(this.#input.matchColumns));
		let rows = this.#findEqualRows(key);
		// A column may hold texts that look like dates. So a date that no row has is compared as the text, too.
		if (!rows && key.some(isDateCell)) rows = this.#findEqualRows(key.map(restoreDateText));
		if (!rows && this.#hasNonTextKeys && !this.#isUserEntered)
			this.needsShownTexts ||= key.some((cell) => typeof cell === 'string');
		return rows ?? [];
	}

	/** Finds the rows that have a key, also those that earlier items add. */
	#findEqualRows(key: readonly Cell[]): readonly number[] | undefined {
		const keyText = this.#buildKey(key);
		// A number is compared only with values, because the sheet may show 5 for 5.3.
		const chooseComparison = (cell: Cell) =>
			typeof cell === 'string' ? 'valueOrShownText' : 'value';
		// A text such as "5" is compared with values first, and only then also with the texts that the sheet shows.
		const chooseFirstComparison = (cell: Cell) =>
			isPlainNumber(this.#toKeyText(cell)) ? 'value' : chooseComparison(cell);
		const rows =
			this.#indexRows(key.map(chooseFirstComparison)).get(keyText) ??
			this.#addedRows.get(keyText);
		// With USER_ENTERED, Google stores such a text as a number, so it equals no shown text.
		if (rows || this.#isUserEntered) return rows;
		return this.#indexRows(key.map(chooseComparison)).get(keyText);
	}

	/** Maps the keys of the table to their rows. @param comparisons one for each match column */
	#indexRows(comparisons: readonly Comparison[]): ReadonlyMap<string, readonly number[]> {
		const { body, shownTexts, headerRow: firstBodyRow } = this.#input;
		const indexName = shownTexts ? comparisons.join() : ''; // without shown texts, all indexes are equal
		const knownIndex = this.#indexes.get(indexName);
		if (knownIndex) return knownIndex;
		const rowsByKey = new Map<string, number[]>();
		for (let row = firstBodyRow; row <= body.lastRow; row++) {
			for (const source of shownTexts ? [body, shownTexts] : [body]) {
				const cells = this.#keyColumns.map((column, keyIndex) =>
					(comparisons[keyIndex] === 'value' ? body : source).getCell(row, column),
				);
				if (cells.every((cell) => cell === '')) continue;
				this.#hasNonTextKeys ||= cells.some((cell) => typeof cell !== 'string');
				const key = this.#buildKey(cells);
				const rowsWithKey = rowsByKey.get(key) ?? [];
				// Values and shown texts may give the same key. This row is then already the last one.
				if (rowsWithKey.at(-1) !== row) rowsWithKey.push(row);
				rowsByKey.set(key, rowsWithKey);
			}
		}
		this.#indexes.set(indexName, rowsByKey);
		return rowsByKey;
	}

	/** Returns the values of the match columns; '' if there is none. An item may name a column in another way than Match Columns. */
	#readKey({ cellsByName }: NamedRow): Cell[] {
		const { matchColumns, columnsByName } = this.#input;
		return matchColumns.map((name) => {
			const isSameColumn = (otherName: string) =>
				columnsByName.get(otherName) === columnsByName.get(name);
			const nameInRow = cellsByName.has(name)
				? name
				: [...cellsByName.keys()].find(isSameColumn);
			return (nameInRow === undefined ? null : cellsByName.get(nameInRow)) ?? '';
		});
	}

	#buildKey(cells: readonly Cell[]): string {
		return JSON.stringify(cells.map((cell) => this.#toKeyText(cell)));
	}

	#toKeyText(cell: Cell): string {
		const value = isDateCell(cell) ? cell.serial : cell;
		if (typeof value === 'number') return String(roundToMillisecond(value));
		return this.#isUserEntered ? toStoredText(String(cell)) : String(cell);
	}

	#findByNumber(rowNumber: unknown): readonly number[] | NodeError {
		const { headerRow, body } = this.#input;
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return createNoKeyError(`'${mentionChoice('matchColumns', rowNumberKey)}'`);
		const number = typeof rowNumber === 'object' ? NaN : Number(rowNumber);
		if (Number.isInteger(number) && number > headerRow && number <= body.lastRow + 1)
			return [number - 1];
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${headerRow + 1} to ${body.lastRow + 1}. Read the rows again, or match them by a column.`,
		);
	}

	/** Returns the cells to write, in the order of their columns. Leaves out null, which stands for a cell that does not change. */
	#toCellsByColumn({ cellsByName }: NamedRow): Map<number, Cell> {
		const cellsByColumn = new Map<number, Cell>();
		for (const [name, cell] of cellsByName) {
			const column = this.#input.columnsByName.get(name);
			if (column !== undefined && cell !== null) cellsByColumn.set(column, cell);
		}
		return new Map([...cellsByColumn].sort(([a], [b]) => a - b));
	}

	/** Returns whether the cell already has this value. It is then not written, so that its formula or format stays. */
	#isUnchanged(row: number, column: number, cell: Cell): boolean {
		// The key in the table is never written, because it equals the item's key, although its type may differ.
		if (this.#keyColumns.includes(column)) return true;
		const { body, shownTexts } = this.#input;
		const pendingCell = this.#pendingCells.get(`${row} ${column}`);
		if (pendingCell !== undefined) return isSameCell(pendingCell, cell);
		const value = body.getCell(row, column);
		if (isSameCell(value, cell)) return true;
		const text = restoreDateText(cell);
		if (typeof text !== 'string' || typeof value === 'string') return false;
		// No locale shows a date with a T, as ISO 8601 does.
		if (isDateCell(cell) && text.includes('T')) return false;
		if (this.#isUserEntered) {
			// The apostrophe asks for a text, and the cell does not hold a text.
			if (text.startsWith("'")) return false;
			if (toStoredText(text) === String(value)) return true;
			if (isPlainNumber(text)) return false;
		}
		this.needsShownTexts = true;
		return shownTexts?.getCell(row, column) === text;
	}
}

const isDateCell = (cell: Cell) => cell instanceof DateCell;

/** Turns a date back into the text from which it was parsed. Other cells stay as they are. */
const restoreDateText = (cell: Cell) => (isDateCell(cell) ? cell.text : cell);

/** @param stored a cell of the table, in which a date is a number, or a cell that an earlier item changes */
function isSameCell(stored: Cell, cell: Cell): boolean {
	if (!isDateCell(cell)) return stored === cell;
	const serial = isDateCell(stored) ? stored.serial : stored;
	return typeof serial === 'number' ? isSameTime(serial, cell.serial) : stored === cell.text;
}

/** Fetches a table and plans each member's steps. A member that is not sent gets a NodeError. `lastRow` is the table's last row, from 0. */
export async function planSteps(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	{
		namedRowsByMember,
		oldHeader,
		newHeader: { columnsByName },
		errors,
	}: ReturnType<typeof resolveColumns>,
) {
	const names = [...new Set([...params.matchColumns, ...collectNames(namedRowsByMember.flat())])];
	const namedColumns = names.flatMap((name) => columnsByName.get(name) ?? []);
	const usedColumns = namedColumns.filter((column) => column < oldHeader.firstNewColumn);
	// To check a row number, the last row of the whole table must be known. New columns are still empty.
	const columnsToRead = isByRowNumber(params.matchColumns) ? listColumns(oldHeader) : usedColumns;
	const planFor = (bodies: Pick<MatchPlanInput, 'body' | 'shownTexts'>) => {
		const plan = new MatchPlan({ ...params, columnsByName, ...bodies });
		const errorsByMember = namedRowsByMember.map(
			(rows, index) => errors[index] ?? plan.findRefusal(rows),
		);
		const stepsByMember = errorsByMember.map(
			(error, index) => error ?? plan.planRows(namedRowsByMember[index] ?? []),
		);
		return {
			needsShownTexts: plan.needsShownTexts,
			stepsByMember,
			lastRow: bodies.body.lastRow,
		};
	};
	const hasDates = namedRowsByMember
		.flat()
		.some((row) => [...row.cellsByName.values()].some(isDateCell));
	// Most dates and USER_ENTERED values must be compared with shown texts, so both are fetched together.
	const mayNeedTexts = hasDates || params.valueInputOption === 'USER_ENTERED';
	const fitsTogether = oldHeader.rowCount * columnsToRead.length <= maxCellsTogether;
	if (mayNeedTexts && oldHeader.columnsByName.size > 0 && fitsTogether)
		return planFor(await fetchValuesAndTexts(spreadsheet, oldHeader, columnsToRead));
	const body = await fetchTableBody(spreadsheet, oldHeader, columnsToRead);
	const firstResult = planFor({ body });
	if (!firstResult.needsShownTexts) return firstResult;
	const shownTexts = await fetchTableBody(
		spreadsheet,
		oldHeader,
		columnsToRead,
		'FORMATTED_VALUE',
	);
	return planFor({ body, shownTexts });
}

/** Limit for one request for values and texts, which takes up to 80 bytes for each cell. Two requests take about 50 bytes. */
const maxCellsTogether = 200_000;

export const isByRowNumber = (matchColumns: readonly string[]) =>
	matchColumns.length === 1 && matchColumns[0] === rowNumberKey;

function createNoKeyError(columns: string): NodeError {
	const advice = `The node finds the row by ${quoteField('matchColumns')}. ${missingDataAdvice}`;
	return createRefusal(`The item has no value for ${columns}`, advice);
}

/** Converts a USER_ENTERED text to the text of the value that Google stores: "007" to 7, TRUE to true, and 'a to a. */
export function toStoredText(text: string): string {
	if (text.startsWith("'")) return text.slice(1);
	const trimmed = text.trim();
	if (isPlainNumber(trimmed)) return String(Number(trimmed));
	return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : text;
}

export const isPlainNumber = (text: string) =>
	/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
