import { createRefusal, isNodeError, type NodeError } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import { type Cell, collectNames, type NamedRow } from '../cells';
import { rowNumberKey, type WriteParams } from '../fields';
import { createColumnError, headerRowAdvice, listNames } from '../names';
import { parseBounds } from '../range';
import type { RowStep } from '../requests';
import type { Spreadsheet } from '../spreadsheet';
import { findLastRow, type FittedTable, listColumns } from '../table';
import { isDateCell, isSameCell, isSameValue, KeyIndex, restoreDateText } from './keyIndex';
import { fetchTableBody, type TableBody } from './tableBody';

/** What becomes of a row of an item: its step, and hints for the user. */
interface PlannedStep extends RowStep {
	readonly hint?: string | undefined;
}

type UpdateParams = Pick<
	WriteParams,
	'matchColumns' | 'valueInputOption' | 'writeMode' | 'unmatched'
>;

/** What is known of the table. */
interface UpdateInput {
	readonly params: UpdateParams;
	readonly table: FittedTable;
	/** The last row of the table. */
	readonly lastRow: number;
	readonly body: TableBody;
	/** The texts that the sheet shows for the same cells; undefined until `needsShownTexts` asks for them. */
	readonly shownTexts?: TableBody | undefined;
}

/** Plans the steps of items. An item's key is its values in the match columns. Earlier items count as if they were already written. */
class UpdatePlan {
	/** Whether a text may equal a number, a date or a boolean of the table. Only the text that the sheet shows can answer this. */
	needsShownTexts = false;
	/** Whether the last row of the table must be known, also in columns that were not read. */
	needsLastRow = false;
	#endRow: number;
	readonly #input: UpdateInput;
	/** The match columns, from 0. Empty if rows are found by their numbers. */
	readonly #keyColumns: readonly number[] = [];
	/** The rows by their keys, and by what the sheet shows for those match columns whose numbers are in the name of the index. */
	readonly #indexes = new Map<string, KeyIndex>();
	/** Cells that earlier items change, by row and column. */
	readonly #pendingCells = new Map<string, Cell>();

	constructor(input: UpdateInput) {
		this.#input = input;
		const { params, table, lastRow } = input;
		this.#endRow = lastRow + 1;
		if (isByRowNumber(params.matchColumns)) return;
		const columns = params.matchColumns.flatMap((name) => table.columnsByName.get(name) ?? []);
		this.#keyColumns = columns;
	}

