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
import {
	buildEnlargeTabRequests,
	growNativeTable,
	buildResizeTableRequest,
	type Spreadsheet,
} from '../spreadsheet';
import { isByRowNumber, planSteps, type MatchStep } from './matchPlan';

/** Where steps write. Each request moves it for the next one. */
interface InsertPlace {
	readonly header: HeaderRow;
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
	const { header } = place;
	const count = steps.filter(isAppended).length;
	const rectangles = combineIntoRectangles(steps);
	const valueInputOption = toInputOption(member.params);
	const cellRequests =
		valueInputOption === 'RAW' ? rectangles.map((rectangle) => buildRectangleRequest(header, rectangle)) : [];
	await book.change([...buildStructureRequests(place, count), ...cellRequests]);
	if (cellRequests.length < rectangles.length) {
		const data = rectangles.map((rectangle) => ({
			range: printTabArea(header.title, rectangle, rectangle.cells.length, countColumns(rectangle.cells)),
			values: rectangle.cells,
		}));
		await book.values.batchUpdate({ spreadsheetId: book.id, requestBody: { valueInputOption, data } });
	}
	await formatDates(book, member, header, rectangles);
	const grownHeader = {
		...header,
		rowCount: header.rowCount + count,
		nativeTable: getGrownTable(place, count),
	};
	return { header: grownHeader, names: [], row: place.row + count };
}

function buildStructureRequests(place: InsertPlace, count: number): sheets_v4.Schema$Request[] {
	const { header, names, row } = place;
	const { sheetId, rowCount, nativeTable, freeColumn } = header;
	const requests: sheets_v4.Schema$Request[] = [];
	if (names.length > 0) {
		requests.push(...buildEnlargeTabRequests(header, { columns: freeColumn + names.length }));
		requests.push(
			buildRectangleRequest(header, { row: header.row, column: freeColumn, cells: [[...names]] }),
		);
	}
	const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + count };
	if (row >= rowCount) requests.push(...buildEnlargeTabRequests(header, { rows: rowCount + count }));
	// Rows directly below the header must not get its format.
	else if (count > 0) requests.push({ insertDimension: { range, inheritFromBefore: row > header.row + 1 } });
	// Rows inside a table make it grow; rows below it and columns beside it do not.
	const table = getGrownTable(place, count);
	const isBelow = count > 0 && row >= (nativeTable?.range.endRowIndex ?? Infinity);
	const isWider = table?.range.endColumnIndex !== nativeTable?.range.endColumnIndex;
	return table && (isBelow || isWider) ? [...requests, buildResizeTableRequest(table)] : requests;
}

/** Only a column directly beside a table is added to it. */
function getGrownTable({ header: { nativeTable, freeColumn }, names }: InsertPlace, rows: number) {
	return (
		nativeTable &&
		growNativeTable(nativeTable, rows, freeColumn === nativeTable.range.endColumnIndex ? names.length : 0)
	);
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
	const { header: sheetHeader, memberRows } = await fetchTable(book, params, members);
	const isByNumber = isByRowNumber(params.matchColumns);
	const currentSource = isByNumber
		? nameColumnsByLetters(sheetHeader, collectNames(memberRows.flat()))
		: sheetHeader;
	const table = resolveColumns(currentSource, params, members, memberRows);
	const { currentHeader, newNames, header, refusals } = table;
	if (refusals.every((refusal) => refusal !== undefined)) return refusals;
	checkMatchColumns(params.matchColumns, header);
	const { steps, lastRow } = await planSteps(book, params, table, memberRows, members);
	if (lastRow > header.row) addHintsOfAddedRows(steps, members);
	let place: InsertPlace = { header: currentHeader, names: newNames, row: lastRow + 1 };
	return await sendInChunks(steps, members, {
		verb: 'written',
		maxBytes: maxUpdateBytes,
		getRows: (memberSteps) =>
			memberSteps.flatMap(({ changes }) => changes.map(({ cells }) => [...cells.values()])),
		async send(stepsByMember) {
			if (members[0]) place = await sendSteps(book, members[0], place, stepsByMember.flat());
			return stepsByMember.map((memberSteps) =>
				memberSteps.map((step) => buildMatchedRow(book.id, currentHeader, step)),
			);
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
		const isOfRun = (_: unknown, index: number) => members[index]?.item.run === item.run;
		const runSteps = steps
			.filter(isOfRun)
			.flatMap((memberSteps) => (isNodeError(memberSteps) ? [] : memberSteps));
		const addedSteps = runSteps.filter(isAppended);
		if (addedSteps.length === 0) continue;
		const nearKeys = addedSteps.flatMap(({ nearKey }) => nearKey ?? []);
		const nearKeysHint = `Keys in the table that differ only by case or spaces: ${listNames(nearKeys)}.`;
		const [what, whose] =
			addedSteps.length === 1 ? ['1 row was', 'its key'] : [`${addedSteps.length} rows were`, 'their keys'];
		const hint = `${what} added, because no row has ${whose}.`;
		item.addHint(nearKeys.length === 0 ? hint : `${hint} ${nearKeysHint}`);
	}
}

/** @throws NodeError 400 where the table has no such column */
function checkMatchColumns(matchColumns: readonly string[], { columns, names }: HeaderRow): void {
	if (isByRowNumber(matchColumns)) return;
	const mixedMessage = `${quoteField('matchColumns')} cannot have '${printChoice('matchColumns', rowNumberKey)}' together with other columns`;
	if (matchColumns.includes(rowNumberKey))
		throw createRefusal(mixedMessage, 'The row number alone identifies a row. Remove it, or the others.');
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
