import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, isNodeError, type NodeError } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import { collectNames, buildUpdateCellsRequest } from '../cells';
import { type CellRectangle, formatDates, toInputOption } from '../dates/dateCells';
import { rowNumberKey, type WriteMember, type WriteParams } from '../fields';
import { nameColumnsByLetters, resolveColumns, type HeaderRow, findTable } from '../headerRow';
import { createColumnError, listNames } from '../names';
import { groupNeighbors, printTabArea } from '../range';
import { maxRequestBytes, sendInChunks, countColumns } from '../sendRows';
import {
	buildEnlargeTabRequests,
	growNativeTable,
	buildResizeTableRequest,
	type Spreadsheet,
} from '../spreadsheet';
import { isByRowNumber, planSteps, type MatchStep } from './matchPlan';

/** Where steps write. Each request moves it for the next one. */
interface InsertPlace {
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
	member: WriteMember,
	place: InsertPlace,
	steps: readonly MatchStep[],
): Promise<InsertPlace> {
	const { sheet } = place;
	const count = steps.filter(isAppended).length;
	const rectangles = combineIntoRectangles(steps);
	const valueInputOption = toInputOption(member.params);
	const stored = valueInputOption === 'RAW' ? rectangles.map((run) => buildRectangleRequest(sheet, run)) : [];
	await book.change([...buildStructureRequests(place, count), ...stored]);
	if (stored.length < rectangles.length) {
		const data = rectangles.map((run) => ({
			range: printTabArea(sheet.title, run, run.cells.length, countColumns(run.cells)),
			values: run.cells,
		}));
		await book.values.batchUpdate({ spreadsheetId: book.id, requestBody: { valueInputOption, data } });
	}
	await formatDates(book, member, sheet, rectangles);
	const grownSheet = { ...sheet, rowCount: sheet.rowCount + count, native: getGrownTable(place, count) };
	return { sheet: grownSheet, names: [], row: place.row + count };
}

function buildStructureRequests(place: InsertPlace, count: number): sheets_v4.Schema$Request[] {
	const { sheet, names, row } = place;
	const { sheetId, rowCount, native, free } = sheet;
	const requests: sheets_v4.Schema$Request[] = [];
	if (names.length > 0) {
		requests.push(...buildEnlargeTabRequests(sheet, { columns: free + names.length }));
		requests.push(buildRectangleRequest(sheet, { row: sheet.row, column: free, cells: [[...names]] }));
	}
	const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
	if (row >= rowCount) requests.push(...buildEnlargeTabRequests(sheet, { rows: rowCount + count }));
	// Rows directly below the header must not get its format.
	else if (count > 0) requests.push({ insertDimension: { range, inheritFromBefore: row > sheet.row + 1 } });
	// Rows inside a table make it grow; rows below it and columns beside it do not.
	const table = getGrownTable(place, count);
	const isBelow = count > 0 && row >= (native?.range.endRowIndex ?? Infinity);
	const isWider = table?.range.endColumnIndex !== native?.range.endColumnIndex;
	return table && (isBelow || isWider) ? [...requests, buildResizeTableRequest(table)] : requests;
}

/** Only a column directly beside a table is added to it. */
function getGrownTable({ sheet: { native, free }, names }: InsertPlace, rows: number) {
	return native && growNativeTable(native, rows, free === native.range.endColumnIndex ? names.length : 0);
}

const buildRectangleRequest = ({ sheetId }: HeaderRow, { row, column, cells }: CellRectangle) =>
	buildUpdateCellsRequest({ start: { sheetId, rowIndex: row, columnIndex: column } }, cells);

/** Combines the cells of steps, in their order, into as few rectangles as possible. */
function combineIntoRectangles(steps: readonly MatchStep[]) {
	const lines = steps
		.flatMap(({ changes }) => changes)
		.flatMap(({ row, cells }) =>
			groupNeighbors(cells, ([left], [right]) => right === left + 1).map((line) => {
				return { row, column: line[0][0], cells: line.map(([, cell]) => cell) };
			}),
		);
	const isBelow = (above: (typeof lines)[number], { row, column, cells }: typeof above) =>
		row === above.row + 1 && column === above.column && cells.length === above.cells.length;
	return groupNeighbors(lines, isBelow).map((group) => ({
		...group[0],
		cells: group.map(({ cells }) => cells),
	}));
}

