import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, isNodeError, refusal } from '../../../../core/errors';
import { named } from '../../../../fields/field';
import type { Item } from '../../../operation';
import {
	type Cell,
	cellData,
	chunksOf,
	type Entering,
	type NamedRow,
	namedRows,
	requestBytes,
	rowNumberKey,
	type Written,
} from '../cells';
import { entryFor } from '../dates';
import { list, notSent, notWritten } from '../errors';
import type { WriteMember, WriteParams } from '../fields';
import { columnsFor, type HeaderRow, misfitOf, tableOf, withColumns } from '../headerRow';
import { type BodyColumns, isByNumber, Plan, readBody, type Step } from './matchPlan';
import { areaIn } from '../range';
import { grown, resize, spreadsheetMutex } from '../sheets';

/** The changes of one request. */
interface Change {
	readonly spreadsheetId: string;
	readonly sheet: HeaderRow;
	readonly valueInputOption: Entering['valueInputOption'];
	readonly item: Item;
	/** Headers that the tab gets. */
	readonly names: readonly string[];
	/** Rows that are inserted first. */
	readonly inserted: { readonly row: number; readonly count: number };
	/** Whether the row above them is the header, whose look they are not to have. */
	readonly isBelowHeader: boolean;
	readonly runs: readonly Run[];
}

/**
 * Stored values go with the rows that are inserted for them in one request: all of it is done or nothing. What is to be taken as typed
 * needs a request of its own.
 */
export async function sendChange(sheets: sheets_v4.Sheets, change: Change): Promise<void> {
	const { spreadsheetId, sheet, runs } = change;
	const { valueInputOption, cell } = await entryFor(
		sheets,
		change,
		change.item,
		runs.flatMap(({ cells }) => cells),
	);
	const isStored = valueInputOption === 'RAW';
	const requests = [...structure(change), ...(isStored ? runs.map((run) => updateCells(sheet, run)) : [])];
	if (requests.length > 0)
		await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	if (isStored || runs.length === 0) return;
	const data = runs.map((run) => ({
		range: areaIn(sheet.title, run, run.cells.length, run.cells[0]?.length ?? 0),
		values: run.cells.map((line) => line.map(cell)),
	}));
	await sheets.spreadsheets.values.batchUpdate({ spreadsheetId, requestBody: { valueInputOption, data } });
}

