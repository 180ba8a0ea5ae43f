import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError } from '../../../core/errors';
import { defineOperation, type Item } from '../../operation';
import * as places from './appendPlace';
import { type Cell, hasColumnNames, readCellRows, readRows } from './cells';
import {
	appendFields,
	type AppendMember,
	appendOptions,
	type AppendParams,
	rowDescription,
} from './fields';
import { alignRows } from './tableHeader';
import { parseRange, buildTargetKey, printTarget, parseTarget } from './range';
import { formatDates, toInputOption } from './dates/dateCells';
import {
	type PlannedWrite,
	type SheetWriteResult,
	buildWriteResults,
	sendWrites,
	toPlannedWrites,
	weighRows,
} from './sendRows';
import { isNameOfTab, Spreadsheet, buildSpreadsheetUrl } from './spreadsheet';

/** Plans the rows of members that have the same target, in the order of the members. */
async function planRows(
	sheets: sheets_v4.Sheets,
	members: readonly AppendMember[],
): Promise<ReadonlyArray<PlannedWrite<Cell[][], AppendResult> | NodeError>> {
	const [firstMember] = members;
	if (!firstMember) return [];
	const spreadsheet = new Spreadsheet(sheets, firstMember.params.spreadsheetId, firstMember.item);
	const params = await spreadsheet.resolveTab(firstMember.params);
	if (params.createTab) await spreadsheet.createMissingTab(parseTarget(params));
	const appendPlan = await planAppend(spreadsheet, params, members);
	const plan = {
		entries: appendPlan.rowsByMember,
		send: async (rowsByMember: readonly Cell[][][], items: readonly Item[]) =>
			await appendAndRepair(spreadsheet, appendPlan, rowsByMember, items),
	};
	return toPlannedWrites(plan, members);
}

type AppendResult = SheetWriteResult & { tableRange?: string };

/** Plans the place of the rows, and the rows of each member. A member whose rows cannot be appended gets a NodeError instead. */
async function planAppend(
	spreadsheet: Spreadsheet,
	params: AppendParams,
	members: readonly AppendMember[],
) {
	if (hasColumnNames(params)) {
		const table = await alignRows(spreadsheet, params, members);
		return { ...table, params, plannedPlace: places.getPlaceBelowHeader(table) };
	}
	const entered = parseTarget(params);
	// Usually, Google's response shows whether a name is a tab's or a named range's. With a tab, or with OVERWRITE, the request depends on it.
	const mustResolveName =
		entered.name !== undefined &&
		(entered.tab !== undefined || params.insertDataOption === 'OVERWRITE');
	const resolve = async () => await spreadsheet.resolveName(entered);
	const target = mustResolveName ? await spreadsheet.sendForRange(entered, resolve) : entered;
	const rowsByMember = members.map((member) => readCellRows(member.params));
	const plannedPlace = places.getPlaceInTarget(target);
	return { params, target, plannedPlace, rowsByMember, header: undefined, addHeaders: undefined };
}

type AppendPlan = Awaited<ReturnType<typeof planAppend>>;

/** Puts an empty text into an empty row: Google might leave out a row without cells, and the next rows would move up. */
const padEmptyRow = (row: Cell[]) =>
	row.every((cell) => cell === null) ? ['', ...row.slice(1)] : row;

/** Replaces null in the first cell by an empty text. Google's response begins at the first cell that is not null. */
const padFirstCell = (row: Cell[]) => (row[0] === null ? ['', ...row.slice(1)] : row);