/** Cells carry far more text in a batch than as plain rows. */
export const maxUpdateBytes = maxRequestBytes / 4;

/** Updates the rows whose cells in the match columns equal an item's, and appends the other items. */
export async function matchRows(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: read, given } = await findTable(book, params, members);
	const isByNumber = isByRowNumber(params.matchColumns);
	const source = isByNumber ? nameColumnsByLetters(read, collectNames(given.flat())) : read;
	const table = resolveColumns(source, params, members, given);
	const { found, added, header, refusals } = table;
	if (refusals.every((refusal) => refusal !== undefined)) return refusals;
	checkMatchColumns(params.matchColumns, header);
	const { steps, last } = await planSteps(book, params, table, given, members);
	if (last > header.row) addHintsOfAddedRows(steps, members);
	let place: InsertPlace = { sheet: found, names: added, row: last + 1 };
	return await sendInChunks(steps, members, {
		done: 'written',
		largest: maxUpdateBytes,
		getRows: (own) => own.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()])),
		async send(all) {
			if (members[0]) place = await sendSteps(book, members[0], place, all.flat());
			return all.map((own) => own.map((step) => buildMatchedRow(book.id, found, step)));
		},
	});
}

const isAppended = ({ action }: MatchStep) => action === 'appended';

/** Tells each run how many of its rows were added. */
function addHintsOfAddedRows(
	steps: ReadonlyArray<readonly MatchStep[] | NodeError>,
	members: readonly WriteMember[],
): void {
	for (const { item } of new Map(members.map((member) => [member.item.run, member])).values()) {
		const isOwn = (_: unknown, at: number) => members[at]?.item.run === item.run;
		const own = steps.filter(isOwn).flatMap((one) => (isNodeError(one) ? [] : one));
		const added = own.filter(isAppended);
		if (added.length === 0) continue;
		const nearKeys = added.flatMap(({ nearKey }) => nearKey ?? []);
		const near = `Keys in the table that differ only by case or spaces: ${listNames(nearKeys)}.`;
		const [what, whose] =
			added.length === 1 ? ['1 row was', 'its key'] : [`${added.length} rows were`, 'their keys'];
		const hint = `${what} added, because no row has ${whose}.`;
		item.addHint(nearKeys.length === 0 ? hint : `${hint} ${near}`);
	}
}

/** @throws NodeError 400 where the table has no such column */
function checkMatchColumns(matchColumns: readonly string[], { columns, names }: HeaderRow): void {
	if (isByRowNumber(matchColumns)) return;
	const mixed = `${quoteField('matchColumns')} cannot have '${printChoice('matchColumns', rowNumberKey)}' together with other columns`;
	if (matchColumns.includes(rowNumberKey))
		throw createRefusal(mixed, 'The row number alone identifies a row. Remove it, or the others.');
	const unknown = matchColumns.filter((name) => !columns.has(name));
	const message = `The table has no column ${listNames(unknown)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	if (unknown.length > 0) throw createColumnError(message, names, unknown, advice);
}

function buildMatchedRow(spreadsheetId: string, sheet: HeaderRow, { action, rows, changes }: MatchStep) {
	const used = [...new Set(changes.flatMap(({ cells }) => [...cells.keys()]))];
	const columns = used.length > 0 ? used : [sheet.left, sheet.right];
	const first = { row: changes[0]?.row ?? rows[0] ?? 0, column: Math.min(...columns) };
	const width = Math.max(...columns) - first.column + 1;
	return {
		spreadsheetId,
		updatedRange: action === 'skipped' ? '' : printTabArea(sheet.title, first, 1, width),
		updatedRows: changes.length,
		updatedColumns: used.length,
		updatedCells: changes.reduce((sum, { cells }) => sum + cells.size, 0),
		action,
	};
}
