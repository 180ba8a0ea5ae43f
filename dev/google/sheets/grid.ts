import type { Rectangle } from './a1.ts';
import { isDateFormat, type Cell, type Format } from './cell.ts';

type Row = Array<Cell | undefined>;

export interface NativeTable {
	readonly tableId: string;
	readonly name: string;
	/** The table's cells, including the header row and a footer. */
	area: Rectangle;
	readonly hasFooter: boolean;
}

/** New values of a row, cell by cell. */
export type CellRow = ReadonlyArray<Cell | 'clear' | 'leave'>;

/** The cells of one tab. Rows and columns count from 0. Only rows with content use memory. */
export class Grid {
	rowCount: number;
	columnCount: number;
	/** Rows formatted like a header. */
	readonly boldRows = new Set<number>();
	readonly tables: NativeTable[] = [];
	private rows: Array<Row | undefined> = [];
	/** Number formats, which outlive the values of their cells. */
	private formats: Array<Array<Format | undefined> | undefined> = [];

	constructor(rowCount = 1000, columnCount = 26) {
		this.rowCount = rowCount;
		this.columnCount = columnCount;
	}

	get(row: number, column: number): Cell | undefined {
		const cell = this.rows[row]?.[column];
		const format = this.formatAt(row, column);
		return cell && format && typeof cell.value === 'number' ? { ...cell, format } : cell;
	}

	formatAt(row: number, column: number): Format | undefined {
		return this.formats[row]?.[column];
	}

	setFormat(row: number, column: number, format: Format | undefined): void {
		while (this.formats.length < row) this.formats.push(undefined);
		const stored = (this.formats[row] ??= []);
		while (stored.length < column) stored.push(undefined);
		stored[column] = format;
	}

	set(row: number, column: number, cell: Cell | undefined): void {
		if (cell === undefined) {
			const stored = this.rows[row];
			if (stored !== undefined && column < stored.length) stored[column] = undefined;
			return;
		}
		while (this.rows.length < row) this.rows.push(undefined);
		const stored = (this.rows[row] ??= []);
		while (stored.length < column) stored.push(undefined);
		const { format, ...own } = cell;
		stored[column] = own;
		// What is typed as a date keeps the date format that its cell has.
		const keepsOwn = isDateFormat(format) && isDateFormat(this.formatAt(row, column));
		if (format !== undefined && !keepsOwn) this.setFormat(row, column, format);
	}

	clear({ startRow, endRow, startColumn, endColumn }: Rectangle): void {
		for (let row = startRow; row < Math.min(endRow, this.rows.length); row++) {
			for (let column = startColumn; column < endColumn; column++)
				this.set(row, column, undefined);
		}
	}

	/** @returns indexes into `cells` of those that were written or cleared */
	write(row: number, column: number, cells: CellRow): number[] {
		const written: number[] = [];
		for (let index = 0; index < cells.length; index++) {
			const cell = cells[index];
			if (cell === 'leave') continue;
			this.set(row, column + index, cell === 'clear' ? undefined : cell);
			written.push(index);
		}
		return written;
	}

	/** The row after the last one with content. */
	get usedRows(): number {
		let end = this.rows.length;
		while (end > 0 && !this.isFilled(end - 1, 0, this.columnCount)) end--;
		this.rows.length = end;
		return end;
	}

	/** Whether any cell of the row from `startColumn` to before `endColumn` has content. */
	isFilled(row: number, startColumn: number, endColumn: number): boolean {
		const stored = this.rows[row];
		if (stored === undefined) return false;
		const end = Math.min(endColumn, stored.length);
		for (let column = Math.max(startColumn, 0); column < end; column++) {
			if (stored[column] !== undefined) return true;
		}
		return false;
	}

	/** Makes the grid at least as large as an area. */
	grow({ endRow, endColumn }: Pick<Rectangle, 'endRow' | 'endColumn'>): void {
		this.rowCount = Math.max(this.rowCount, endRow);
		this.columnCount = Math.max(this.columnCount, endColumn);
	}

	insertRows(index: number, count: number): void {
		this.rowCount += count;
		shift(this.boldRows, index, count);
		moveTables(this.tables, index, count, 'Row');
		if (index < this.formats.length)
			this.formats.splice(index, 0, ...Array.from({ length: count }, () => undefined));
		if (index >= this.rows.length) return;
		this.rows = [
			...this.rows.slice(0, index),
			...Array.from({ length: count }, () => undefined),
			...this.rows.slice(index),
		];
	}

	/** Inserted rows inherit the format of the row above, as reported in nithinmurali/pygsheets#285. */
	inheritLook(index: number, count: number): void {
		for (const [column, format] of (this.formats[index - 1] ?? []).entries()) {
			if (format)
				for (let row = index; row < index + count; row++)
					this.setFormat(row, column, format);
		}
		if (!this.boldRows.has(index - 1)) return;
		for (let row = index; row < index + count; row++) this.boldRows.add(row);
	}

	deleteRows(start: number, end: number): void {
		this.rowCount -= end - start;
		moveTables(this.tables, start, start - end, 'Row');
		this.rows.splice(start, end - start);
		this.formats.splice(start, end - start);
	}

	insertColumns(index: number, count: number): void {
		this.columnCount += count;
		moveTables(this.tables, index, count, 'Column');
		for (const row of [...this.rows, ...this.formats]) {
			if (row !== undefined && row.length > index) {
				row.splice(index, 0, ...Array.from({ length: count }, () => undefined));
			}
		}
	}

	/** An independent copy, used to restore rows if a request is refused halfway. */
	copy(): Grid {
		const copy = new Grid(this.rowCount, this.columnCount);
		copy.rows = this.rows.map((row) => row && [...row]);
		copy.formats = this.formats.map((row) => row && [...row]);
		for (const row of this.boldRows) copy.boldRows.add(row);
		copy.tables.push(...this.tables.map((table) => ({ ...table })));
		return copy;
	}
}

function shift(places: Set<number>, index: number, count: number): void {
	const indexes = [...places];
	places.clear();
	for (const place of indexes) places.add(place < index ? place : place + count);
}

/** Moves tables along with inserted rows or columns. A row inside a table joins it, one directly below it does not (not verified). */
function moveTables(
	tables: NativeTable[],
	index: number,
	count: number,
	axis: 'Row' | 'Column',
): void {
	for (const table of tables) {
		const [start, end] = [table.area[`start${axis}`], table.area[`end${axis}`]];
		if (index >= end) continue;
		table.area = {
			...table.area,
			[`end${axis}`]: end + count,
			...(index <= start && { [`start${axis}`]: start + count }),
		};
	}
}