/** Appends the rows of several members with one request, and repairs their place and their format if necessary. */
async function appendAndRepair(
	spreadsheet: Spreadsheet,
	appendPlan: AppendPlan,
	rowsByMember: readonly Cell[][][],
	items: readonly Item[],
): Promise<AppendResult[]> {
	const addHint = (text: string) => {
		items.forEach((item) => item.addHint(text));
	};
	const paddedRowsByMember = rowsByMember.map((rows) => rows.map(padEmptyRow));
	const values = paddedRowsByMember.flat().map(padFirstCell);
	const { params, plannedPlace, header } = appendPlan;
	const appended = await requestAppend(spreadsheet, appendPlan, values);
	const start = await places.repairPlace(spreadsheet, params, appended);
	const { updatedRange, tableRange } = appended;
	const { searchRange, scope, searchStartRow } = plannedPlace; // where Google has searched for a table
	if (!tableRange && scope === 'all' && start.row > searchStartRow)
		addHint(
			`${searchRange} was empty, so the rows begin below all others. To choose the row, use Write.`,
		);
	if (
		params.insertDataOption === 'INSERT_ROWS' &&
		places.isDirectlyBelowHeader(appended, start.row)
	)
		await repairFormat(spreadsheet, appended, start.row, addHint);
	const tab = { title: parseRange(updatedRange).tab, sheetId: header?.sheetId };
	await formatDates(spreadsheet, tab, [{ ...start, grid: values }], addHint);
	const results = buildWriteResults(spreadsheet.id, updatedRange, start, paddedRowsByMember);
	return results.map((result) => ({ ...result, ...(tableRange && { tableRange }) }));
}

/** Sends the request that appends rows. Returns where Google has put them, and where they belong. */
async function requestAppend(spreadsheet: Spreadsheet, appendPlan: AppendPlan, values: Cell[][]) {
	const { params, target, plannedPlace, addHeaders } = appendPlan;
	const { rowBelowTable, response } = await spreadsheet.sendForRange(target, async () => {
		const requestPlan = await places.planRequest(
			spreadsheet,
			params.insertDataOption,
			plannedPlace,
			values,
		);
		await addHeaders?.();
		const request = { ...requestPlan.request, valueInputOption: toInputOption(params) };
		return { ...requestPlan, response: await spreadsheet.append(request, values) };
	});
	const parsedResponse = places.parseAppendResponse(response);
	const place = await findRightPlace(spreadsheet, appendPlan, parsedResponse.updatedRange);
	return { ...parsedResponse, rowBelowTable, place, values };
}

/** Removes the format of the header from rows that were inserted directly below it. If this fails, adds a hint. */
async function repairFormat(
	spreadsheet: Spreadsheet,
	appended: places.AppendedRows,
	startRow: number,
	addHint: (text: string) => void,
) {
	await places.clearHeaderFormat(spreadsheet, appended, startRow).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		const summary = `The rows at ${appended.updatedRange} were appended, but they have the formatting of the header`;
		addHint(`${summary}: ${error.message}`);
	});
}

/** Returns where the rows belong. A name that is not the title of the tab in Google's response is a named range, whose place is looked up. */
async function findRightPlace(
	spreadsheet: Spreadsheet,
	appendPlan: AppendPlan,
	updatedRange: string,
) {
	const { target, plannedPlace } = appendPlan;
	const isNamedRange =
		target.name !== undefined && !isNameOfTab(target, parseRange(updatedRange));
	if (!isNamedRange || plannedPlace.scope === 'header') return plannedPlace; // below a header, the place is known
	return places.getPlaceInTarget(await spreadsheet.resolveName(target));
}

export const append = defineOperation({
	value: 'append',
	name: 'Append',
	action: 'Append rows to spreadsheet',
	description: 'Add rows below a table. Items for the same table are sent together.',
	modelDescription: 'Add rows below a table in Google Sheets.',
	modelCautions: { field: 'valuesSource', byValue: { json: rowDescription } },
	fields: appendFields,
	options: appendOptions,
	prepare(params, item) {
		readRows({ params, item }); // throws if the rows are invalid
		return { params, item };
	},
	combine: {
		getKey: (params) => `${buildTargetKey(params)} ${hasColumnNames(params)}`,
		getLockId: (params) => params.spreadsheetId,
		weigh: (member) => weighRows(member),
		plan: async ({ sheets }, all) =>
			await planRows(
				sheets,
				all.map(({ prepared }) => prepared),
			),
		send: async (_clients, writes) => await sendWrites(writes),
	},
	nameResult: ({ updatedRange }) => `rows ${updatedRange}`,
	recover(_clients, { params: { spreadsheetId, tab, range } }, failure) {
		// Equal rows may have been there before, so reading the sheet would prove nothing.
		const description = `They were not sent again, to avoid duplicates. Check below the table at ${printTarget({ tab, range })} in ${buildSpreadsheetUrl(spreadsheetId)} before you run this again.`;
		throw failure.with({
			message: `The rows may have been appended: ${failure.message}`,
			description,
		});
	},
});
