import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, refusal, type Failure } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import { chunksOf, requestBytes } from '../chunks';
import { heldBack, notSent } from '../failures';
import { withColumns, type HeaderRow } from '../headerRow';
import { inTurn } from '../inTurn';
import { namedRows, type NamedCells } from '../namedRows';
import { list } from '../names';
import { grown } from '../nativeTable';
import { areaIn } from '../range';
import { misfitOf, newColumns, tableOf } from '../rowsByHeader';
import type { WriteMember, WriteParams } from '../writeFields';
import type { Written } from '../written';
import { keyIn, readKeys } from './keys';
import { planOf, type Keyed, type Step } from './plan';
import { runsOf } from './runs';
import { sendChange } from './send';
import { readSheetHeader, type SheetHeader } from './sheetHeader';

export interface KeyedWritten extends Written {
	readonly action: Step['action'];
}

/**
 * Rows whose cells in the key columns equal an item's are updated in place, the other items are appended. One run at a time for a
 * spreadsheet, in this process: what another writes meanwhile would not be seen.
 */
export async function keyedWrite(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<KeyedWritten | Failure>> {
	if (first.params.valuesSource === 'json') {
		throw refusal(
			`${named('matchColumns')} can only be used with input items or columns`,
			`Set ${named('valuesSource')} to items or columns, with one item for each row.`,
		);
	}
	return await inTurn(first.params.spreadsheetId, () => writeNow(sheets, first, members));
}

async function writeNow(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<KeyedWritten | Failure>> {
	const { params, item } = first;
	const { header: sheet } = await tableOf(sheets, params, item, readSheetHeader);
	const given = members.flatMap(({ params, item }) => namedRows(params, item.json));
	const names = newColumns(sheet, params.extraColumns, given);
	const { columns } = withColumns(sheet, names);
	const keyColumns = positionsOf(params.matchColumns, columns);
	const keyed = given.map((cells) => keyedOf(cells, params, columns));
	const refused = keyed.findIndex(isFailure);
	if (refused !== -1 && !item.othersGoOn) return heldBack(keyed, members, refused, 'written');

	// Of columns that are made now nothing is there to read.
	const keys = keyColumns.every((column) => column >= sheet.free)
		? { rows: new Map<string, number[]>(), last: params.headerRow - 1 }
		: await readKeys(sheets, sheet, { ...params, columns: keyColumns });
	const plan = planOf(keyed, keys, columns, new Set(keyColumns));
	return await carryOut(sheets, params, { sheet, names, last: keys.last, plan });
}

/** @throws Failure 400 where the table has no such column */
function positionsOf(matchColumns: readonly string[], columns: ReadonlyMap<string, number>): number[] {
	const unknown = matchColumns.filter((name) => !columns.has(name));
	if (unknown.length === 0) return matchColumns.flatMap((name) => columns.get(name) ?? []);
	throw refusal(
		`The table has no column ${list(unknown)} to match rows by`,
		`Its columns are ${list([...columns.keys()])}. Enter one or more of them in ${named('matchColumns')}.`,
	);
}

function keyedOf(
	cells: NamedCells,
	{ matchColumns, extraColumns, valueInputOption }: WriteParams,
	columns: HeaderRow['columns'],
): Keyed | Failure {
	const misfit = misfitOf(cells, { columns }, extraColumns === 'error');
	if (misfit) return misfit;
	const key = keyIn(cells, matchColumns, valueInputOption);
	return isFailure(key) ? key : { key, cells };
}

interface Work {
	readonly sheet: SheetHeader;
	/** Headers that the tab gets. */
	readonly names: readonly string[];
	/** Row that the table ends with, from 0. */
	readonly last: number;
	readonly plan: ReadonlyArray<Step | Failure>;
}

/** Cells carry far more text in a batch than as plain rows. */
const batchBytes = requestBytes / 4;

async function carryOut(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, headerRow, valueInputOption }: WriteParams,
	{ sheet, names, last, plan }: Work,
): Promise<Array<KeyedWritten | Failure>> {
	const results: Array<KeyedWritten | Failure> = plan.map((entry) =>
		isFailure(entry) ? entry : writtenBy(spreadsheetId, sheet, entry),
	);
	const parts = plan.flatMap((entry, position) =>
		isFailure(entry)
			? []
			: [{ position, step: entry, rows: entry.rows.map(() => [...entry.cells.values()]) }],
	);
	let row = last + 1;
	let stopped: Failure | undefined;
	for (const [at, chunk] of chunksOf(parts, batchBytes).entries()) {
		const steps = chunk.map(({ step }) => step);
		const count = steps.filter(({ action }) => action === 'appended').length;
		const before = row - last - 1;
		const change = {
			...{ spreadsheetId, valueInputOption },
			sheet: {
				...sheet,
				rowCount: sheet.rowCount + before,
				native: sheet.native && grown(sheet.native, before, at === 0 ? 0 : names.length),
			},
			headers: { row: headerRow - 1, column: sheet.free, names: at === 0 ? names : [] },
			inserted: { row, count },
			isBelowHeader: row === headerRow,
			runs: runsOf(steps),
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

function failureOf(error: unknown): Failure {
	if (isFailure(error)) return error;
	throw error;
}

function writtenBy(spreadsheetId: string, sheet: SheetHeader, { action, rows, cells }: Step): KeyedWritten {
	const columns = cells.size > 0 ? [...cells.keys()] : [sheet.left, sheet.right];
	const column = Math.min(...columns);
	const width = Math.max(...columns) - column + 1;
	const isWritten = action !== 'unchanged';
	return {
		spreadsheetId,
		updatedRange: areaIn(sheet.title, { row: rows[0] ?? 0, column }, 1, width),
		updatedRows: isWritten ? rows.length : 0,
		updatedColumns: cells.size,
		updatedCells: cells.size * rows.length,
		action,
	};
}