function structure(change: Change): sheets_v4.Schema$Request[] {
	const { sheet, names, inserted, isBelowHeader } = change;
	const { sheetId, rowCount, native } = sheet;
	const { row, count } = inserted;
	const requests: sheets_v4.Schema$Request[] = [];
	if (names.length > 0) {
		const length = sheet.free + names.length - sheet.columnCount;
		if (length > 0) requests.push({ appendDimension: { sheetId, dimension: 'COLUMNS', length } });
		requests.push(updateCells(sheet, { row: sheet.row, column: sheet.free, cells: [[...names]] }));
	}
	if (count > 0 && row >= rowCount) {
		requests.push({ appendDimension: { sheetId, dimension: 'ROWS', length: count } });
	} else if (count > 0) {
		const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
		requests.push({ insertDimension: { range, inheritFromBefore: !isBelowHeader } });
	}
	// Rows inside a table make it grow; rows below it and columns beside it do not.
	const columns = sheet.free === native?.endColumn ? names.length : 0;
	const isBelow = native !== undefined && count > 0 && row >= native.endRow;
	if (native && (columns > 0 || isBelow)) requests.push(resize(grown(native, count, columns)));
	return requests;
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
export function runsOf(steps: readonly Step[]): Run[] {
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

/**
 * Rows whose cells in the key columns equal an item's are updated in place, the other items are appended. One run at a time for a
 * spreadsheet, in this process: what another writes meanwhile would not be seen.
 * @returns by member, what was done for each of its rows
 */
export async function matchRows(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<MatchedRow[] | NodeError>> {
	return await spreadsheetMutex.run(first.params.spreadsheetId, () => writeNow(sheets, first, members));
}

async function writeNow(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<MatchedRow[] | NodeError>> {
	const { params, item } = first;
	const { header: read } = await tableOf(sheets, params, item);
	const given = members.map(({ params, item }) => namedRows(params, item));
	const { header: sheet, names } = columnsFor(read, params.extraColumns, given.flat());
	const header = withColumns(sheet, names);
	checkKeys(params.matchColumns, header);
	const strict = params.extraColumns === 'error';
	const misfits = given.map((rows) =>
		rows.map(({ cells }) => misfitOf(cells, header, strict)).find((misfit) => misfit !== undefined),
	);
	const isWritten = given.flat().flatMap(({ cells }) => [...cells.keys()]);
	const used = [...params.matchColumns, ...isWritten].flatMap((name) => header.columns.get(name) ?? []);
	const all = Array.from({ length: sheet.right - sheet.left + 1 }, (_, at) => sheet.left + at);
	const columns = isByNumber(params.matchColumns) ? all : used.filter((column) => column < sheet.free);
	const asked = { ...params, columns, valueRenderOption: 'UNFORMATTED_VALUE' } as const;
	const { steps, last } = await planned(
		sheets,
		sheet,
		asked,
		(plan) => given.map((rows, at) => misfits[at] ?? stepsOf(plan, rows)),
		header.columns,
	);
	const refused = steps.findIndex(isNodeError);
	if (refused !== -1 && !item.othersGoOn) return notWritten(steps, members, refused, 'written');
	return await carryOut(sheets, first, { sheet, names, last, steps });
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
	sheets: sheets_v4.Sheets,
	sheet: HeaderRow,
	asked: BodyColumns & Pick<WriteParams, 'matchColumns' | 'valueInputOption'>,
	steps: (plan: Plan) => Steps,
	columns: HeaderRow['columns'],
): Promise<{ readonly steps: Steps; readonly last: number }> {
	const body = await readBody(sheets, sheet, asked);
	const plan = new Plan({ ...asked, columns, body, shown: undefined });
	const found = steps(plan);
	if (!plan.isUnsure) return { steps: found, last: body.last };
	const shown = await readBody(sheets, sheet, { ...asked, valueRenderOption: 'FORMATTED_VALUE' });
	return { steps: steps(new Plan({ ...asked, columns, body, shown })), last: body.last };
}

function stepsOf(plan: Plan, rows: readonly NamedRow[]): Step[] | NodeError {
	return rows.map((row) => plan.refusalOf(row)).find(isNodeError) ?? rows.map((row) => plan.stepFor(row));
}

interface Work {
	readonly sheet: HeaderRow;
	/** Headers that the tab gets. */
	readonly names: readonly string[];
	/** Row that the table ends with, from 0. */
	readonly last: number;
	readonly steps: Steps;
}

/** Cells carry far more text in a batch than as plain rows. */
const batchBytes = requestBytes / 4;

async function carryOut(
	sheets: sheets_v4.Sheets,
	{ params, item }: WriteMember,
	{ sheet, names, last, steps }: Work,
): Promise<Array<MatchedRow[] | NodeError>> {
	const { spreadsheetId, headerRow, valueInputOption } = params;
	const results = steps.map((entry) =>
		isNodeError(entry) ? entry : entry.map((step) => writtenBy(spreadsheetId, sheet, step)),
	);
	const parts = steps.flatMap((entry, position) => {
		if (isNodeError(entry)) return [];
		const rows = entry.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()]));
		return [{ position, steps: entry, rows }];
	});
	let row = last + 1;
	let stopped: NodeError | undefined;
	for (const [at, chunk] of chunksOf(parts, batchBytes).entries()) {
		const own = chunk.flatMap((part) => part.steps);
		const count = own.filter(({ action }) => action === 'appended').length;
		const before = row - last - 1;
		const change = {
			...{ spreadsheetId, valueInputOption, item },
			sheet: {
				...sheet,
				rowCount: sheet.rowCount + before,
				native: sheet.native && grown(sheet.native, before, at === 0 ? 0 : names.length),
			},
			names: at === 0 ? names : [],
			inserted: { row, count },
			isBelowHeader: row === headerRow,
			runs: runsOf(own),
		};
		const failure = stopped
			? notSent(stopped, 'written')
			: await sendChange(sheets, change).then(none, failureOf);
		stopped ??= failure;
		if (failure) for (const { position } of chunk) results[position] = failure;
		row += count;
	}
	return results;
}

function none(): undefined {
	return undefined;
}

function failureOf(error: unknown): NodeError {
	if (isNodeError(error)) return error;
	throw error;
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
