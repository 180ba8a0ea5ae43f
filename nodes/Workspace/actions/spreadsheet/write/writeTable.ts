import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, isNodeError, refusal } from '../../../../core/errors';
import { named } from '../../../../fields/field';
import type { Item } from '../../../operation';
import {
	type Cell,
	cellData,
	chunksOf,
	type Entering,
	headerCell,
	namedRows,
	namesIn,
	type Part,
	partWritten,
	Rows,
	widthOf,
	type Written,
} from '../cells';
import { entryFor } from '../dates';
import { list } from '../errors';
import type { WriteMember } from '../fields';
import { columnNames, type HeaderRow, tableOf, withLetters } from '../headerRow';
import {
	anchorOf,
	areaIn,
	areaLike,
	type Corner,
	parseRange,
	printRange,
	type TabRange,
	targetOf,
} from '../range';
import { findSheet, inTabs, isTabsName, resize, spreadsheetMutex } from '../sheets';
import { readBody } from './matchPlan';

/** Where rows go, and how far they reach: rows and columns counted from the sheet's first. */
interface Reach {
	readonly spreadsheetId: string;
	readonly target: TabRange;
	readonly item: Item;
	readonly start: Corner;
	readonly rows: number;
	readonly columns: number;
}

/** Google's size of a new tab: rows that fit into it are sent without asking first. */
const usual = { rows: 1000, columns: 26 };

/**
 * Writes rows, and adds the rows and columns that they need to the tab. Google refuses rows that reach beyond its edge; a refused request
 * wrote nothing. Rows that begin beyond the edge, or do not fit into the range itself, stay refused.
 */
export async function ensureGridSize<T>(
	sheets: sheets_v4.Sheets,
	reach: Reach,
	send: () => Promise<T>,
): Promise<T> {
	const { lastRow, lastColumn } = anchorOf(reach.target);
	const fits =
		(lastRow === undefined || reach.rows <= lastRow + 1) &&
		(lastColumn === undefined || reach.columns <= lastColumn + 1);
	// A named range inside a tab has its own bounds.
	const mayGrow = fits && !(reach.target.tab !== undefined && reach.target.name !== undefined);
	return await inTabs(sheets, reach, async () => {
		if (mayGrow && (reach.rows > usual.rows || reach.columns > usual.columns)) {
			await grow(sheets, reach);
			return await send();
		}
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) && error.code === 400 && error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await grow(sheets, reach))) throw error;
			return await send();
		});
	});
}

/** @returns whether the tab has grown */
async function grow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, start, rows, columns }: Reach,
): Promise<boolean> {
	const found = await findSheet(sheets, spreadsheetId, target.tab ?? target.name);
	if (start.row >= found.rowCount || start.column >= found.columnCount) return false;
	const missing = { ROWS: rows - found.rowCount, COLUMNS: columns - found.columnCount };
	const requests = Object.entries(missing).flatMap(([dimension, length]) =>
		length > 0 ? [{ appendDimension: { sheetId: found.sheetId, dimension, length } }] : [],
	);
	if (requests.length === 0) return false;
	await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	return true;
}

/**
 * Rows of all items in one block; each item gets its own part, the first one with the header. Columns are in the order of the header
 * that is there, then of first appearance.
 * @throws NodeError 400 where the first row has other names
 */
