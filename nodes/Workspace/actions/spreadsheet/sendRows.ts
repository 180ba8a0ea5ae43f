import { isNodeError, NodeError } from '../../../core/errors';
import { createStoppedError } from '../../../http/attempt';
import type { Item } from '../../operation';
import { type Cell, readRows, type RowsMember } from './cells';
import { printAreaLike, type CellPosition } from './range';

/** Builds the result of each member. Their rows follow one another from a cell on. @param range any range in the same tab, as Google printed it */
export function buildWriteResults(
	spreadsheetId: string,
	range: string,
	{ row, column }: CellPosition,
	rowsByMember: ReadonlyArray<readonly Cell[][]>,
) {
	let nextRow = row;
	return rowsByMember.map((rows) => {
		const columnIndexes = rows.flatMap((line) =>
			line.flatMap((cell, index) => (cell === null ? [] : index)),
		);
		const updatedRange = printAreaLike(
			range,
			{ row: nextRow, column },
			rows.length,
			countColumns(rows),
		);
		nextRow += rows.length;
		const counts = {
			updatedColumns: new Set(columnIndexes).size,
			updatedCells: columnIndexes.length,
		};
		return { spreadsheetId, updatedRange, updatedRows: rows.length, ...counts };
	});
}

export type SheetWriteResult = ReturnType<typeof buildWriteResults>[number];

/** Returns the number of columns of the widest row, but at least 1. */
export function countColumns(rows: ReadonlyArray<readonly Cell[]>): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}

/** The size of requests that Google recommends in the docs of the Sheets API: at most 2 MB. */
export const maxRequestBytes = 2_000_000;

/** Splits parts into chunks, one for each request. A part that exceeds `maxBytes` is not split, but sent alone. */
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

/** Estimates the size of rows as JSON, without escapes. This is enough, because Google's limit is only a recommendation. */
function countBytes(rows: ReadonlyArray<readonly Cell[]>): number {
	const countCell = (cell: Cell) =>
		typeof cell === 'string' ? Buffer.byteLength(cell) + 3 : String(cell).length + 1;
	return rows.reduce(
		(sum, row) => row.reduce<number>((bytes, cell) => bytes + countCell(cell), sum + 3),
		0,
	);
}

/** Returns the share of a request that a member's rows take: 1 is a full request. */
export const weighRows = (member: RowsMember, maxBytes = maxRequestBytes) =>
	countBytes(readRows(member)) / maxBytes;

/** How to send entries of the type `E`, one for each member, which give results of the type `R`. */
interface SendSettings<E, R> {
	/** The verb for the work in messages, as in "Nothing was appended". */
	readonly doneVerb: 'appended' | 'written';
	/** The size of a full request, as `countBytes` estimates it; `maxRequestBytes` if undefined. */
	readonly maxBytes?: number;
	/** The rows that are sent for an entry, to estimate its size. */
	readonly getRows: (entry: E) => readonly Cell[][];
	/** Sends entries together. Returns their results in the same order. */
	readonly send: (entries: E[], items: ReadonlyArray<Item | undefined>) => Promise<readonly R[]>;
}

type Members = ReadonlyArray<{ readonly item: Item }>;

/** Returns an error if the member's run was stopped. Used only before anything is sent. */
export const findStopError = ({ item }: Members[number]) =>
	item.signal?.aborted ? createStoppedError('Nothing was changed.') : undefined;

/** Without Continue On Fail, an entry that is an error fails its whole run: the other entries become errors, so that none is sent. */
export function failRunsWithError<E>(
	entries: ReadonlyArray<E | NodeError>,
	members: Members,
	doneVerb: 'appended' | 'written',
) {
	const errorsByRun = new Map<unknown, NodeError>();
	for (const [index, entry] of entries.entries()) {
		const item = members[index]?.item;
		if (!isNodeError(entry) || item?.continueOnFail || errorsByRun.has(item?.run)) continue;
		const message = `Nothing was ${doneVerb} because of item ${item?.index ?? index}: ${entry.message}`;
		const { code, status, description } = entry;
		errorsByRun.set(item?.run, new NodeError({ code, status, message, description }));
	}
	return entries.map((entry, index) =>
		isNodeError(entry) ? entry : (errorsByRun.get(members[index]?.item.run) ?? entry),
	);
}

/** Sends an entry for each member in as few requests as the size allows. If an entry is an error, it is the member's result. */
export async function sendInChunks<E, R>(
	preparedEntries: ReadonlyArray<E | NodeError>,
	members: Members,
	{ doneVerb, maxBytes, getRows, send }: SendSettings<E, R>,
): Promise<Array<R | NodeError>> {
	const entries = failRunsWithError(preparedEntries, members, doneVerb);
	const results = entries.map((entry): R | NodeError | undefined =>
		isNodeError(entry) ? entry : undefined,
	);
	const parts = entries.flatMap((entry, memberIndex) =>
		isNodeError(entry) ? [] : [{ memberIndex, entry, rows: getRows(entry) }],
	);
	let followUpError: NodeError | undefined;
	for (const chunk of splitIntoChunks(parts, maxBytes)) {
		const items = chunk.map(({ memberIndex }) => members[memberIndex]?.item);
		const chunkEntries = chunk.map(({ entry }) => entry);
		const resultsOrError: readonly R[] | NodeError =
			followUpError ??
			(await send(chunkEntries, items).catch((error: unknown) => {
				if (isNodeError(error)) return error;
				throw error;
			}));
		for (const [index, { memberIndex }] of chunk.entries())
			results[memberIndex] = isNodeError(resultsOrError)
				? resultsOrError
				: resultsOrError[index];
		if (!isNodeError(resultsOrError) || followUpError) continue;
		// Nothing more is sent, because the rows would not be in their order.
		const { code, status } = resultsOrError;
		const message = `Not sent, because the previous rows were not ${doneVerb}: ${resultsOrError.message}`;
		const description = 'Nothing was written for this item.';
		followUpError = new NodeError({ code, status, message, description });
	}
	return results.filter((result) => result !== undefined);
}

/** Returns the result of a single member. @throws NodeError if the result is an error */
export function takeOnlyResult<R>([result]: ReadonlyArray<R | NodeError>): R {
	if (result === undefined) throw new Error('There is no result');
	if (isNodeError(result)) throw result;
	return result;
}
