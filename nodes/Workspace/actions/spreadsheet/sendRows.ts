import { isNodeError, NodeError } from '../../../core/errors';
import type { Item } from '../../operation';
import type { Cell } from './cells';
import { printAreaLike, type Corner } from './range';

/** What was written for an item. */
export interface SheetWriteResult {
	readonly spreadsheetId: string;
	readonly updatedRange: string;
	readonly updatedRows: number;
	readonly updatedColumns: number;
	readonly updatedCells: number;
}

/**
 * What was written for each item, whose rows stand below those of the item before.
 * @param range any range in the same tab, as Google printed it
 * @param start first cell of the first item's rows
 */
export function buildWriteResults(
	spreadsheetId: string,
	range: string,
	{ row, column }: Corner,
	all: ReadonlyArray<readonly Cell[][]>,
): SheetWriteResult[] {
	let next = row;
	return all.map((rows) => {
		const written = rows.flatMap((cells) => cells.flatMap((cell, at) => (cell === null ? [] : [at])));
		const updatedRange = printAreaLike(range, { row: next, column }, rows.length, countColumns(rows));
		next += rows.length;
		const counts = { updatedColumns: new Set(written).size, updatedCells: written.length };
		return { spreadsheetId, updatedRange, updatedRows: rows.length, ...counts };
	});
}

/** Columns of the widest row, at least one. */
export function countColumns(rows: readonly Cell[][]): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}

/** The size of requests that Google recommends not to exceed, in bytes. */
export const maxRequestBytes = 2_000_000;

/** Splits parts into requests of the recommended size. A part is written as a whole or not at all, so a larger one is sent alone. */
export function splitIntoChunks<T extends { readonly rows: readonly Cell[][] }>(
	parts: readonly T[],
	largest = maxRequestBytes,
): T[][] {
	const chunks: T[][] = [];
	let room = 0;
	for (const part of parts) {
		const size = part.rows.reduce((sum, row) => sum + countRowBytes(row), 0);
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

/** Estimates the size as JSON. Escapes do not count: the limit is a recommendation, and not worth building the text twice. */
function countRowBytes(row: readonly Cell[]): number {
	let bytes = 3;
	for (const cell of row)
		bytes += typeof cell === 'string' ? Buffer.byteLength(cell) + 3 : String(cell).length + 1;
	return bytes;
}

interface SendSettings<E, R> {
	/** The word for messages, as in "Nothing was appended". */
	readonly done: 'appended' | 'written';
	/** How many bytes a request may have; what Google recommends if undefined. */
	readonly largest?: number;
	/** The rows whose size counts. */
	readonly rowsOf: (entry: E) => readonly Cell[][];
	/** Sends entries together; results in their order. */
	readonly send: (entries: E[]) => Promise<readonly R[]>;
}

/**
 * Sends the entries of all members in as few requests as Google recommends. A member whose entry is an error keeps it, and nothing is
 * sent at all if the node would stop because of it. After a failed request nothing more is sent, because it would break the order.
 */
export async function sendInChunks<E, R>(
	entries: ReadonlyArray<E | NodeError>,
	members: ReadonlyArray<{ readonly item: Item }>,
	{ done, largest, rowsOf, send }: SendSettings<E, R>,
): Promise<Array<R | NodeError>> {
	const refused = entries.findIndex(isNodeError);
	const cause = entries[refused];
	if (isNodeError(cause) && !members[0]?.item.continueOnFail) {
		const index = members[refused]?.item.index ?? refused;
		const message = `Nothing was ${done} because of item ${index}: ${cause.message}`;
		return entries.map((entry) =>
			isNodeError(entry) ? entry : buildNotSentError(cause, message, cause.description),
		);
	}
	const results: Array<R | NodeError | undefined> = entries.map((entry) =>
		isNodeError(entry) ? entry : undefined,
	);
	const parts = entries.flatMap((entry, position) =>
		isNodeError(entry) ? [] : [{ position, entry, rows: rowsOf(entry) }],
	);
	let stopped: NodeError | undefined;
	for (const chunk of splitIntoChunks(parts, largest)) {
		const sent = stopped
			? buildNotSentError(
					stopped,
					`Not sent, because the previous rows were not ${done}: ${stopped.message}`,
					'Nothing was written for this item.',
				)
			: await send(chunk.map(({ entry }) => entry)).catch((error: unknown) => {
					if (isNodeError(error)) return (stopped = error);
					throw error;
				});
		for (const [at, { position }] of chunk.entries()) results[position] = isNodeError(sent) ? sent : sent[at];
	}
	return results.filter((result) => result !== undefined);
}

function buildNotSentError(
	{ code, status }: NodeError,
	message: string,
	description: string | undefined,
): NodeError {
	return new NodeError({ code, status, message, description });
}

/** The result for a single member. @throws NodeError */
export function takeOnlyResult<R>([result]: ReadonlyArray<R | NodeError>): R {
	if (result === undefined) throw new Error('There is no result');
	if (isNodeError(result)) throw result;
	return result;
}
