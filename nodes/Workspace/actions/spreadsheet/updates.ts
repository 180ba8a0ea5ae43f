import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from './cells';
import { areaLike, type Corner } from './range';

/** The result of a write, for an item's own rows. */
export interface Written {
	readonly spreadsheetId: string;
	readonly updatedRange: string;
	readonly updatedRows: number;
	readonly updatedColumns: number;
	readonly updatedCells: number;
}

export function writtenOf(spreadsheetId: string, data: sheets_v4.Schema$UpdateValuesResponse): Written {
	return {
		spreadsheetId,
		updatedRange: data.updatedRange ?? '',
		updatedRows: data.updatedRows ?? 0,
		updatedColumns: data.updatedColumns ?? 0,
		updatedCells: data.updatedCells ?? 0,
	};
}

/**
 * The part of a larger block that one item wrote.
 * @param range any range in the same tab, as Google printed it
 * @param start of the item's first row
 */
export function partWritten(
	spreadsheetId: string,
	range: string,
	start: Corner,
	rows: readonly Cell[][],
): Written {
	const columns = new Set<number>();
	let updatedCells = 0;
	for (const row of rows) {
		for (const [at, cell] of row.entries()) {
			if (cell === null) continue;
			columns.add(at);
			updatedCells++;
		}
	}
	const updatedRange = areaLike(range, start, rows.length, widthOf(rows));
	return {
		spreadsheetId,
		updatedRange,
		updatedRows: rows.length,
		updatedColumns: columns.size,
		updatedCells,
	};
}

/** Columns of the widest row, at least one. */
export function widthOf(rows: readonly Cell[][]): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}
