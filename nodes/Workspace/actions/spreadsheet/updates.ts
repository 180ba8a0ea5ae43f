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

/** Google recommends no larger requests; in bytes. */
export const requestBytes = 2_000_000;

/** Rows of one item, which stay together. */
export interface Part {
	readonly rows: readonly Cell[][];
}

/** Splits parts into requests of the recommended size. An item is written as a whole or not at all, so a larger one is sent alone. */
export function chunksOf<T extends Part>(parts: readonly T[], largest = requestBytes): T[][] {
	const chunks: T[][] = [];
	let room = 0;
	for (const part of parts) {
		const size = part.rows.reduce((sum, row) => sum + rowBytes(row), 0);
		const chunk = chunks.at(-1);
		if (chunk && size <= room) chunk.push(part);
		else {
			chunks.push([part]);
			room = largest;
		}
		room -= size;
	}
	return chunks;
}

/** The size as JSON, without escapes: the limit is a recommendation, and building the text twice would not be worth it. */
function rowBytes(row: readonly Cell[]): number {
	let bytes = 3;
	for (const cell of row)
		bytes += typeof cell === 'string' ? Buffer.byteLength(cell) + 3 : String(cell).length + 1;
	return bytes;
}

/** The body of a request that writes rows. Not a plain object, because the generated client would copy it cell by cell before sending. */
export class Rows implements sheets_v4.Schema$ValueRange {
	readonly values: Cell[][];

	constructor(values: Cell[][]) {
		this.values = values;
	}
}
