import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal } from '../../../../core/errors';
import { named } from '../../../../fields/field';
import { type Cell, namedRows, rowNumberKey, updateCells } from '../cells';
import type { WriteMember, WriteParams } from '../fields';
import { columnsFor, type HeaderRow, tableOf } from '../headerRow';
import { areaIn } from '../range';
import { entryFor, requestBytes, sendEach, widthOf, type Written } from '../rows';
import { enlarge, grown, list, resize, type Spreadsheet } from '../sheets';
import { isByNumber, planned, type Step } from './matchPlan';

/** Where steps write. Each request moves it for the next one. */
interface Place {
	readonly sheet: HeaderRow;
	/** Headers that are still to be written. */
	readonly names: readonly string[];
	/** Row at which rows are inserted. */
	readonly row: number;
}

/**
 * Sends values that are stored unchanged together with their inserted rows, in one atomic request; values as typed need a second one.
 * @returns where the next steps write
 */
async function sendSteps(
	book: Spreadsheet,
	params: WriteParams,
	place: Place,
	steps: readonly Step[],
): Promise<Place> {
	const { sheet } = place;
	const count = steps.filter(({ action }) => action === 'appended').length;
	const runs = runsOf(steps);
	const lines = runs.flatMap(({ cells }) => cells);
	const { valueInputOption, cell } = await entryFor(book, params, lines);
	const stored = valueInputOption === 'RAW' ? runs.map((run) => updateRun(sheet, run)) : [];
	await book.change([...structure(place, count), ...stored]);
	if (stored.length < runs.length) {
		const data = runs.map((run) => ({
			range: areaIn(sheet.title, run, run.cells.length, widthOf(run.cells)),
			values: run.cells.map((line) => line.map(cell)),
		}));
		await book.values.batchUpdate({ spreadsheetId: book.id, requestBody: { valueInputOption, data } });
	}
	const grownSheet = { ...sheet, rowCount: sheet.rowCount + count, native: grownTable(place, count) };
	return { sheet: grownSheet, names: [], row: place.row + count };
}

function structure(place: Place, count: number): sheets_v4.Schema$Request[] {
	const { sheet, names, row } = place;
	const { sheetId, rowCount, native, free } = sheet;
	const requests: sheets_v4.Schema$Request[] = [];
	if (names.length > 0) {
		requests.push(...enlarge(sheet, { columns: free + names.length }));
		requests.push(updateRun(sheet, { row: sheet.row, column: free, cells: [[...names]] }));
	}
	if (count > 0 && row >= rowCount) requests.push(...enlarge(sheet, { rows: rowCount + count }));
	else if (count > 0) {
		const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
		// Rows directly below the header must not get its format.
		requests.push({ insertDimension: { range, inheritFromBefore: row > sheet.row + 1 } });
	}
	// Rows inside a table make it grow; rows below it and columns beside it do not.
	const table = grownTable(place, count);
	const isBelow = count > 0 && row >= (native?.range.endRowIndex ?? Infinity);
	const isWider = table?.range.endColumnIndex !== native?.range.endColumnIndex;
	return table && (isBelow || isWider) ? [...requests, resize(table)] : requests;
}

/** Only a column directly beside a table is added to it. */
function grownTable({ sheet: { native, free }, names }: Place, rows: number) {
	return native && grown(native, rows, free === native.range.endColumnIndex ? names.length : 0);
}

function updateRun({ sheetId }: HeaderRow, { row, column, cells }: Run): sheets_v4.Schema$Request {
	return updateCells({ start: { sheetId, rowIndex: row, columnIndex: column } }, cells);
}

/** A rectangle of cells. Rows and columns count from 0. */
interface Run {
	readonly row: number;
	readonly column: number;
	readonly cells: Cell[][];
}

/** Combines the cells of steps, in their order, into as few rectangles as possible. */
function runsOf(steps: readonly Step[]): Run[] {
	const runs: Run[] = [];
	for (const { row, cells } of steps.flatMap(({ changes }) => changes)) {
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
	return runs;
}

function linesOf(cells: ReadonlyMap<number, Cell>) {
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

/** Updates the rows whose cells in the match columns equal an item's, and appends the other items. */
export async function matchRows(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: read } = await tableOf(book, params);
	const given = members.map(namedRows);
	const { found, added, header } = columnsFor(read, params.extraColumns, given.flat());
	checkKeys(params.matchColumns, header);
	const { steps, last } = await planned(book, params, { found, header }, given);
	let place: Place = { sheet: found, names: added, row: last + 1 };
	return await sendEach(steps, members, {
		done: 'written',
		// Cells carry far more text in a batch than as plain rows.
		largest: requestBytes / 4,
		rowsOf: (own) => own.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()])),
		async send(all) {
			place = await sendSteps(book, params, place, all.flat());
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
