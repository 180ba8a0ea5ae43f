import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Item } from '../../../operation';
import { buildUpdateCellsRequest } from '../cells';
import { type CellRectangle, formatDates, toInputOption } from '../dates/dateCells';
import { rowNumberKey, type WriteMember, type WriteMembers, type WriteParams } from '../fields';
import {
	addLetterColumnsToEmptyHeader,
	resolveColumns,
	type TableHeader,
	fetchTable,
} from '../tableHeader';
import { createColumnError, listNames } from '../names';
import { groupNeighbors, printTabArea } from '../range';
import { maxRequestBytes, countColumns, type SharedPlan, type SheetWriteResult } from '../sendRows';
import type { Spreadsheet } from '../spreadsheet';
import { buildEnlargeTabRequests, buildResizeTableRequest, growNativeTable } from '../spreadsheet';
import { isByRowNumber, planSteps, type MatchStep } from './matchPlan';

/** The place for the rows that the next request adds. Each request changes the table and the row. */
interface RowPlace {
	readonly header: TableHeader;
	/** Names of new columns whose headers the next request writes. */
	readonly newNames: readonly string[];
	/** Row at which rows are inserted, from 0. */
	readonly row: number;
}

/** Sends steps. @param member the first one; all have the same options @returns the place for the next steps */
async function sendSteps(
	spreadsheet: Spreadsheet,
	member: WriteMember,
	place: RowPlace,
	steps: MatchStep[],
) {
	const { header } = place;
	const addedCount = steps.filter(isAppended).length;
	const rectangles = combineIntoRectangles(steps);
	const valueInputOption = toInputOption(member.params);
	const isRaw = valueInputOption === 'RAW';
	const cellRequests = isRaw
		? rectangles.map((rectangle) => buildRectangleRequest(header, rectangle))
		: [];
	// RAW values are in the same atomic request as new rows and columns. Only `values.batchUpdate` interprets USER_ENTERED values.
	await spreadsheet.change([...buildStructureRequests(place, addedCount), ...cellRequests]);
	if (!isRaw && rectangles.length > 0) {
		const data = rectangles.map(({ grid, ...start }) => {
			return {
				range: printTabArea(header.title, start, grid.length, countColumns(grid)),
				values: grid,
			};
		});
		const requestBody = { valueInputOption, data };
		await spreadsheet.valuesApi.batchUpdate({ spreadsheetId: spreadsheet.id, requestBody });
	}
	await formatDates(spreadsheet, header, rectangles, member.item.addHint.bind(member.item));
	const grownTab = {
		rowCount: header.rowCount + addedCount,
		nativeTable: growTable(place, addedCount),
	};
	return { header: { ...header, ...grownTab }, newNames: [], row: place.row + addedCount };
}

/** Builds the requests that add columns and rows, and make a native table include them. */
function buildStructureRequests(place: RowPlace, addedCount: number): sheets_v4.Schema$Request[] {
	const { header, newNames, row } = place;
	const { sheetId, rowCount, nativeTable, firstNewColumn } = header;
	const requests: sheets_v4.Schema$Request[] = [];
	if (newNames.length > 0) {
		requests.push(
			...buildEnlargeTabRequests(header, { minColumns: firstNewColumn + newNames.length }),
		);
		const newHeaders = { row: header.row, column: firstNewColumn, grid: [[...newNames]] };
		requests.push(buildRectangleRequest(header, newHeaders));
	}
	const range = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + addedCount };
	if (row >= rowCount)
		requests.push(...buildEnlargeTabRequests(header, { minRows: rowCount + addedCount }));
	// `inheritFromBefore` copies the format of the row above, but the first row of a table must not look like its header.
	else if (addedCount > 0)
		requests.push({ insertDimension: { range, inheritFromBefore: row > header.row + 1 } });
	// A native table does not grow if rows are inserted below it or headers are written beside it.
	const table = growTable(place, addedCount);
	const growsBelow = addedCount > 0 && row >= (nativeTable?.range.endRowIndex ?? Infinity);
	const growsBeside = table?.range.endColumnIndex !== nativeTable?.range.endColumnIndex;
	return table && (growsBelow || growsBeside)
		? [...requests, buildResizeTableRequest(table)]
		: requests;
}

/** Returns the native table with the added rows, and with the new columns if they are directly beside it. Nothing is sent. */
function growTable(
	{ header: { nativeTable, firstNewColumn }, newNames }: RowPlace,
	addedCount: number,
) {
	const isBeside = firstNewColumn === nativeTable?.range.endColumnIndex;
	return nativeTable && growNativeTable(nativeTable, addedCount, isBeside ? newNames.length : 0);
}

const buildRectangleRequest = ({ sheetId }: TableHeader, { row, column, grid }: CellRectangle) =>
	buildUpdateCellsRequest({ start: { sheetId, rowIndex: row, columnIndex: column } }, grid);

