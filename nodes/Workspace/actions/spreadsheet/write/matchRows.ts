import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, isNodeError, type NodeError } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import { collectNames, buildUpdateCellsRequest } from '../cells';
import { type CellRectangle, formatDates, toInputOption } from '../dates/dateCells';
import { rowNumberKey, type WriteMember, type WriteParams } from '../fields';
import { nameColumnsByLetters, resolveColumns, type HeaderRow, fetchTable } from '../headerRow';
import { createColumnError, listNames } from '../names';
import { groupNeighbors, printTabArea } from '../range';
import { maxRequestBytes, sendInChunks, countColumns } from '../sendRows';
import type { Spreadsheet } from '../spreadsheet';
import { buildEnlargeTabRequests, buildResizeTableRequest, growNativeTable } from '../spreadsheet';
import { isByRowNumber, planSteps, type MatchStep } from './matchPlan';

/** The table and the row at which steps add rows. Each request returns the place for the next request. */
interface InsertPlace {
	readonly header: HeaderRow;
	/** Names of new columns whose headers are not written yet. */
	readonly newNames: readonly string[];
	/** Row at which rows are inserted, from 0. */
	readonly row: number;
}

/**
 * Sends steps. Inserted rows and values that are stored unchanged are one atomic request. Values as typed need a second request.
 * @returns the place for the next steps
 */
async function sendSteps(book: Spreadsheet, member: WriteMember, place: InsertPlace, steps: MatchStep[]) {
	const { header } = place;
	const count = steps.filter(isAppended).length;
	const rectangles = combineIntoRectangles(steps);
	const valueInputOption = toInputOption(member.params);
	const isRaw = valueInputOption === 'RAW';
	const cellRequests = isRaw ? rectangles.map((area) => buildRectangleRequest(header, area)) : [];
	await book.change([...buildStructureRequests(place, count), ...cellRequests]);
	if (cellRequests.length < rectangles.length) {
		const data = rectangles.map((area) => ({
			range: printTabArea(header.title, area, area.cells.length, countColumns(area.cells)),
			values: area.cells,
		}));
		await book.values.batchUpdate({ spreadsheetId: book.id, requestBody: { valueInputOption, data } });
	}
	await formatDates(book, member, header, rectangles);
	const size = { rowCount: header.rowCount + count, nativeTable: growTable(place, count) };
	return { header: { ...header, ...size }, newNames: [], row: place.row + count };
}

/** Builds the requests that add columns and rows, and make a native table include them. @param count number of added rows */
function buildStructureRequests(place: InsertPlace, count: number): sheets_v4.Schema$Request[] {
	const { header, newNames, row } = place;
	const { sheetId, rowCount, nativeTable, freeColumn } = header;
	const requests: sheets_v4.Schema$Request[] = [];
	if (newNames.length > 0) {
		requests.push(...buildEnlargeTabRequests(header, { columns: freeColumn + newNames.length }));
		const newCells = { row: header.row, column: freeColumn, cells: [[...newNames]] };
		requests.push(buildRectangleRequest(header, newCells));
	}
	const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
	if (row >= rowCount) requests.push(...buildEnlargeTabRequests(header, { rows: rowCount + count }));
	// `inheritFromBefore` copies the format of the row above: not for rows directly below the header.
	else if (count > 0) requests.push({ insertDimension: { range, inheritFromBefore: row > header.row + 1 } });
	// Google adds only rows inside a native table to the table, not rows below it or columns beside it.
	const table = growTable(place, count);
	const isBelow = count > 0 && row >= (nativeTable?.range.endRowIndex ?? Infinity);
	const isWider = table?.range.endColumnIndex !== nativeTable?.range.endColumnIndex;
	return table && (isBelow || isWider) ? [...requests, buildResizeTableRequest(table)] : requests;
}

/** Returns the native table with the added rows, and with the new columns if they are directly beside it. */
function growTable({ header: { nativeTable, freeColumn }, newNames }: InsertPlace, rows: number) {
	const isBeside = freeColumn === nativeTable?.range.endColumnIndex;
	return nativeTable && growNativeTable(nativeTable, rows, isBeside ? newNames.length : 0);
}

const buildRectangleRequest = ({ sheetId }: HeaderRow, { row, column, cells }: CellRectangle) =>
	buildUpdateCellsRequest({ start: { sheetId, rowIndex: row, columnIndex: column } }, cells);

