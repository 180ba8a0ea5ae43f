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
	readonly skippedCount: number;
}

/** Shortens the result to the rows that have room, and names each column once. */
export function toRowsAnswer(
	{ items, columns, total, skippedCount }: ReadRows,
	maxCharacters: number,
): ModelAnswer {
	const tableInfo = { columns: ['rowNumber', ...columns], total };
	const rows = items.map(({ json }) => tableInfo.columns.map((name) => json[name]));
	const shownCount = countFitting(rows, countRoom(maxCharacters, tableInfo));
	const lastRowNumber = Number(items.at(-1)?.json['rowNumber'] ?? 0);
	const nextRowNumber = Number(items[shownCount]?.json['rowNumber'] ?? lastRowNumber + 1);
	const note = describeRows(
		skippedCount,
		shownCount,
		total,
		skippedCount + shownCount < total ? nextRowNumber : undefined,
	);
	return { items: [{ ...tableInfo, rows: rows.slice(0, shownCount) }], note };
}

/** @param nextRowNumber the number of the row that follows; undefined if there is none */
function describeRows(
	skippedCount: number,
	shownCount: number,
	total: number,
	nextRowNumber: number | undefined,
): string {
	const summary = `Rows ${shownCount === 0 ? 0 : skippedCount + 1} to ${skippedCount + shownCount} of ${total} are shown.`;
	if (nextRowNumber === undefined) return summary;
	const tooLongAdvice = `Row ${nextRowNumber} alone is too long to be shown: read fewer columns with ${quoteField('range')}, or leave the row out: ${quoteField('startRow')} ${nextRowNumber + 1}.`;
	return `${summary} ${shownCount === 0 ? tooLongAdvice : `To get the next ones, call again with ${quoteField('startRow')}: ${nextRowNumber}`}`;
}

/** Shortens the result to the rows that have room, as arrays of cells. */
export function toValuesAnswer(
	{ items: [item], skippedCount }: ReadRows,
	maxCharacters: number,
): ModelAnswer {
	const { values, range, majorDimension } = item?.json ?? {};
	const rangeInfo = { range, majorDimension };
	const lines = Array.isArray(values) ? (values as unknown[]) : [];
	const shownCount = countFitting(lines, countRoom(maxCharacters, rangeInfo));
	const isByRow = majorDimension === 'ROWS';
	const nextRowNumber =
		parseBounds(parseRange(typeof range === 'string' ? range : 'A1')).row + 1 + skippedCount + shownCount;
	const note = isByRow
		? describeRows(
				skippedCount,
				shownCount,
				skippedCount + lines.length,
				shownCount < lines.length ? nextRowNumber : undefined,
			)
		: `Columns shown: ${shownCount} of ${lines.length}. ${shownCount < lines.length ? `Read the others with ${quoteField('range')}.` : ''}`;
	return { items: [{ ...rangeInfo, values: lines.slice(0, shownCount) }], note };
}
