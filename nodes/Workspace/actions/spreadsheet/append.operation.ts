import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, isNodeError } from '../../../core/errors';
import { defineOperation, type Item } from '../../operation';
import {
	appendResultOf,
	below,
	isBelowHeader,
	isProven,
	type Place,
	placeBelow,
	placeIn,
	relocateRows,
} from './appendPlace';
import {
	type Cell,
	chunksOf,
	hasNames,
	namedRows,
	type Part,
	partWritten,
	rowCells,
	Rows,
	widthOf,
	type Written,
} from './cells';
import { entryFor } from './dates';
import { notSent, notWritten, rangeAdvice, spreadsheetUrl, unknownOutcome } from './errors';
import { appendFields, type AppendMember, appendOptions } from './fields';
import { rowsByHeader } from './headerRow';
import { areaLike, parseRange, sentTarget, type TabRange, targetOf } from './range';
import {
	cellsOfName,
	createMissingTab,
	inTabs,
	isTabsName,
	refuseTabLikeCell,
	spreadsheetMutex,
} from './sheets';

/** Rows that were inserted directly below a header. Rows and columns count from 0. */
interface BelowHeader {
	readonly spreadsheetId: string;
	/** As Google printed it. */
	readonly updatedRange: string;
	readonly row: number;
	readonly column: number;
	readonly width: number;
	readonly count: number;
}

/** Except the number format: values entered as dates already have a date format. */
const look = [
	...['backgroundColor', 'backgroundColorStyle', 'borders', 'horizontalAlignment', 'padding'],
	...['textFormat', 'textRotation', 'verticalAlignment', 'wrapStrategy'],
];
const headerFields = `sheets(properties(sheetId),data(rowData(values(userEnteredFormat(${look.join(',')})))))`;

/** Google formats inserted rows like the row above, but the rows below a header must not look like the header. */
export async function clearHeaderFormat(
	sheets: sheets_v4.Sheets,
	rows: BelowHeader,
	item: Item,
): Promise<void> {
	await clearFormat(sheets, rows).catch((error: unknown) => {
		if (!isNodeError(error)) throw error;
		item.hint(
			`The rows at ${rows.updatedRange} were appended, but they have the formatting of the header: ${error.message}`,
		);
	});
}

async function clearFormat(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, updatedRange, row, column, width, count }: BelowHeader,
): Promise<void> {
	const header = areaLike(updatedRange, { row: row - 1, column }, 1, width);
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, ranges: [header], fields: headerFields });
	const [sheet] = data.sheets ?? [];
	const cells = sheet?.data?.[0]?.rowData?.[0]?.values ?? [];
	if (!cells.some(({ userEnteredFormat }) => userEnteredFormat)) return;
	const range = { sheetId: sheet?.properties?.sheetId, startRowIndex: row, endRowIndex: row + count };
	const fields = look.map((name) => `userEnteredFormat.${name}`).join(',');
	const requests = [{ repeatCell: { range, cell: {}, fields } }];
	await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
}

export interface Appended extends Written {
	/** The table that the rows were added to; not there when there was none. */
	readonly tableRange?: string;
}

/** Rows that are ready to send, and their place. */
interface Prepared {
	readonly target: TabRange;
	readonly place: Place;
	/** By member; a NodeError for a member whose fields do not fit the table. */
	readonly rows: ReadonlyArray<Cell[][] | NodeError>;
}

/** Rows of one member, by its position. */
interface MemberPart extends Part {
	readonly position: number;
}

/** Adds the rows of members with the same target, in their order, in as few requests as Google recommends. */
export async function appendRows(
	sheets: sheets_v4.Sheets,
	members: readonly AppendMember[],
): Promise<Array<Appended | NodeError>> {
	const [first] = members;
	if (!first) return [];
	const { params, item } = first;
	const { spreadsheetId } = params;
	if (params.createTab) await createMissingTab(sheets, { spreadsheetId, target: targetOf(params), item });
	// Inserted rows move others, to which another run may be about to write.
	return await spreadsheetMutex.run(spreadsheetId, () => appendNow(sheets, first, members));
}

async function appendNow(
	sheets: sheets_v4.Sheets,
	first: AppendMember,
	members: readonly AppendMember[],
): Promise<Array<Appended | NodeError>> {
	const prepared = await (hasNames(first.params) ? byHeader : asGiven)(sheets, first, members);
	const { rows } = prepared;
	const refused = rows.findIndex(isNodeError);
	if (refused !== -1 && !first.item.othersGoOn) return notWritten(rows, members, refused, 'appended');

	const results = new Map<number, Appended | NodeError>();
	const parts: MemberPart[] = [];
	for (const [position, entry] of rows.entries()) {
		if (isNodeError(entry)) results.set(position, entry);
		else parts.push({ position, rows: entry.map(notEmpty) });
	}
	let stopped: NodeError | undefined;
	for (const chunk of chunksOf(parts)) {
		const appended = stopped
			? notSent(stopped, 'appended')
			: await appendChunk(sheets, first, prepared, chunk).catch(failureOf);
		if (isNodeError(appended)) stopped ??= appended;
		for (const [at, { position }] of chunk.entries()) {
			const result = isNodeError(appended) ? appended : appended[at];
			if (result) results.set(position, result);
		}
	}
	return members.flatMap((_, position) => results.get(position) ?? []);
}

function failureOf(error: unknown): NodeError {
	if (isNodeError(error)) return error;
	throw error;
}