/** Combines neighboring cells of successive steps into rectangles. This makes the requests smaller. */
function combineIntoRectangles(steps: readonly MatchStep[]) {
	const changes = steps.flatMap((step) => step.changes);
	const rowPieces = changes.flatMap(({ row, cellsByColumn }) => {
		const groups = groupNeighbors(cellsByColumn, ([left], [right]) => right === left + 1);
		return groups.map((cells) => ({
			row,
			column: cells[0][0],
			line: cells.map(([, cell]) => cell),
		}));
	});
	const continuesRectangle = (
		above: (typeof rowPieces)[number],
		{ row, column, line }: typeof above,
	) => row === above.row + 1 && column === above.column && line.length === above.line.length;
	return groupNeighbors(rowPieces, continuesRectangle).map((pieces) => {
		const { row, column } = pieces[0];
		return { row, column, grid: pieces.map(({ line }) => line) };
	});
}

/** Limit for the rows of one request, as `countBytes` estimates them. The JSON of a batch update is several times as long. */
export const maxUpdateBytes = maxRequestBytes / 4;

/** Updates the rows whose match columns equal an item's. Items that match no row are added below the table, skipped or refused. */
export async function planUpdate(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	members: WriteMembers,
): Promise<SharedPlan<MatchStep[], SheetWriteResult[]>> {
	let table = await fetchTable(spreadsheet, params, members);
	if (isByRowNumber(params.matchColumns)) table = addLetterColumnsToEmptyHeader(table, params);
	const resolution = resolveColumns(table, params);
	const { oldHeader, newNames, newHeader, errors } = resolution;
	if (errors.every((error) => error !== undefined))
		return { entries: errors, send: () => Promise.resolve([]) };
	checkMatchColumns(params.matchColumns, newHeader);
	const plan = await planSteps(spreadsheet, params, resolution);
	let place: RowPlace = { header: oldHeader, newNames, row: plan.lastRow + 1 };
	return {
		entries: plan.stepsByMember,
		async send(stepLists, items) {
			// An empty table needs no hint, because no row can match.
			if (plan.lastRow > oldHeader.row) addHintsOfNearKeys(stepLists, items);
			if (members[0])
				place = await sendSteps(spreadsheet, members[0], place, stepLists.flat());
			return stepLists.map((steps) =>
				steps.map((step) => buildStepResult(spreadsheet.id, oldHeader, step)),
			);
		},
	};
}

const isAppended = ({ action }: MatchStep) => action === 'appended';

/** Adds a hint to each item that adds a row although the table has a key that only nearly differs. */
function addHintsOfNearKeys(stepLists: readonly MatchStep[][], items: readonly Item[]): void {
	for (const [index, steps] of stepLists.entries()) {
		const nearKeys = steps.flatMap(({ nearKey }) => nearKey ?? []);
		if (nearKeys.length === 0) continue;
		items[index]?.addHint(
			`A row was added, because no row has its key. Keys in the table that differ only by case or spaces: ${listNames(nearKeys)}.`,
		);
	}
}

/** @throws NodeError 400 if the table does not have all match columns, or if Row Number is not the only one */
function checkMatchColumns(
	matchColumns: readonly string[],
	{ columnsByName, names }: TableHeader,
): void {
	if (isByRowNumber(matchColumns)) return;
	const mixMessage = `${quoteField('matchColumns')} cannot have '${mentionChoice('matchColumns', rowNumberKey)}' together with other columns`;
	if (matchColumns.includes(rowNumberKey))
		throw createRefusal(
			mixMessage,
			'The row number alone identifies a row. Remove it, or the others.',
		);
	const unknownNames = matchColumns.filter((name) => !columnsByName.has(name));
	const message = `The table has no column ${listNames(unknownNames)} to match rows by`;
	const advice = `Enter one or more of them in ${quoteField('matchColumns')}.`;
	if (unknownNames.length > 0) throw createColumnError(message, names, unknownNames, advice);
}

function buildStepResult(
	spreadsheetId: string,
	header: TableHeader,
	{ action, rows, changes }: MatchStep,
) {
	const writtenColumns = [
		...new Set(changes.flatMap(({ cellsByColumn }) => [...cellsByColumn.keys()])),
	];
	const columns =
		writtenColumns.length > 0 ? writtenColumns : [header.firstColumn, header.lastColumn];
	const firstCell = { row: changes[0]?.row ?? rows[0] ?? 0, column: Math.min(...columns) };
	const width = Math.max(...columns) - firstCell.column + 1;
	return {
		spreadsheetId,
		updatedRange: action === 'skipped' ? '' : printTabArea(header.title, firstCell, 1, width),
		updatedRows: changes.length,
		updatedColumns: writtenColumns.length,
		updatedCells: changes.reduce((sum, { cellsByColumn }) => sum + cellsByColumn.size, 0),
		action,
	};
}
