import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, type Failure } from '../../../items/failure';
import type { AppendMember } from './append.operation';
import { rowCells, type Cell } from './cells';
import { chunksOf, type Part } from './chunks';
import { notSent, heldBack } from './failures';
import { intoColumn } from './intoColumn';
import { itemRows } from './itemRows';
import { anchorOf, cellsOn, parseRange, printCell, type Corner } from './range';
import { Rows } from './rows';
import { inTabs } from './tabs';
import { partWritten, type Written } from './written';

export interface Appended extends Written {
	/** The table that the rows were added to; not there when there was none. */
	readonly tableRange?: string;
}

/** Rows that are ready to go, and the cell that they are anchored at. */
export interface Prepared {
	readonly anchor: Corner;
	/** By member; a Failure for a member whose fields do not fit the table. */
	readonly rows: ReadonlyArray<Cell[][] | Failure>;
}

/** Rows of one member, by its position. */
interface MemberPart extends Part {
	readonly position: number;
}

/** Adds the rows of members with the same target, in their order, in as few requests as Google takes well. */
export async function appendRows(
	sheets: sheets_v4.Sheets,
	members: readonly AppendMember[],
): Promise<Array<Appended | Failure>> {
	const [first] = members;
	if (!first) return [];
	const items = first.params.valuesSource === 'items';
	const { anchor, rows } = items ? await itemRows(sheets, members) : jsonRows(members);
	const refused = rows.findIndex(isFailure);
	if (refused !== -1 && !first.item.othersGoOn) return heldBack(rows, members, refused);

	const results = new Map<number, Appended | Failure>();
	const parts: MemberPart[] = [];
	for (const [position, entry] of rows.entries()) {
		if (isFailure(entry)) results.set(position, entry);
		else parts.push({ position, rows: entry.map(notEmpty) });
	}
	let stopped: Failure | undefined;
	for (const chunk of chunksOf(parts)) {
		const appended = stopped
			? notSent(stopped)
			: await appendChunk(sheets, first, anchor, chunk).catch(failureOf);
		if (isFailure(appended)) stopped ??= appended;
		for (const [at, { position }] of chunk.entries()) {
			const result = isFailure(appended) ? appended : appended[at];
			if (result) results.set(position, result);
		}
	}
	return members.flatMap((_, position) => results.get(position) ?? []);
}

function failureOf(error: unknown): Failure {
	if (isFailure(error)) return error;
	throw error;
}

function jsonRows(members: readonly AppendMember[]): Prepared {
	const range = parseRange(members[0]?.params.range ?? '');
	return {
		anchor: anchorOf(range),
		rows: members.map(({ params }) => rowCells(params)),
	};
}

/** A row of nothing takes its place too: without a cell Google might leave it out, and all rows below it would move up. */
function notEmpty(row: Cell[]): Cell[] {
	return row.every((cell) => cell === null) ? ['', ...row.slice(1)] : row;
}

async function appendChunk(
	sheets: sheets_v4.Sheets,
	{ params, item }: AppendMember,
	anchor: Corner,
	chunk: readonly MemberPart[],
): Promise<Appended[]> {
	const { spreadsheetId, range, valueInputOption, insertDataOption } = params;
	const values = chunk.flatMap(({ rows }) => rows);
	const { data } = await inTabs(sheets, { spreadsheetId, range, item }, () =>
		sheets.spreadsheets.values.append({
			spreadsheetId,
			range: cellsOn(parseRange(range).tab, printCell(anchor)),
			valueInputOption,
			insertDataOption,
			requestBody: new Rows(values),
		}),
	);
	const { tableRange } = data;
	const updatedRange = data.updates?.updatedRange ?? '';
	const { row: firstRow, column: landed } = anchorOf(parseRange(updatedRange));
	const { column } = anchor;
	if (landed !== column) {
		const start = { row: firstRow, column: landed };
		await intoColumn(sheets, params, { updatedRange, start, column, values });
	}
	let row = firstRow;
	return chunk.map(({ rows }) => {
		const written = partWritten(spreadsheetId, updatedRange, { row, column }, rows);
		row += rows.length;
		return { ...written, ...(tableRange && { tableRange }) };
	});
}
