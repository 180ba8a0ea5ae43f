import { countFitting, countRoom, type ModelAnswer } from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { OutputItem } from '../../operation';
import { parseBounds, parseRange } from './range';

/** What was read of a table: the items of a workflow, and how many rows there are besides. */
export interface ReadRows {
	readonly items: OutputItem[];
	/** Names of the columns, in the order of the sheet. */
	readonly columns: readonly string[];
	/** How many rows match the filters. */
	readonly total: number;
	/** How many of them are above the first item. */
	readonly before: number;
}

/** Shortens the result to the rows that have room, and names each column once. */
export function toRowsAnswer({ items, columns, total, before }: ReadRows, characters: number): ModelAnswer {
	const about = { columns: ['rowNumber', ...columns], total };
	const all = items.map(({ json }) => about.columns.map((name) => json[name]));
	const count = countFitting(all, countRoom(characters, about));
	const last = Number(items.at(-1)?.json['rowNumber'] ?? 0);
	const next = Number(items[count]?.json['rowNumber'] ?? last + 1);
	const note = describeRows(before, count, total, before + count < total ? next : undefined);
	return { items: [{ ...about, rows: all.slice(0, count) }], note };
}

/** @param next the number of the row that follows; undefined if there is none */
function describeRows(before: number, count: number, total: number, next: number | undefined): string {
	const shown = `Rows ${count === 0 ? 0 : before + 1} to ${before + count} of ${total} are shown.`;
	if (next === undefined) return shown;
	const tooLong = `Row ${next} alone is too long to be shown: read fewer columns with ${quoteField('range')}, or leave the row out: ${quoteField('startRow')} ${next + 1}.`;
	return `${shown} ${count === 0 ? tooLong : `To get the next ones, call again with ${quoteField('startRow')}: ${next}`}`;
}

/** Shortens the result to the rows that have room, as arrays of cells. */
export function toValuesAnswer({ items: [item], before }: ReadRows, characters: number): ModelAnswer {
	const { values, range, majorDimension } = item?.json ?? {};
	const about = { range, majorDimension };
	const all = Array.isArray(values) ? (values as unknown[]) : [];
	const count = countFitting(all, countRoom(characters, about));
	const isByRow = majorDimension === 'ROWS';
	const next = parseBounds(parseRange(typeof range === 'string' ? range : 'A1')).row + 1 + before + count;
	const note = isByRow
		? describeRows(before, count, before + all.length, count < all.length ? next : undefined)
		: `Columns shown: ${count} of ${all.length}. ${count < all.length ? `Read the others with ${quoteField('range')}.` : ''}`;
	return { items: [{ ...about, values: all.slice(0, count) }], note };
}