	get #keys(): KeyIndex {
		return this.#getIndex([]);
	}

	/** Indexes the rows by their values, and by what the sheet shows in some of the match columns. */
	#getIndex(shownPositions: readonly number[]): KeyIndex {
		const name = shownPositions.join();
		const known = this.#indexes.get(name);
		if (known) return known;
		const { table, lastRow, body, shownTexts = body } = this.#input;
		const index = new KeyIndex();
		for (let row = table.row + 1; row <= lastRow; row++) {
			const key = this.#keyColumns.map((column, position) =>
				(shownPositions.includes(position) ? shownTexts : body).getCell(row, column),
			);
			index.add(row, key);
		}
		this.#indexes.set(name, index);
		return index;
	}

	/** Plans all rows of an item. Returns the refusal of the first row that has no key or a wrong row number, or may not be added. */
	planRows(rows: readonly NamedRow[]): PlannedStep[] | NodeError {
		const foundRows = rows.map((row) => this.#findRows(row));
		const refusal = foundRows.find(isNodeError);
		return refusal ?? rows.map((row) => this.#planRow(row));
	}

	#planRow(row: NamedRow): PlannedStep {
		const rows = this.#findRows(row);
		const cells = this.#toCellsByColumn(row);
		const isFound = !isNodeError(rows) && rows.length > 0;
		const step = isFound ? this.#planUpdate(rows, row, cells) : this.#planMissing(row, cells);
		for (const change of step.changes)
			for (const [column, cell] of change.cellsByColumn)
				this.#pendingCells.set(`${change.row} ${column}`, cell);
		return step;
	}

	#planUpdate(rows: readonly number[], row: NamedRow, cells: ReadonlyMap<number, Cell>) {
		const changes: Array<RowStep['changes'][number]> = [];
		for (const rowIndex of rows) {
			const changedCells = [...cells].filter(
				([column, cell]) => !this.#isUnchanged(rowIndex, column, cell),
			);
			if (changedCells.length > 0)
				changes.push({ row: rowIndex, cellsByColumn: new Map(changedCells) });
		}
		const action = changes.length > 0 ? ('updated' as const) : ('unchanged' as const);
		return { action, rows, changes, hint: this.#describeRepeatedKey(rows, row) };
	}

	#describeRepeatedKey(rows: readonly number[], row: NamedRow): string | undefined {
		if (rows.length === 1) return undefined;
		const numbers = rows.slice(0, 20).map((rowIndex) => rowIndex + 1);
		return `${rows.length} rows have the key ${this.#printKey(row)}, and all of them were written: ${numbers.join(', ')}${rows.length > numbers.length ? ' …' : ''}.`;
	}

	#planMissing(row: NamedRow, cellsByColumn: ReadonlyMap<number, Cell>): PlannedStep {
		if (this.#input.params.writeMode === 'update')
			return { action: 'skipped', rows: [], changes: [] };
		this.needsLastRow = true;
		const newRow = this.#endRow++;
		const key = this.#readKey(row);
		const nearKey = this.#keys.findNearKey(key);
		this.#keys.add(newRow, key);
		const hint =
			nearKey === undefined
				? undefined
				: `A row was added for the key ${this.#printKey(row)}. The table has ${listNames([nearKey])}, which differs only by case or spaces.`;
		return {
			action: 'appended',
			rows: [newRow],
			changes: [{ row: newRow, cellsByColumn }],
			hint,
		};
	}

	/** Finds the rows of the table that a row of an item updates. */
	#findRows(row: NamedRow): readonly number[] | NodeError {
		const { matchColumns, writeMode, unmatched } = this.#input.params;
		if (isByRowNumber(matchColumns)) return this.#findByNumber(row.rowNumber);
		const key = this.#readKey(row);
		if (key.every((cell) => cell === '')) return createNoKeyError(listNames(matchColumns));
		let rows = this.#keys.find(key);
		const textPositions = [...key.keys()].filter((position) => isText(key[position] ?? ''));
		if (rows.length === 0 && this.#keys.hasValues && textPositions.length > 0) {
			this.needsShownTexts = true;
			rows = this.#getIndex(textPositions).find(key);
		}
		if (rows.length > 0 || writeMode !== 'update' || unmatched === 'skip') return rows;
		return this.#createUnmatchedError(row);
	}

	#createUnmatchedError(row: NamedRow): NodeError {
		const nearKey = this.#keys.findNearKey(this.#readKey(row));
		const nearText =
			nearKey === undefined
				? ''
				: `A row has ${listNames([nearKey])}, which differs only by case or spaces. `;
		return createRefusal(
			`No row has ${this.#printKey(row)} in ${listNames(this.#input.params.matchColumns)}`,
			`Nothing was written for the item. ${nearText}Correct the key, set ${quoteField('unmatched')} to ${mentionChoice('unmatched', 'skip')}, or set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'updateOrAdd')}.`,
		);
	}

	#printKey = (row: NamedRow) => listNames(this.#readKey(row).map(String));

	/** Returns the values of the match columns; '' if there is none. An item may name a column in another way than Match Columns. */
	#readKey({ cellsByName }: NamedRow): Cell[] {
		const { params, table } = this.#input;
		return params.matchColumns.map((name) => {
			const column = table.columnsByName.get(name);
			const names = [...cellsByName.keys()];
			const nameInRow = cellsByName.has(name)
				? name
				: names.find((otherName) => table.columnsByName.get(otherName) === column);
			return cellsByName.get(nameInRow ?? name) ?? '';
		});
	}

	#findByNumber(rowNumber: unknown): readonly number[] | NodeError {
		const { table, lastRow } = this.#input;
		if (rowNumber === undefined || rowNumber === null || rowNumber === '')
			return createNoKeyError(`'${mentionChoice('matchColumns', rowNumberKey)}'`);
		const row = typeof rowNumber === 'object' ? NaN : Number(rowNumber) - 1;
		if (Number.isInteger(row) && row > table.row && row <= lastRow) return [row];
		this.needsLastRow = true;
		return createRefusal(
			`The table has no row ${JSON.stringify(rowNumber)}`,
			`Its rows are ${table.row + 2} to ${lastRow + 1}. Read the rows again, or match them by a column.`,
		);
	}

	/** Returns the cells to write, in the order of their columns. Leaves out null, which stands for a cell that does not change. */
	#toCellsByColumn({ cellsByName }: NamedRow): ReadonlyMap<number, Cell> {
		return sortByColumn(cellsByName, this.#input.table.columnsByName);
	}

	/** Returns whether the cell already has this value. It is then not written, so that its formula or format stays. */
	#isUnchanged(row: number, column: number, cell: Cell): boolean {
		// The key in the table is never written, because it equals the item's key, although its type may differ.
		if (this.#keyColumns.includes(column)) return true;
		const { body, shownTexts, params } = this.#input;
		const pendingCell = this.#pendingCells.get(`${row} ${column}`);
		if (pendingCell !== undefined) return isSameCell(pendingCell, cell);
		const value = body.getCell(row, column);
		if (isSameCell(value, cell)) return true;
		const text = restoreDateText(cell);
		if (typeof text !== 'string' || typeof value === 'string') return false;
		// No locale shows a date with a T, as ISO 8601 does.
		if (isDateCell(cell) && text.includes('T')) return false;
		if (params.valueInputOption === 'USER_ENTERED' && isSameValue(value, text)) return true;
		this.needsShownTexts = true;
		return shownTexts?.getCell(row, column) === text;
	}
}

