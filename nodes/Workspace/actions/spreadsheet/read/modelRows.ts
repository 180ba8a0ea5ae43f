import { countFitting, countRoom, type ModelAnswer } from '../../../../core/modelAnswer';
import { quoteField } from '../../../../fields/field';
import type { OutputItem } from '../../../operation';
import { parseBounds, parseRange } from '../range';

/** The result of Read: the items, and the facts for a note that tells a model which rows its answer leaves out. */
export interface ReadRows {
	readonly items: OutputItem[];
	/** Names of the columns, in the order of the sheet. Empty if Output is Values. */
	readonly columnNames: readonly string[];
	/** How many rows match the filters. If Output is Values, how many rows or columns the range has. */
	readonly total: number;
	/** How many of these rows are above the option Start Row, so that they are left out. */
	readonly skippedCount: number;
}

/** Builds the answer for a model, if Output is Rows: the rows that fit, as arrays of cells, with the names of the columns once. */
export function toRowsAnswer(result: ReadRows): ModelAnswer {
	const { items, columnNames, total, skippedCount } = result;
	const tableInfo = { columns: ['rowNumber', ...columnNames], total };
	const rows = items.map(({ json }) => tableInfo.columns.map((name) => json[name]));
	const shownCount = countFitting(rows, countRoom(tableInfo));
	const lastRowNumber = Number(items.at(-1)?.json['rowNumber'] ?? 0);
	const nextRowNumber = Number(items[shownCount]?.json['rowNumber'] ?? lastRowNumber + 1);
	const note = describeRows(skippedCount, shownCount, total, nextRowNumber);
	return { items: [{ ...tableInfo, rows: rows.slice(0, shownCount) }], note };
}

/** @param nextRowNumber the number of the first row that is not shown, if there is one */
function describeRows(
	skippedCount: number,
	shownCount: number,
	total: number,
	nextRowNumber: number,
) {
	const summary = `Rows ${shownCount === 0 ? 0 : skippedCount + 1} to ${skippedCount + shownCount} of ${total} are shown.`;
	if (skippedCount + shownCount >= total) return summary;
	const tooLongAdvice = `Row ${nextRowNumber} alone is too long to be shown: read fewer columns with ${quoteField('range')}, or leave the row out: ${quoteField('startRow')} ${nextRowNumber + 1}.`;
	return `${summary} ${shownCount === 0 ? tooLongAdvice : `To get the next ones, call again with ${quoteField('startRow')}: ${nextRowNumber}`}`;
}

/** Builds the answer for a model, if Output is Values: the rows or columns that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { items, skippedCount } = result;
	const { values, range, majorDimension } = items[0]?.json ?? {};
	const rangeInfo = { range, majorDimension };
	const lines = Array.isArray(values) ? (values as unknown[]) : [];
	const shownCount = countFitting(lines, countRoom(rangeInfo));
	const isByRow = majorDimension === 'ROWS';
	const { row } = parseBounds(parseRange(typeof range === 'string' ? range : 'A1'));
	const note = isByRow
		? describeRows(
				skippedCount,
				shownCount,
				skippedCount + lines.length,
				row + 1 + skippedCount + shownCount,
			)
		: `Columns shown: ${shownCount} of ${lines.length}. ${shownCount < lines.length ? `Read the others with ${quoteField('range')}.` : ''}`;
	return { items: [{ ...rangeInfo, values: lines.slice(0, shownCount) }], note };
}
