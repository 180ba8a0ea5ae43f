import type { Cell } from './cells';

/** Google recommends no larger requests; in bytes. */
export const requestBytes = 2_000_000;

/** Rows of one item, which stay together. */
export interface Part {
	readonly rows: readonly Cell[][];
}

/** Cuts parts into requests that Google takes well. An item is written as a whole or not at all, so a larger one goes out alone. */
export function chunksOf<T extends Part>(parts: readonly T[], largest = requestBytes): T[][] {
	const chunks: T[][] = [];
	let room = 0;
	for (const part of parts) {
		const size = Buffer.byteLength(JSON.stringify(part.rows));
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
