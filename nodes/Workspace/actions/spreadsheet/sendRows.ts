import { isNodeError, type NodeError } from '../../../core/errors';
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

/** A plan for items that are sent together: an entry or a refusal for each item, and how entries are sent in one request. */
export interface SharedPlan<E, R> {
	readonly entries: ReadonlyArray<E | NodeError>;
	send(entries: readonly E[], items: readonly Item[]): Promise<readonly R[]>;
}

/** The entry of one item, with the plan that it is a part of. */
export interface PlannedWrite<E, R> extends Pick<SharedPlan<E, R>, 'send'> {
	readonly entry: E;
	readonly item: Item;
}

export function toPlannedWrites<E, R>(
	{ entries, send }: SharedPlan<E, R>,
	members: ReadonlyArray<{ readonly item: Item }>,
): Array<PlannedWrite<E, R> | NodeError> {
	const writes: Array<PlannedWrite<E, R> | NodeError> = [];
	for (const [index, { item }] of members.entries()) {
		const entry = entries[index];
		if (entry === undefined) throw new Error('The plan leaves out an item');
		writes.push(isNodeError(entry) ? entry : { entry, item, send });
	}
	return writes;
}

/** Sends writes of one plan in one request. */
export async function sendWrites<E, R>(
	writes: ReadonlyArray<PlannedWrite<E, R>>,
): Promise<readonly R[]> {
	const entries = writes.map(({ entry }) => entry);
	return (
		(await writes[0]?.send(
			entries,
			writes.map(({ item }) => item),
		)) ?? []
	);
}
