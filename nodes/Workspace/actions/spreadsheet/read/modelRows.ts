import { buildModelAnswer, type ModelAnswer } from '../../../../core/modelAnswer';
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
	const columns = ['rowNumber', ...columnNames];
	const entries = items.map(({ json }) => columns.map((name) => json[name]));
	return buildModelAnswer({ columns, total }, { name: 'rows', entries }, (shownCount) => {
		const lastRowNumber = Number(items.at(-1)?.json['rowNumber'] ?? 0);
		const nextRowNumber = Number(items[shownCount]?.json['rowNumber'] ?? lastRowNumber + 1);
		return describeRows(skippedCount, shownCount, total, nextRowNumber);
	});
}

/** @param nextRowNumber the number of the first row that is not shown, if there is one */
function describeRows(
	skippedCount: number,
	shownCount: number,
	total: number,
	nextRowNumber: number,
): string {
	const firstNumber = shownCount === 0 ? 0 : skippedCount + 1;
	const lastNumber = skippedCount + shownCount;
	const summary = `Rows ${firstNumber} to ${lastNumber} of ${total} are shown.`;
	return lastNumber >= total
		? summary
		: `${summary} To get the next ones, call again with ${quoteField('startRow')}: ${nextRowNumber}`;
}

/** Builds the answer for a model, if Output is Values: the rows or columns that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { items, skippedCount } = result;
	const { values, range, majorDimension } = items[0]?.json ?? {};
	const entries = Array.isArray(values) ? (values as unknown[]) : [];
	const part = { name: 'values', entries };
	return buildModelAnswer({ range, majorDimension }, part, (shownCount, isCut) => {
		if (majorDimension !== 'ROWS') {
			const summary = `Columns shown: ${shownCount} of ${entries.length}.`;
			return isCut ? `${summary} Read the others with ${quoteField('range')}.` : summary;
		}
		const { row } = parseBounds(parseRange(typeof range === 'string' ? range : 'A1'));
		const nextRowNumber = row + 1 + skippedCount + shownCount;
		return describeRows(skippedCount, shownCount, skippedCount + entries.length, nextRowNumber);
	});
}
