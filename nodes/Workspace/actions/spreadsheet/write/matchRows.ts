import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, refusal } from '../../../../core/errors';
import { named } from '../../../../fields/field';
import { type Cell, cellData, type NamedRow, namedRows, rowNumberKey } from '../cells';
import type { WriteMember, WriteParams } from '../fields';
import { columnsFor, type HeaderRow, misfitOf, tableOf } from '../headerRow';
import { areaIn } from '../range';
import { entryFor, requestBytes, sendEach, widthOf, type Written } from '../rows';
import { enlarge, grown, list, resize, type Spreadsheet } from '../sheets';
import {
	isByNumber,
	isPlainNumber,
	type Matching,
	Plan,
	readBody,
	readBoth,
	type Step,
	typed,
} from './matchPlan';

/** The changes of one request. */
interface Change {
	readonly sheet: HeaderRow;
	/** Headers that the tab gets. */
	readonly names: readonly string[];
	/** Rows that are inserted first. */
	readonly inserted: { readonly row: number; readonly count: number };
	readonly runs: readonly Run[];
}

/**
 * Stored values go with the rows that are inserted for them in one request: all of it is done or nothing. Values that Google is to read
 * as typed need a request of their own.
 */
async function sendChange(book: Spreadsheet, params: WriteParams, change: Change): Promise<void> {
	const { sheet, runs } = change;
	const lines = runs.flatMap(({ cells }) => cells);
	const { valueInputOption, cell } = await entryFor(book, params, lines);
	const isStored = valueInputOption === 'RAW';
	await book.change([...structure(change), ...(isStored ? runs.map((run) => updateCells(sheet, run)) : [])]);
	if (isStored || runs.length === 0) return;
	const data = runs.map((run) => ({
		range: areaIn(sheet.title, run, run.cells.length, widthOf(run.cells)),
		values: run.cells.map((line) => line.map(cell)),
	}));
	await book.values.batchUpdate({ spreadsheetId: book.id, requestBody: { valueInputOption, data } });
}

function structure({ sheet, names, inserted: { row, count } }: Change): sheets_v4.Schema$Request[] {
	const { sheetId, rowCount, native, free } = sheet;
	const requests: sheets_v4.Schema$Request[] = [];
	if (names.length > 0) {
		requests.push(...enlarge(sheet, { columns: free + names.length }));
		requests.push(updateCells(sheet, { row: sheet.row, column: free, cells: [[...names]] }));
	}
	if (count > 0 && row >= rowCount) requests.push(...enlarge(sheet, { rows: rowCount + count }));
	else if (count > 0) {
		const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
		// Rows directly below the header must not get its format.
		requests.push({ insertDimension: { range, inheritFromBefore: row > sheet.row + 1 } });
	}
	// Rows inside a table make it grow; rows below it and columns beside it do not.
	const table = grownTable(sheet, names, count);
	const isBelow = count > 0 && row >= (native?.range.endRowIndex ?? Infinity);
	if (table && (isBelow || table.range.endColumnIndex !== native?.range.endColumnIndex))
		requests.push(resize(table));
	return requests;
}

/** Only a column directly beside a table is added to it. */
function grownTable({ native, free }: HeaderRow, names: readonly string[], rows: number) {
	return native && grown(native, rows, free === native.range.endColumnIndex ? names.length : 0);
}

function updateCells({ sheetId }: HeaderRow, { row, column, cells }: Run): sheets_v4.Schema$Request {
	const start = { sheetId, rowIndex: row, columnIndex: column };
	const rows = cells.map((line) => ({ values: line.map(cellData) }));
	return { updateCells: { start, rows, fields: 'userEnteredValue' } };
}

/** Cells beside and below one another. Rows and columns count from 0. */
interface Run {
	readonly row: number;
	readonly column: number;
	readonly cells: Cell[][];
}

/** The cells of steps, in their order, as few rectangles. */
function runsOf(steps: readonly Step[]): Run[] {
	const runs: Run[] = [];
	for (const { changes } of steps) {
		for (const { row, cells } of changes) {
			for (const { column, cells: line } of linesOf(cells)) {
				const last = runs.at(-1);
				const continues =
					last?.column === column &&
					last.cells[0]?.length === line.length &&
					last.row + last.cells.length === row;
				if (continues) last.cells.push(line);
				else runs.push({ row, column, cells: [line] });
			}
		}
	}
	return runs;
}

function linesOf(cells: ReadonlyMap<number, Cell>): Array<{ column: number; cells: Cell[] }> {
	const lines: Array<{ column: number; cells: Cell[] }> = [];
	for (const [column, cell] of cells) {
		const last = lines.at(-1);
		if (last && last.column + last.cells.length === column) last.cells.push(cell);
		else lines.push({ column, cells: [cell] });
	}
	return lines;
}

export interface MatchedRow extends Written {
	readonly action: Step['action'];
}

/** Cells carry far more text in a batch than as plain rows. */
const batchBytes = requestBytes / 4;

/**
 * Rows whose cells in the key columns equal an item's are updated in place, the other items are appended.
 * @returns by member, what was done for each of its rows
 */
