import { isFailure, type Failure } from '../../../../core/errors';
import type { Cell } from '../cells';
import type { NamedCells } from '../namedRows';
import type { Keys } from './keys';

/** The changes for one item. Rows and columns count from 0. */
export interface Step {
	readonly action: 'updated' | 'appended' | 'unchanged';
	/** Rows that have the item's key; several if the key occurs several times. */
	readonly rows: readonly number[];
	/** The new values of each of them, by column; an existing row keeps its key unchanged. */
	readonly cells: ReadonlyMap<number, Cell>;
}

/** A row to write, and the key to look for. */
export interface Keyed {
	readonly key: string;
	readonly cells: NamedCells;
}

/** The changes for rows in their order: a row that one item appends is updated by a later item with the same key. */
export function planOf(
	given: ReadonlyArray<Keyed | Failure>,
	keys: Keys,
	columns: ReadonlyMap<string, number>,
	keyColumns: ReadonlySet<number>,
): Array<Step | Failure> {
	let next = keys.last + 1;
	return given.map((entry): Step | Failure => {
		if (isFailure(entry)) return entry;
		const cells = placed(entry.cells, columns);
		const found = keys.rows.get(entry.key);
		if (found === undefined) {
			const rows = [next++];
			keys.rows.set(entry.key, rows);
			return { action: 'appended', rows, cells };
		}
		const others = new Map([...cells].filter(([column]) => !keyColumns.has(column)));
		return { action: others.size > 0 ? 'updated' : 'unchanged', rows: found, cells: others };
	});
}

/** Null leaves a cell as it is. */
function placed(cells: NamedCells, columns: ReadonlyMap<string, number>): Map<number, Cell> {
	const found = new Map<number, Cell>();
	for (const [name, cell] of cells) {
		const column = columns.get(name);
		if (column !== undefined && cell !== null) found.set(column, cell);
	}
	return new Map([...found].sort(([a], [b]) => a - b));
}
