import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, refusal, type NodeError } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import { chunksOf, requestBytes, type Written } from '../updates';
import { list, notSent, notWritten } from '../errors';
import { columnsFor, misfitOf, readSheetHeader, type SheetHeader, tableOf, withColumns } from '../headerRow';
import { grown, spreadsheetMutex } from '../sheets';
import { namedRows, rowNumberKey, type NamedRow } from '../cells';
import { areaIn } from '../range';
import type { WriteMember, WriteParams } from '../fields';
import { type BodyColumns, isByNumber, Plan, readBody, type Step } from './matchPlan';
import { runsOf, sendChange } from './change';

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
	const { header: read } = await tableOf(sheets, params, item, readSheetHeader);
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
function checkKeys(matchColumns: readonly string[], { columns, names }: SheetHeader): void {
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
	sheet: SheetHeader,
	asked: BodyColumns & Pick<WriteParams, 'matchColumns' | 'valueInputOption'>,
	steps: (plan: Plan) => Steps,
	columns: SheetHeader['columns'],
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
	readonly sheet: SheetHeader;
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
			headers: { row: headerRow - 1, column: sheet.free, names: at === 0 ? names : [] },
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

function writtenBy(spreadsheetId: string, sheet: SheetHeader, { action, rows, changes }: Step): MatchedRow {
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
