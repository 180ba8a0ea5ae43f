import { countFitting, countRoom, fitText, type ModelAnswer } from '../../../../core/modelAnswer';
import { joinSentences, shorten } from '../../../../core/text';
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
	readonly tabs?: { readonly title: string; readonly all: readonly string[] } | undefined;
}

/** The longest name of a column or a tab in an answer. */
const maxNameLength = 100;
/** The room for all names of columns, and for the titles of all tabs. */
const [columnRoom, tabRoom] = [12_000, 3000];

/** Builds the answer for a model, if Output is Rows: the rows that fit, as arrays of cells, with the names of the columns once. */
export function toRowsAnswer(result: ReadRows): ModelAnswer {
	const { items, columnNames, total } = result;
	const names = ['rowNumber', ...columnNames];
	const columns = takeNames(names, columnRoom);
	const rows = items.map(({ json }) => names.slice(0, columns.length).map((name) => json[name]));
	const info = { ...describeTabs(result), columns, total };
	const shownRows = takeRows(rows, countRoom(info));
	const lastNumber = Number(items.at(-1)?.json['rowNumber'] ?? 0);
	const nextNumber = Number(items[shownRows.length]?.json['rowNumber'] ?? lastNumber + 1);
	const note = joinSentences(
		describeRows(result, shownRows.length, nextNumber),
		columns.length < names.length &&
			`The first ${columns.length - 1} of ${names.length - 1} columns are shown. Read others with ${quoteField('range')}.`,
	);
	return { items: [{ ...info, rows: shownRows }], note };
}

/** Builds the answer for a model, if Output is Values: the rows that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { items, skippedCount } = result;
	const { values, range, majorDimension } = items[0]?.json ?? {};
	const printedRange = String(range);
	const rows = values as unknown[][];
	const info = { ...describeTabs(result), range: shorten(printedRange, 200), majorDimension };
	const shownRows = takeRows(rows, countRoom(info));
	const firstRow = parseBounds(parseRange(printedRange)).row;
	const nextNumber = firstRow + 1 + skippedCount + shownRows.length;
	const note = describeRows(result, shownRows.length, nextNumber);
	return { items: [{ ...info, values: shownRows }], note };
}

function describeTabs({ tabs }: ReadRows) {
	if (!tabs) return {};
	const otherTitles = tabs.all.filter((title) => title !== tabs.title);
	const otherTabs = takeNames(otherTitles, tabRoom);
	const missingCount = otherTitles.length - otherTabs.length;
	if (missingCount > 0) otherTabs.push(`… ${missingCount} more`);
	return { tab: shorten(tabs.title, maxNameLength), otherTabs };
}

/** Shortens names, and takes those that fit. */
function takeNames(names: readonly string[], room: number): string[] {
	const shortNames = names.slice(0, room).map((name) => shorten(name, maxNameLength));
	return shortNames.slice(0, countFitting(shortNames, room));
}

/** Takes the rows that fit. Of a first row that does not fit, the texts are cut, so that a model can always go on. */
function takeRows(rows: readonly unknown[][], room: number): unknown[][] {
	const shownRows = rows.slice(0, countFitting(rows, room));
	const [firstRow] = rows;
	if (shownRows.length > 0 || !firstRow) return shownRows;
	const cellRoom = Math.floor(room / firstRow.length) - 4;
	const cutCell = (cell: unknown) => {
		if (typeof cell !== 'string' || JSON.stringify(cell).length <= cellRoom) return cell;
		return `${fitText(cell, cellRoom)}…`;
	};
	const cutRow = firstRow.map(cutCell);
	return [cutRow.slice(0, countFitting(cutRow, room))];
}

/** @param nextNumber the number of the first row that is not shown, if there is one */
function describeRows(
	{ total, skippedCount }: ReadRows,
	shownCount: number,
	nextNumber: number,
): string {
	const firstShown = shownCount === 0 ? 0 : skippedCount + 1;
	const lastShown = skippedCount + shownCount;
	const summary = `Rows ${firstShown} to ${lastShown} of ${total} are shown.`;
	if (lastShown >= total) return summary;
	return `${summary} To get the next ones, call again with ${quoteField('startRow')}: ${nextNumber}`;
}
