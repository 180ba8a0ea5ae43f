import { buildModelAnswer, type ModelAnswer } from '../../../../core/modelAnswer';
import { quoteField } from '../../../../fields/field';
import type { OutputItem } from '../../../operation';
import { parseBounds, parseRange } from '../range';

/** The result of Read: the items, and the facts that tell a model which rows its answer leaves out. */
export interface ReadRows {
	readonly items: OutputItem[];
	/** Names of the columns, in the order of the sheet. Empty if Output is Values. */
	readonly columnNames: readonly string[];
	/** How many rows match the filters. If Output is Values, how many rows the range has. */
	readonly total: number;
	/** How many of these rows are above Start Row, so that they are left out. */
	readonly skippedCount: number;
	/** The tab, and the titles of all tabs of the spreadsheet. Only for a model. */
	readonly tabs?: { readonly title: string; readonly all: readonly string[] };
}

/** Builds the answer for a model, if Output is Rows: the rows that fit, as arrays of cells, with the names of the columns once. */
export function toRowsAnswer(result: ReadRows): ModelAnswer {
	const { items, columnNames, total } = result;
	const columns = ['rowNumber', ...columnNames];
	const entries = items.map(({ json }) => columns.map((name) => json[name]));
	const facts = { ...describeTabs(result), columns, total };
	return buildModelAnswer(facts, { name: 'rows', entries }, (shownCount) => {
		const lastNumber = Number(items.at(-1)?.json['rowNumber'] ?? 0);
		const nextNumber = Number(items[shownCount]?.json['rowNumber'] ?? lastNumber + 1);
		return describeRows(result, shownCount, nextNumber);
	});
}

/** Builds the answer for a model, if Output is Values: the rows that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { range, majorDimension, values } = result.items[0]?.json ?? {};
	const facts = { ...describeTabs(result), range, majorDimension };
	const part = { name: 'values', entries: values as unknown[] };
	return buildModelAnswer(facts, part, (shownCount) => {
		const firstRow = parseBounds(parseRange(range as string)).row;
		const nextNumber = firstRow + 1 + result.skippedCount + shownCount;
		return describeRows(result, shownCount, nextNumber);
	});
}

function describeTabs({ tabs }: ReadRows) {
	if (!tabs) return {};
	return { tab: tabs.title, otherTabs: tabs.all.filter((title) => title !== tabs.title) };
}

/** @param nextNumber the number of the first row that is not shown, if there is one */
function describeRows(
	{ total, skippedCount }: ReadRows,
	shownCount: number,
	nextNumber: number,
): string {
	if (shownCount === 0) return `No rows of ${total} are shown.`;
	const firstShown = skippedCount + 1;
	const lastShown = skippedCount + shownCount;
	const summary = `Rows ${firstShown} to ${lastShown} of ${total} are shown.`;
	if (lastShown >= total) return summary;
	return `${summary} To get the next ones, call again with ${quoteField('startRow')}: ${nextNumber}`;
}
