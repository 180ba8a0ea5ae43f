import { isNodeError, NodeError } from '../../../core/errors';
import { createStoppedError } from '../../../http/retry';
import type { Item } from '../../operation';
import { type Cell, readRows, type RowsMember } from './cells';
import { printAreaLike, type CellPosition } from './range';

/**
 * What was written for each item. The rows of the first one begin at the corner, those of each other item below the item before.
 * @param range any range in the same tab, as Google printed it
 */
export function buildWriteResults(
	spreadsheetId: string,
	range: string,
	{ row, column }: CellPosition,
	rowsByItem: ReadonlyArray<readonly Cell[][]>,
) {
	let nextRow = row;
	return rowsByItem.map((rows) => {
		const writtenColumns = rows.flatMap((cells) =>
			cells.flatMap((cell, column) => (cell === null ? [] : [column])),
		);
		const updatedRange = printAreaLike(range, { row: nextRow, column }, rows.length, countColumns(rows));
		nextRow += rows.length;
		const counts = { updatedColumns: new Set(writtenColumns).size, updatedCells: writtenColumns.length };
		return { spreadsheetId, updatedRange, updatedRows: rows.length, ...counts };
	});
}

/** What was written for an item. */
export type SheetWriteResult = ReturnType<typeof buildWriteResults>[number];

/** Columns of the widest row, at least one. */
export function countColumns(rows: readonly Cell[][]): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}

/** The size of requests that Google recommends not to exceed, in bytes. */
export const maxRequestBytes = 2_000_000;

/** Splits parts into requests of the recommended size. A part is written as a whole or not at all, so a larger one is sent alone. */
export function splitIntoChunks<T extends { readonly rows: readonly Cell[][] }>(
	parts: readonly T[],
	maxBytes = maxRequestBytes,
): T[][] {
	const chunks: T[][] = [];
	let remainingBytes = 0;
	for (const part of parts) {
		const size = countBytes(part.rows);
		const chunk = chunks.at(-1);
		if (chunk && size <= remainingBytes) chunk.push(part);
		else {
			chunks.push([part]);
			remainingBytes = maxBytes;
		}
		remainingBytes -= size;
	}
	return chunks;
}

/** Estimates the size as JSON. Escapes do not count: the limit is a recommendation, and not worth building the text twice. */
function countBytes(rows: ReadonlyArray<readonly Cell[]>): number {
	const countCell = (cell: Cell) =>
		typeof cell === 'string' ? Buffer.byteLength(cell) + 3 : String(cell).length + 1;
	return rows.reduce((sum, row) => row.reduce<number>((bytes, cell) => bytes + countCell(cell), sum + 3), 0);
}

/** The share of a request that a member's rows take; 1 is all that it may hold. */
export const weighRows = (member: RowsMember, maxBytes = maxRequestBytes) =>
	countBytes(readRows(member)) / maxBytes;

interface SendSettings<E, R> {
	/** The word for messages, as in "Nothing was appended". */
	readonly verb: 'appended' | 'written';
	/** How many bytes a request may have; what Google recommends if undefined. */
	readonly maxBytes?: number;
	/** The rows whose size counts. */
	readonly getRows: (entry: E) => readonly Cell[][];
	/** Sends entries together; results in their order. */
	readonly send: (entries: E[], items: ReadonlyArray<Item | undefined>) => Promise<readonly R[]>;
}

type Members = ReadonlyArray<{ readonly item: Item }>;

/** The error for a member whose execution was stopped before anything was sent. */
export const findStopError = ({ item }: Members[number]) =>
	item.signal?.aborted ? createStoppedError('Nothing was changed.') : undefined;

/** Sends nothing of a run in which an error stops the node: turns the other entries of this run into errors, too. */
export function spreadRefusals<E>(
	entries: ReadonlyArray<E | NodeError>,
	members: Members,
	verb: SendSettings<E, unknown>['verb'],
): Array<E | NodeError> {
	const errorsByRun = new Map<unknown, NodeError>();
	for (const [index, entry] of entries.entries()) {
		const item = members[index]?.item;
		if (!isNodeError(entry) || item?.continueOnFail || errorsByRun.has(item?.run)) continue;
		const message = `Nothing was ${verb} because of item ${item?.index ?? index}: ${entry.message}`;
		const { code, status, description } = entry;
		errorsByRun.set(item?.run, new NodeError({ code, status, message, description }));
	}
	return entries.map((entry, index) =>
		isNodeError(entry) ? entry : (errorsByRun.get(members[index]?.item.run) ?? entry),
	);
}

/**
 * Sends the entries of all members in as few requests as Google recommends. A member whose entry is an error keeps it. After a failed
 * request nothing more is sent, because it would break the order.
 */
export async function sendInChunks<E, R>(
	preparedEntries: ReadonlyArray<E | NodeError>,
	members: Members,
	{ verb, maxBytes, getRows, send }: SendSettings<E, R>,
): Promise<Array<R | NodeError>> {
	const entries = spreadRefusals(preparedEntries, members, verb);
	const results: Array<R | NodeError | undefined> = entries.map((entry) =>
		isNodeError(entry) ? entry : undefined,
	);
	const parts = entries.flatMap((entry, memberIndex) =>
		isNodeError(entry) ? [] : [{ memberIndex, entry, rows: getRows(entry) }],
	);
	let followUpError: NodeError | undefined;
	for (const chunk of splitIntoChunks(parts, maxBytes)) {
		const items = chunk.map(({ memberIndex }) => members[memberIndex]?.item);
		const chunkEntries = chunk.map(({ entry }) => entry);
		const chunkResult: readonly R[] | NodeError =
			followUpError ??
			(await send(chunkEntries, items).catch((error: unknown) => {
				if (isNodeError(error)) return error;
				throw error;
			}));
		for (const [index, { memberIndex }] of chunk.entries())
			results[memberIndex] = isNodeError(chunkResult) ? chunkResult : chunkResult[index];
		if (!isNodeError(chunkResult) || followUpError) continue;
		const { code, status } = chunkResult;
		const message = `Not sent, because the previous rows were not ${verb}: ${chunkResult.message}`;
		followUpError = new NodeError({
			code,
			status,
			message,
			description: 'Nothing was written for this item.',
		});
	}
	return results.filter((result) => result !== undefined);
}

/** The result for a single member. @throws NodeError */
export function takeOnlyResult<R>([result]: ReadonlyArray<R | NodeError>): R {
	if (result === undefined) throw new Error('There is no result');
	if (isNodeError(result)) throw result;
	return result;
}