/** Combines neighboring cells of steps into rectangles, in the order of the steps: this makes the requests smaller. */
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
	const groups = groupNeighbors(lines, isBelow);
	return groups.map((group) => ({ ...group[0], cells: group.map(({ cells }) => cells) }));
}

/** The size of rows for one update request: in a batch update, the JSON of a cell is several times as long as in plain rows. */
export const maxUpdateBytes = maxRequestBytes / 4;

/** Updates the rows whose match columns equal an item's, and adds the other items below the table. */
export async function matchRows(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: sheetHeader, memberRows } = await fetchTable(book, params, members);
	const isByNumber = isByRowNumber(params.matchColumns);
	const names = isByNumber ? collectNames(memberRows.flat()) : [];
	const namedHeader = isByNumber ? nameColumnsByLetters(sheetHeader, names) : sheetHeader;
	const table = resolveColumns(namedHeader, params, members, memberRows);
	const { currentHeader, newNames, header, refusals } = table;
	if (refusals.every((refusal) => refusal !== undefined)) return refusals;
	checkMatchColumns(params.matchColumns, header);
	const { steps, lastRow } = await planSteps(book, params, table, memberRows, members);
	if (lastRow > header.row) addHintsOfAddedRows(steps, members);
	let place: InsertPlace = { header: currentHeader, newNames, row: lastRow + 1 };
	return await sendInChunks(steps, members, {
		verb: 'written',
		maxBytes: maxUpdateBytes,
		getRows: (list) => list.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()])),
		async send(stepLists) {
			if (members[0]) place = await sendSteps(book, members[0], place, stepLists.flat());
			return stepLists.map((list) => list.map((step) => buildMatchedRow(book.id, currentHeader, step)));
		},
	});
}

const isAppended = ({ action }: MatchStep) => action === 'appended';

/** Adds a hint to each run that says how many of its rows were added. */
function addHintsOfAddedRows(
	steps: ReadonlyArray<readonly MatchStep[] | NodeError>,
	members: readonly WriteMember[],
): void {
	for (const { item } of new Map(members.map((member) => [member.item.run, member])).values()) {
		const isOfRun = (_: unknown, index: number) => members[index]?.item.run === item.run;
		const runSteps = steps.filter(isOfRun).flatMap((list) => (isNodeError(list) ? [] : list));
		const addedSteps = runSteps.filter(isAppended);
		if (addedSteps.length === 0) continue;
		const nearKeys = addedSteps.flatMap(({ nearKey }) => nearKey ?? []);
		const keysHint = `Keys in the table that differ only by case or spaces: ${listNames(nearKeys)}.`;
		const [subject, possessive] =
			addedSteps.length === 1 ? ['1 row was', 'its key'] : [`${addedSteps.length} rows were`, 'their keys'];
		const hint = `${subject} added, because no row has ${possessive}.`;
		item.addHint(nearKeys.length === 0 ? hint : `${hint} ${keysHint}`);
	}
}

/** @throws NodeError 400 if the table does not have all match columns */
function checkMatchColumns(matchColumns: readonly string[], { columns, names }: HeaderRow): void {
	if (isByRowNumber(matchColumns)) return;
	const mixMessage = `${quoteField('matchColumns')} cannot have '${printChoice('matchColumns', rowNumberKey)}' together with other columns`;
	if (matchColumns.includes(rowNumberKey))
		throw createRefusal(mixMessage, 'The row number alone identifies a row. Remove it, or the others.');
	const unknownNames = matchColumns.filter((name) => !columns.has(name));
	const message = `The table has no column ${listNames(unknownNames)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	if (unknownNames.length > 0) throw createColumnError(message, names, unknownNames, advice);
}

function buildMatchedRow(spreadsheetId: string, header: HeaderRow, { action, rows, changes }: MatchStep) {
	const writtenColumns = [...new Set(changes.flatMap(({ cells }) => [...cells.keys()]))];
	const columns = writtenColumns.length > 0 ? writtenColumns : [header.left, header.right];
	const firstCell = { row: changes[0]?.row ?? rows[0] ?? 0, column: Math.min(...columns) };
	const width = Math.max(...columns) - firstCell.column + 1;
	return {
		spreadsheetId,
		updatedRange: action === 'skipped' ? '' : printTabArea(header.title, firstCell, 1, width),
		updatedRows: changes.length,
		updatedColumns: writtenColumns.length,
		updatedCells: changes.reduce((sum, { cells }) => sum + cells.size, 0),
		action,
	};
}
