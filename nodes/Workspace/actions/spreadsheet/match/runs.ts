import type { Cell } from '../cells';
import type { Step } from './matchPlan';

/** Cells beside and below one another. Rows and columns count from 0. */
export interface Run {
	readonly row: number;
	readonly column: number;
	readonly cells: Cell[][];
}

/** The cells of steps, in their order, as few rectangles. */
export function runsOf(steps: readonly Step[]): Run[] {
	const runs: Run[] = [];
	for (const { changes } of steps) {
		for (const { row, cells } of changes) {
			for (const { column, cells: line } of linesOf(cells)) {
				const last = runs.at(-1);
				const continues =
					last?.column === column &&
					last.cells[0]?.length === line.length &&
					last.row + last.cells.length === row;
				if (continues) last.cells.push(line);
				else runs.push({ row, column, cells: [line] });
			}
		}
	}
	return runs;
}

function linesOf(cells: ReadonlyMap<number, Cell>): Array<{ column: number; cells: Cell[] }> {
	const lines: Array<{ column: number; cells: Cell[] }> = [];
	for (const [column, cell] of cells) {
		const last = lines.at(-1);
		if (last && last.column + last.cells.length === column) last.cells.push(cell);
		else lines.push({ column, cells: [cell] });
	}
	return lines;
}
