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
	const columns = ['rowNumber', ...result.columnNames];
	const rows = result.items.map(({ json }) => columns.map((name) => json[name]));
	const facts = { ...describeTabs(result), columns, total: result.total };
	return buildModelAnswer(facts, { name: 'rows', entries: rows }, (shownCount) => {
		const lastNumber = Number(rows.at(-1)?.[0] ?? 0);
		return describeRows(result, shownCount, Number(rows[shownCount]?.[0] ?? lastNumber + 1));
	});
}

/** Builds the answer for a model, if Output is Values: the rows that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { range, majorDimension, values } = result.items[0]?.json ?? {};
	const facts = { ...describeTabs(result), range, majorDimension };
	const part = { name: 'values', entries: values as unknown[] };
	const firstNumber = parseBounds(parseRange(range as string)).row + 1 + result.skippedCount;
	return buildModelAnswer(facts, part, (shownCount) =>
		describeRows(result, shownCount, firstNumber + shownCount),
	);
}

function describeTabs({ tabs }: ReadRows) {
	if (!tabs) return {};
	return { tab: tabs.title, otherTabs: tabs.all.filter((title) => title !== tabs.title) };
}

/** @param nextNumber the number of the first row that is not shown, if there is one */
function describeRows(result: ReadRows, shownCount: number, nextNumber: number): string {
	const firstShown = shownCount === 0 ? 0 : result.skippedCount + 1;
	const lastShown = result.skippedCount + shownCount;
	const summary = `Rows ${firstShown} to ${lastShown} of ${result.total} are shown.`;
	if (lastShown >= result.total) return summary;
	return `${summary} To get the next ones, call again with ${quoteField('startRow')}: ${nextNumber}`;
}