async function byHeader(
	sheets: sheets_v4.Sheets,
	first: AppendMember,
	members: readonly AppendMember[],
): Promise<Prepared> {
	const given = members.map(({ params, item }) => namedRows(params, item));
	const table = await rowsByHeader(sheets, first, given);
	return { ...table, place: placeBelow(table) };
}

async function asGiven(
	sheets: sheets_v4.Sheets,
	{ params, item }: AppendMember,
	members: readonly AppendMember[],
): Promise<Prepared> {
	const { spreadsheetId, insertDataOption } = params;
	const given = targetOf(params);
	const asked = { spreadsheetId, target: given, item };
	await refuseTabLikeCell(sheets, asked);
	// Of a word alone the answer tells whether it is a tab's, but for what must be known before.
	const mustKnow = given.name !== undefined && (given.tab !== undefined || insertDataOption === 'OVERWRITE');
	const target = mustKnow
		? await inTabs(sheets, asked, () => cellsOfName(sheets, spreadsheetId, given))
		: given;
	return { target, place: placeIn(target), rows: members.map((member) => rowCells(member.params)) };
}

/** An empty row keeps its place too: without a cell, Google might leave it out, and all rows below would move up. */
function notEmpty(row: Cell[]): Cell[] {
	return row.every((cell) => cell === null) ? ['', ...row.slice(1)] : row;
}

/** Google says where it wrote cells, and null writes none: with an empty first cell instead, the answer begins where the row does. */
function beginning(row: Cell[]): Cell[] {
	return row[0] === null ? ['', ...row.slice(1)] : row;
}

/** Only what has a name is told apart by its type. */
function typing(params: AppendMember['params']): AppendMember['params'] {
	const isUnnamed = params.valueInputOption === 'AUTO' && !hasNames(params);
	return isUnnamed ? { ...params, valueInputOption: 'RAW' } : params;
}

async function appendChunk(
	sheets: sheets_v4.Sheets,
	{ params, item }: AppendMember,
	{ target, place }: Prepared,
	chunk: readonly MemberPart[],
): Promise<Appended[]> {
	const { spreadsheetId } = params;
	const plain = chunk.flatMap(({ rows }) => rows.map(beginning));
	const { valueInputOption, cell } = await entryFor(sheets, typing(params), item, plain);
	const values = plain.map((row) => row.map(cell));
	const width = widthOf(values);
	const { data, firstRow } = await inTabs(sheets, { spreadsheetId, target, item }, async () => {
		const { firstRow, ...asked } = await below(sheets, params, place, values);
		const requestBody = new Rows(values);
		const append = { spreadsheetId, ...asked, valueInputOption, requestBody };
		return { ...(await sheets.spreadsheets.values.append(append)), firstRow };
	});
	const result = appendResultOf(data);
	const { updatedRange, tableRange } = result;
	const belongs = await knownPlace(sheets, spreadsheetId, { target, place, updatedRange });
	const start = isProven(result, belongs, width, firstRow)
		? result.start
		: await relocateRows(sheets, { ...params, valueInputOption }, { result, place: belongs, values });
	const isInserted = params.insertDataOption === 'INSERT_ROWS';
	if (isInserted && isBelowHeader(result, belongs, start.row)) {
		const rows = { spreadsheetId, updatedRange, ...start, width, count: values.length };
		await clearHeaderFormat(sheets, rows, item);
	}
	let { row } = start;
	return chunk.map(({ rows }) => {
		const written = partWritten(spreadsheetId, updatedRange, { row, column: start.column }, rows);
		row += rows.length;
		return { ...written, ...(tableRange && { tableRange }) };
	});
}

/** A word that is not the name of a tab is a named range. */
async function knownPlace(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	{ target, place, updatedRange }: { target: TabRange; place: Place; updatedRange: string },
): Promise<Place> {
	if (target.name === undefined || place.extent === 'header') return place;
	if (isTabsName(target, parseRange(updatedRange))) return place;
	const cells = await cellsOfName(sheets, spreadsheetId, target);
	return { ...placeIn(cells), search: place.search };
}

export const append = defineOperation({
	value: 'append',
	methods: {
		'sheets.spreadsheets.values.append': 'spreadsheets',
		'sheets.spreadsheets.values.update': 'spreadsheets',
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
		'sheets.spreadsheets.batchUpdate': 'spreadsheets',
	},
	name: 'Append',
	action: 'Append rows to spreadsheet',
	description: 'Add rows below a table. Items with the same target are sent together.',
	fields: appendFields,
	options: appendOptions,
	async execute(clients, params, item): Promise<Appended> {
		const [appended] = await appendRows(clients.sheets, [{ params, item }]);
		if (appended === undefined || isNodeError(appended)) throw appended ?? new Error('nothing was appended');
		return appended;
	},
	check(params, item) {
		if (hasNames(params)) namedRows(params, item);
		else rowCells(params);
	},
	combine: {
		key(params) {
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params), hasNames: hasNames(params) });
		},
		execute: async (clients, members) => await appendRows(clients.sheets, members),
	},
	recover(_clients, { spreadsheetId, tab, range }, failure) {
		const description = `They were not sent again, to avoid duplicates. Check below the table at ${sentTarget({ tab, range })} in ${spreadsheetUrl(spreadsheetId)} before you run this again.`;
		throw unknownOutcome(failure, 'The rows may have been appended', description);
	},
	errors: { 400: rangeAdvice },
});
