import type { Cell } from './cells';

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