export async function writeItems(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Written[]> {
	const { params } = first;
	const items = members.flatMap(({ item, params }) => namedRows(params, item));
	const names = namesIn(items);
	const given = targetOf(params);
	if (!params.includeHeaderRow) {
		const parts = items.map(({ cells }) => ({ rows: [names.map((name): Cell => cells.get(name) ?? null)] }));
		return await writeBlock(sheets, first, { target: given, header: [], parts });
	}
	const { target, header: found } = await tableOf(
		sheets,
		params,
		first.item,
		(inside) => anchorOf(inside).row + 1,
	);
	const { columns, header } = laidOut(names, found.texts.slice(found.start), params);
	const parts = items.map(({ cells }) => ({
		rows: [columns.map((name): Cell => (name === undefined ? null : (cells.get(name) ?? null)))],
	}));
	return await writeBlock(sheets, first, { target, header: [header], parts });
}

/** @param texts of the row that the header goes to, from the first column on */
function laidOut(names: readonly string[], texts: readonly string[], params: Entering) {
	const gap = texts.indexOf('');
	const end = Math.max(names.length, gap === -1 ? texts.length : gap);
	const present = texts.slice(0, end);
	const found = columnNames(present, 0).map((name, at) => {
		if (present[at] === '') return undefined;
		return names.includes(name) ? name : names.find((one) => one === present[at]);
	});
	if (present.some((text, at) => text !== '' && found[at] === undefined)) throw otherNames(present, names);
	const added = names.filter((name) => !found.includes(name));
	const columns = Array.from({ length: end }, (_, at) => found[at] ?? added.shift());
	const header = columns.map((name, at) =>
		name === undefined || found[at] ? null : headerCell(name, params),
	);
	return {
		columns: [...columns, ...added],
		header: [...header, ...added.map((name) => headerCell(name, params))],
	};
}

function otherNames(present: readonly string[], names: readonly string[]) {
	return refusal(
		`The first row has the names ${list(present.filter((text) => text !== ''))}, but the items have ${list(names)}`,
		`Nothing was written. Set ${named('writeMode')} to update, to find rows by ${named('matchColumns')}, or to replace, to clear the old table.`,
	);
}

interface Block {
	readonly target: TabRange;
	/** Rows above those of the parts. */
	readonly header: Cell[][];
	readonly parts: readonly Part[];
}

/** Consecutive rows, in as few requests as Google recommends. */
export async function writeBlock(
	sheets: sheets_v4.Sheets,
	{ params, item }: WriteMember,
	{ target, header, parts }: Block,
): Promise<Written[]> {
	const { spreadsheetId } = params;
	const begin = anchorOf(target);
	const count = header.length + parts.reduce((sum, { rows }) => sum + rows.length, 0);
	const width = Math.max(widthOf(header), ...parts.map(({ rows }) => widthOf(rows)));
	const reach = {
		spreadsheetId,
		target,
		item,
		start: begin,
		rows: begin.row + count,
		columns: begin.column + width,
	};

	const results: Written[] = [];
	let range = printRange(target);
	for (const [at, chunk] of chunksOf(parts).entries()) {
		const above = at === 0 ? header : [];
		const plain = chunk.flatMap(({ rows }) => rows);
		const { valueInputOption, cell, text } = await entryFor(sheets, params, item, plain);
		const values = [...above.map((line) => line.map(text)), ...plain.map((line) => line.map(cell))];
		const update = { spreadsheetId, range, valueInputOption, requestBody: new Rows(values) };
		const { data } = await ensureGridSize(sheets, reach, () => sheets.spreadsheets.values.update(update));
		const updatedRange = data.updatedRange ?? range;
		const { row: begun, column } = startOf(range, target, updatedRange);
		let row = begun;
		for (const [position, { rows }] of chunk.entries()) {
			// The header counts as the first item's, where any of it was written.
			const isFirst = position === 0 && above.some((line) => line.some((cell) => cell !== null));
			if (position === 0 && !isFirst) row += above.length;
			const own = isFirst ? [...above, ...rows] : rows;
			results.push(partWritten(spreadsheetId, updatedRange, { row, column }, own));
			row += own.length;
		}
		range = areaLike(updatedRange, { row, column }, 1, 1);
	}
	return results;
}

/** Google's answer begins at the first cell that was written: null in the first column moves it. Only a named range is not known before. */
function startOf(range: string, target: TabRange, updatedRange: string): Corner {
	const sent = parseRange(range);
	const answered = parseRange(updatedRange);
	const isKnown = sent.name === undefined || isTabsName(target, answered);
	return anchorOf(isKnown ? sent : answered);
}

/** What a table is replaced by. */
interface Replacement {
	readonly sheet: HeaderRow;
	/** Of its first cell, from 0. */
	readonly row: number;
	readonly column: number;
	readonly width: number;
	/** None where there is to be none. */
	readonly header: readonly Cell[][];
	readonly rows: readonly Cell[][];
}

/** Writes a header and rows over a table, and clears what it had beyond them, in one request: all of it is done or nothing. */
export async function replaceTable(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<Written | NodeError>> {
	return await spreadsheetMutex.run(first.params.spreadsheetId, () => replaceNow(sheets, first, members));
}

async function replaceNow(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<Written | NodeError>> {
	const { params, item } = first;
	const { spreadsheetId } = params;
	const given = members.map(({ params, item }) => namedRows(params, item));
	const names = namesIn(given.flat());
	const { header: read } = await tableOf(sheets, params, item, (inside) =>
		Math.max(params.headerRow, anchorOf(inside).row + 1),
	);
	const sheet = withLetters(read, new Set(names));
	const columns = inOrder(names, sheet);
	const header = params.includeHeaderRow
		? [columns.map(({ name, text }) => (text === '' ? '' : headerCell(text ?? name, params)))]
		: [];
	const parts = given.map((rows) => ({
		rows: rows.map(({ cells }) => columns.map(({ name }): Cell => cells.get(name) ?? '')),
	}));
	const column = sheet.columns.size === 0 ? sheet.start : sheet.left;
	const width = Math.max(columns.length, sheet.columns.size === 0 ? 0 : sheet.right - column + 1);
	const rows = parts.flatMap((part) => part.rows);
	await send(sheets, first, { sheet, row: sheet.row, column, width, header, rows });
	const range = areaIn(sheet.title, { row: sheet.row, column }, 1, 1);
	let { row } = sheet;
	return parts.map(({ rows }, at) => {
		const own = at === 0 ? [...header, ...rows] : rows;
		const start = { row, column };
		row += own.length;
		return partWritten(spreadsheetId, range, start, own);
	});
}

/** Columns that stay are in the order of the old header and keep its texts; the others follow. */
function inOrder(names: readonly string[], { columns, texts }: HeaderRow) {
	const known = names.filter((name) => columns.has(name));
	const stays = known
		.map((name) => ({ name, at: columns.get(name) ?? 0 }))
		.sort((a, b) => a.at - b.at)
		.map(({ name, at }) => ({ name, text: texts[at] ?? '' }));
	const added = names.filter((name) => !columns.has(name)).map((name) => ({ name, text: undefined }));
	return [...stays, ...added];
}

async function send(
	sheets: sheets_v4.Sheets,
	{ params, item }: WriteMember,
	{ sheet, row, column, width, header, rows: plain }: Replacement,
): Promise<void> {
	const { spreadsheetId } = params;
	const { valueInputOption, cell, text } = await entryFor(sheets, params, item, plain);
	const cells = [...header.map((line) => line.map(text)), ...plain.map((line) => line.map(cell))];
	const { sheetId, native } = sheet;
	const growth = {
		ROWS: row + cells.length - sheet.rowCount,
		COLUMNS: column + width - sheet.columnCount,
	};
	const requests: sheets_v4.Schema$Request[] = Object.entries(growth).flatMap(([dimension, length]) =>
		length > 0 ? [{ appendDimension: { sheetId, dimension, length } }] : [],
	);
	if (native) requests.push(resize({ ...native, endRow: row + cells.length, endColumn: column + width }));
	if (valueInputOption === 'RAW') {
		const range = {
			...{ sheetId, startRowIndex: row, startColumnIndex: column, endColumnIndex: column + width },
			endRowIndex: Math.max(native?.endRow ?? sheet.rowCount, row + cells.length),
		};
		const rows = cells.map((line) => ({ values: line.map(cellData) }));
		requests.push({ updateCells: { range, rows, fields: 'userEnteredValue' } });
	}
	if (requests.length > 0)
		await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	if (valueInputOption === 'RAW') return;
	// What is to be taken as typed cannot clear beyond its own cells: empty ones are sent for them.
	const columns = Array.from({ length: width }, (_, at) => column + at);
	const asked = {
		spreadsheetId,
		headerRow: row + 1,
		columns,
		valueRenderOption: 'UNFORMATTED_VALUE',
	} as const;
	const { last } = await readBody(sheets, sheet, asked);
	const empty = (length: number) => Array.from({ length }, () => '');
	const rows = cells.map((line) => [...line, ...empty(width - line.length)]);
	const rest = Array.from({ length: Math.max(0, last - row + 1 - rows.length) }, () => empty(width));
	await sheets.spreadsheets.values.update({
		spreadsheetId,
		range: areaIn(sheet.title, { row, column }, rows.length + rest.length, width),
		valueInputOption,
		requestBody: new Rows([...rows, ...rest]),
	});
}