const isText = (cell: Cell) => typeof cell === 'string' || isDateCell(cell);

/** Sorts the cells of a row by their columns. Leaves out null, and cells whose names are no columns. */
export function sortByColumn(
	cellsByName: ReadonlyMap<string, Cell>,
	columnsByName: ReadonlyMap<string, number>,
): ReadonlyMap<number, Cell> {
	const cellsByColumn = new Map<number, Cell>();
	for (const [name, cell] of cellsByName) {
		const column = columnsByName.get(name);
		if (column !== undefined && cell !== null) cellsByColumn.set(column, cell);
	}
	return new Map([...cellsByColumn].sort(([a], [b]) => a - b));
}

/** Fetches what stands in a table, and plans the steps of each item. A refusal takes the place of an item's steps. */
export async function planUpdate(
	spreadsheet: Spreadsheet,
	table: FittedTable,
	params: UpdateParams,
	rowsByItem: ReadonlyArray<readonly NamedRow[] | NodeError>,
) {
	checkMatchColumns(params.matchColumns, table);
	const rows = rowsByItem.flatMap((itemRows) => (isNodeError(itemRows) ? [] : itemRows));
	const columns = findColumnsToRead(table, [...params.matchColumns, ...collectNames(rows)]);
	const body = await fetchTableBody(spreadsheet, table, columns);
	const input = { params, table, body, lastRow: body.lastRow };
	const plan = planItems(input, rowsByItem);
	const { needsShownTexts } = plan;
	const needsLastRow = plan.needsLastRow && !coversTable(columns, table);
	if (!needsShownTexts && !needsLastRow) return plan;
	const [shownTexts, lastRow = body.lastRow] = await Promise.all([
		needsShownTexts
			? fetchTableBody(spreadsheet, table, columns, 'FORMATTED_VALUE')
			: undefined,
		needsLastRow ? findLastRow(spreadsheet, table) : undefined,
	]);
	return planItems({ ...input, shownTexts, lastRow }, rowsByItem);
}

/** Whether these columns show which row is the last of a table. */
const coversTable = (columns: readonly number[], table: FittedTable) =>
	parseBounds(table.target).lastRow === undefined &&
	listColumns(table).every((column) => columns.includes(column));

function planItems(input: UpdateInput, rowsByItem: ReadonlyArray<readonly NamedRow[] | NodeError>) {
	refuseMissingHeader(input);
	const plan = new UpdatePlan(input);
	const stepsByItem = rowsByItem.map((rows) => (isNodeError(rows) ? rows : plan.planRows(rows)));
	const { needsShownTexts, needsLastRow } = plan;
	return { stepsByItem, needsShownTexts, needsLastRow, lastRow: input.lastRow };
}

/** New columns are still empty. */
function findColumnsToRead(table: FittedTable, names: readonly string[]): number[] {
	const endColumn = table.newNames.length > 0 ? table.firstNewColumn : Number.POSITIVE_INFINITY;
	const columns = names.flatMap((name) => table.columnsByName.get(name) ?? []);
	return columns.filter((column) => column < endColumn);
}

/** Row numbers of rows without a header come from another table, or from Read with Header Row 0. @throws NodeError 400 */
function refuseMissingHeader({ params, table, lastRow }: UpdateInput): void {
	const hasHeader = table.names.length > table.newNames.length;
	if (!isByRowNumber(params.matchColumns) || hasHeader || lastRow === table.row) return;
	throw createRefusal(`Row ${table.row + 1} has no column names`, headerRowAdvice);
}

const isByRowNumber = (matchColumns: readonly string[]) =>
	matchColumns.length === 1 && matchColumns[0] === rowNumberKey;

/** @throws NodeError 400 if the table does not have all match columns, or if Row Number is not the only one */
function checkMatchColumns(
	matchColumns: readonly string[],
	{ columnsByName, names }: FittedTable,
): void {
	if (isByRowNumber(matchColumns)) return;
	const mixMessage = `${quoteField('matchColumns')} cannot have '${mentionChoice('matchColumns', rowNumberKey)}' together with other columns`;
	if (matchColumns.includes(rowNumberKey))
		throw createRefusal(
			mixMessage,
			'The row number alone identifies a row. Remove it, or the others.',
		);
	const unknownNames = matchColumns.filter((name) => !columnsByName.has(name));
	const message = `The table has no column ${listNames(unknownNames)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	if (unknownNames.length > 0) throw createColumnError(message, names, advice);
}

function createNoKeyError(columns: string): NodeError {
	const advice = `The node finds the row by ${quoteField('matchColumns')}. ${missingDataAdvice}`;
	return createRefusal(`The item has no value for ${columns}`, advice);
}