export async function matchRows(
	book: Spreadsheet,
	params: WriteParams,
	members: readonly WriteMember[],
): Promise<Array<MatchedRow[] | NodeError>> {
	const { header: read } = await tableOf(book, params);
	const given = members.map((member) => namedRows(member.params, member.item));
	const { found, added, header } = columnsFor(read, params.extraColumns, given.flat());
	checkKeys(params.matchColumns, header);
	const matching = { ...params, columns: header.columns };
	const { steps, last } = await planned(book, found, matching, given, (plan, rows) => {
		return misfitOf(rows, header, params) ?? plan.stepsFor(rows);
	});
	let [sheet, names, row] = [found, added, last + 1];
	return await sendEach(steps, members, {
		done: 'written',
		largest: batchBytes,
		rowsOf: (own) => own.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()])),
		async send(all) {
			const count = all.flat().filter(({ action }) => action === 'appended').length;
			await sendChange(book, params, { sheet, names, inserted: { row, count }, runs: runsOf(all.flat()) });
			const native = grownTable(sheet, names, count);
			[sheet, names, row] = [{ ...sheet, rowCount: sheet.rowCount + count, native }, [], row + count];
			return all.map((own) => own.map((step) => writtenBy(book.id, found, step)));
		},
	});
}

/** @throws NodeError 400 where the table has no such column */
function checkKeys(matchColumns: readonly string[], { columns, names }: HeaderRow): void {
	if (isByNumber(matchColumns)) return;
	if (matchColumns.includes(rowNumberKey)) {
		throw refusal(
			`${named('matchColumns')} cannot have rowNumber together with other columns`,
			'The row number alone identifies a row. Remove it, or the others.',
		);
	}
	const unknown = matchColumns.filter((name) => !columns.has(name));
	if (unknown.length === 0) return;
	throw refusal(
		`The table has no column ${list(unknown)} to match rows by`,
		`Its columns are ${list(names)}. Enter one or more of them in ${named('matchColumns')}.`,
	);
}

type Steps = ReadonlyArray<Step[] | NodeError>;

/** What the sheet shows is read only where an item's text may be what a number or a date looks like. */
async function planned(
	book: Spreadsheet,
	sheet: HeaderRow,
	matching: Omit<Matching, 'body' | 'shown'>,
	given: ReadonlyArray<readonly NamedRow[]>,
	stepsOf: (plan: Plan, rows: readonly NamedRow[]) => Step[] | NodeError,
): Promise<{ readonly steps: Steps; readonly last: number }> {
	const { matchColumns, columns } = matching;
	const names = [...new Set([...matchColumns, ...given.flat().flatMap(({ cells }) => [...cells.keys()])])];
	const used = names.flatMap((name) => columns.get(name) ?? []).filter((column) => column < sheet.free);
	const all = Array.from({ length: sheet.right - sheet.left + 1 }, (_, at) => sheet.left + at);
	const read = isByNumber(matchColumns) ? all : used;
	const planFor = (bodies: Pick<Matching, 'body' | 'shown'>) => {
		const plan = new Plan({ ...matching, ...bodies });
		return { plan, steps: given.map((rows) => stepsOf(plan, rows)), last: bodies.body.last };
	};
	const isSmall = sheet.rowCount * read.length <= mostTogether;
	if (isSmall && (await isManyRequests(book, sheet, matching, given))) {
		return planFor(await readBoth(book, sheet, read));
	}
	const body = await readBody(book, sheet, read);
	const first = planFor({ body });
	if (!first.plan.isUnsure) return first;
	return planFor({ body, shown: await readBody(book, sheet, read, 'FORMATTED_VALUE') });
}

/** Cells whose values and texts are read in one request: it takes up to 80 bytes for each, two take about 50. */
const mostTogether = 200_000;

/** Whether rows may be inserted, values be entered as typed, and texts look like numbers: reading and writing would be five requests. */
async function isManyRequests(
	book: Spreadsheet,
	sheet: HeaderRow,
	{ matchColumns, columns, valueInputOption: option }: Omit<Matching, 'body' | 'shown'>,
	given: ReadonlyArray<readonly NamedRow[]>,
): Promise<boolean> {
	const hasStructure = !isByNumber(matchColumns) || columns.size > sheet.columns.size;
	if (option === 'RAW' || sheet.columns.size === 0 || !hasStructure) return false;
	const cells = given.flat().map((row) => [...row.cells.values()]);
	const asAuto = { valueInputOption: 'AUTO', valuesSource: 'items' } as const;
	const { valueInputOption, cell, text } = await entryFor(book, { ...asAuto, values: [] }, cells);
	const isTyped = option === 'USER_ENTERED';
	if (!isTyped && valueInputOption === 'RAW') return false;
	const isKnown = (value: string) =>
		cell(value) !== text(value) || (isTyped && (typed(value) !== value || isPlainNumber(value)));
	return cells
		.flat()
		.some((value) => typeof value === 'string' && /\d|^(true|false)$/i.test(value) && !isKnown(value));
}

function writtenBy(spreadsheetId: string, sheet: HeaderRow, { action, rows, changes }: Step): MatchedRow {
	const used = [...new Set(changes.flatMap(({ cells }) => [...cells.keys()]))];
	const columns = used.length > 0 ? used : [sheet.left, sheet.right];
	const column = Math.min(...columns);
	const width = Math.max(...columns) - column + 1;
	return {
		spreadsheetId,
		updatedRange: areaIn(sheet.title, { row: changes[0]?.row ?? rows[0] ?? 0, column }, 1, width),
		updatedRows: changes.length,
		updatedColumns: used.length,
		updatedCells: changes.reduce((sum, { cells }) => sum + cells.size, 0),
		action,
	};
}
