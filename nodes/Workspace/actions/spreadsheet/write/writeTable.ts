import { isNodeError, createRefusal, type NodeError } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import { type Cell, toHeaderCell, collectNames, readNamedRows, buildUpdateCellsRequest } from '../cells';
import { formatDates, convertCells, toInputOption } from '../dates/dateCells';
import type { WriteMember, WriteParams } from '../fields';
import { buildColumnNames, type HeaderRow, findTable, addLetterColumns } from '../headerRow';
import { listNames } from '../names';
import * as ranges from '../range';
import { sendInChunks, spreadRefusals, countColumns, buildWriteResults } from '../sendRows';
import {
	buildEnlargeTabRequests,
	isNameOfTab,
	newTabSize,
	buildResizeTableRequest,
	type Spreadsheet,
} from '../spreadsheet';
import { readTableBody } from './tableBody';

/**
 * Writes rows, and enlarges the tab if they reach beyond its edge, where Google refuses them. Rows that begin beyond it stay refused.
 * @param size of what is written, from the target's first cell on
 */
async function writeAndEnlarge<T>(
	book: Spreadsheet,
	target: ranges.TabRange,
	size: { readonly rows: number; readonly columns: number },
	send: () => Promise<T>,
): Promise<T> {
	const start = ranges.parseBounds(target);
	const [rows, columns] = [start.row + size.rows, start.column + size.columns];
	const fits = rows <= (start.lastRow ?? Infinity) + 1 && columns <= (start.lastColumn ?? Infinity) + 1;
	// A named range inside a tab has its own bounds.
	const mayGrow = fits && (target.tab === undefined || target.name === undefined);
	/** @returns whether the tab has grown */
	const grow = async () => {
		const found = await book.findSheet(target.tab ?? target.name);
		const isInside = start.row < found.rowCount && start.column < found.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(found, { rows, columns }) : [];
		await book.change(requests);
		return requests.length > 0;
	};
	return await book.sendForRange(target, async () => {
		// What fits into a new tab is sent without asking first.
		if (mayGrow && (rows > newTabSize.rowCount || columns > newTabSize.columnCount)) await grow();
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) && error.code === 400 && error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await grow())) throw error;
			return await send();
		});
	});
}

/**
 * Writes the rows of all items below one another, with columns in the order of the header, then of first appearance.
 * @throws NodeError 400 where the first row has other names
 */
export async function writeItems(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const table = params.includeHeaderRow
		? await findTable(book, params, members, (inside) => ranges.parseBounds(inside).row + 1)
		: undefined;
	const given = table?.given ?? (await convertCells(book, params, members.map(readNamedRows)));
	const names = collectNames(given.flat());
	const toRows = (columns: ReadonlyArray<string | undefined>) =>
		given.map((rows) =>
			rows.map(({ cells }) =>
				columns.map((name): Cell => (name === undefined ? null : (cells.get(name) ?? null))),
			),
		);
	if (!table)
		return await writeConsecutiveRows(book, params, ranges.parseTarget(params), toRows(names), members);
	const { target, header: found } = table;
	const { columns, header } = layOutColumns(names, found, params);
	return await writeConsecutiveRows(book, params, target, toRows(columns), members, { header: [header] });
}

/** Gives each name a column, from the range's first one on. A column without a header keeps none: Read names it by its letter. */
function layOutColumns(names: readonly string[], found: HeaderRow, params: WriteParams) {
	const texts = found.texts.slice(found.start);
	const gap = texts.indexOf('');
	const end = Math.max(names.length, gap === -1 ? texts.length : gap);
	const present = Array.from({ length: end }, (_, at) => texts[at] ?? '');
	const isNew = present.every((text) => text === '');
	const known = buildColumnNames(present, found.start).map((name, at) => {
		if (isNew) return undefined;
		return names.includes(name) ? name : names.find((one) => found.columns.get(one) === found.start + at);
	});
	const differ = `The first row has the names ${listNames(present.filter((text) => text !== ''))}, but the items have ${listNames(names)}`;
	const advice = `Nothing was written. Set ${quoteField('writeMode')} to ${printChoice('writeMode', 'update')}, to find rows by ${quoteField('matchColumns')}, or to ${printChoice('writeMode', 'replace')}, to clear the old table.`;
	if (present.some((text, at) => text !== '' && known[at] === undefined)) throw createRefusal(differ, advice);
	const added = names.filter((name) => !known.includes(name));
	const columns = [...Array.from({ length: end }, (_, at) => known[at] ?? added.shift()), ...added];
	const header = columns.map((name, at) =>
		name === undefined || known[at] ? null : toHeaderCell(name, params),
	);
	return { columns, header };
}

/**
 * Writes the rows of all members below one another.
 * @param header rows above them @param prepare is called before the first request, with the number of rows
 */
export async function writeConsecutiveRows(
	book: Spreadsheet,
	params: WriteParams,
	target: ranges.TabRange,
	given: ReadonlyArray<Cell[][] | NodeError>,
	members: readonly WriteMember[],
	{ header = [], prepare }: { header?: Cell[][]; prepare?: (rows: number) => Promise<void> } = {},
) {
	const entries = spreadRefusals(given, members, 'written');
	const all = [...header, ...entries.flatMap((rows) => (isNodeError(rows) ? [] : rows))];
	const size = { rows: all.length, columns: countColumns(all) };
	let next: string | undefined;
	return await sendInChunks(entries, members, {
		done: 'written',
		getRows: (rows) => rows,
		async send([first = [], ...others]) {
			if (next === undefined) await prepare?.(size.rows);
			const above = next === undefined ? header : [];
			const range = next ?? ranges.printRange(target);
			const values = [...above, ...first, ...others.flat()];
			const answer = await writeAndEnlarge(book, target, size, () =>
				book.update(range, values, toInputOption(params)),
			);
			const updatedRange = answer.updatedRange ?? range;
			const [sent, answered] = [ranges.parseRange(range), ranges.parseRange(updatedRange)];
			// Takes the place from Google's answer only for a named range: the answer begins at the first written cell, which null moves.
			const isKnown = sent.name === undefined || isNameOfTab(target, answered);
			const { row, column } = ranges.parseBounds(isKnown ? sent : answered);
			await formatDates(book, members[0], { title: answered.tab }, [{ row, column, cells: values }]);
			next = ranges.printAreaLike(updatedRange, { row: row + values.length, column }, 1, 1);
			// The header counts for the first item, if any of it was written.
			const own = above.flat().some((cell) => cell !== null) ? above : [];
			const start = { row: row + above.length - own.length, column };
			return buildWriteResults(book.id, updatedRange, start, [[...own, ...first], ...others]);
		},
	});
}

/** Writes a header and rows over a table, and clears what it had beyond them, in one request: all of it is done or nothing. */
export async function replaceTable(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: read, given } = await findTable(book, params, members, (inside) =>
		Math.max(params.headerRow, ranges.parseBounds(inside).row + 1),
	);
	const names = collectNames(given.flat());
	const sheet = addLetterColumns(read, new Set(names));
	const { sheetId, title, row, native } = sheet;
	const columns = sortColumns(names, sheet);
	const lostFormulas = await findLostFormulas(book, sheet, names);
	const column = sheet.columns.size === 0 ? sheet.start : sheet.left;
	const header = params.includeHeaderRow
		? [columns.map(({ text, value }) => value ?? (text === '' ? '' : toHeaderCell(text, params)))]
		: [];
	const parts = given.map((rows) =>
		rows.map(({ cells }) => columns.map(({ name }): Cell => cells.get(name) ?? '')),
	);
	const valueInputOption = toInputOption(params);
	const lines = [...header, ...parts.flat()];
	const width = Math.max(columns.length, sheet.right - column + 1);
	const end = { endRowIndex: row + lines.length, endColumnIndex: column + width };
	const requests = buildEnlargeTabRequests(sheet, { rows: end.endRowIndex, columns: end.endColumnIndex });
	if (native) requests.push(buildResizeTableRequest({ ...native, range: { ...native.range, ...end } }));
	if (valueInputOption === 'RAW') {
		const lastRow = Math.max(native?.range.endRowIndex ?? sheet.rowCount, end.endRowIndex);
		const range = { sheetId, startRowIndex: row, startColumnIndex: column, ...end, endRowIndex: lastRow };
		await book.change([...requests, buildUpdateCellsRequest({ range }, lines)]);
	} else {
		await book.change(requests);
		// Sends empty cells for the cells to clear, because a request with values as typed changes only the cells it has.
		const all = Array.from({ length: width }, (_, at) => column + at);
		const { last } = await readTableBody(book, sheet, all);
		const height = Math.max(lines.length, last - row + 1);
		const values = Array.from({ length: height }, (_, line) => all.map((_, at) => lines[line]?.[at] ?? ''));
		await book.update(ranges.printTabArea(title, { row, column }, height, width), values, valueInputOption);
	}
	await formatDates(book, members[0], sheet, [{ row, column, cells: lines }]);
	const hint = `Columns with formulas were removed, because the items do not have them: ${listNames(lostFormulas)}. To get them back, open File > Version history in Google Sheets. To keep such columns, set ${quoteField('writeMode')} to ${printChoice('writeMode', 'update')}.`;
	if (lostFormulas.length > 0) members[0]?.item.addHint(hint);
	const [first = [], ...others] = parts;
	const range = ranges.printTabArea(title, { row, column }, 1, 1);
	return buildWriteResults(book.id, range, { row, column }, [[...header, ...first], ...others]);
}

/** Names of the columns with formulas that a table loses when it gets other columns. */
async function findLostFormulas(book: Spreadsheet, sheet: HeaderRow, kept: readonly string[]) {
	const places = new Set(kept.map((name) => sheet.columns.get(name)));
	const lost = [...sheet.columns].filter(([name, at]) => sheet.names.includes(name) && !places.has(at));
	const positions = lost.map(([, at]) => at);
	const body = await readTableBody(book, sheet, positions, 'FORMULA');
	const rows = Array.from({ length: body.last - sheet.row }, (_, at) => sheet.row + 1 + at);
	const hasFormula = (at: number) => rows.some((row) => String(body.at(row, at)).startsWith('='));
	return lost.flatMap(([name, at]) => (hasFormula(at) ? name : []));
}

/** Sorts columns: those that stay keep their order and their header's text, or its number if the column does not move. New ones follow. */
function sortColumns(names: readonly string[], { columns, texts, values, left }: HeaderRow) {
	return names
		.map((name) => ({ name, at: columns.get(name) ?? Infinity }))
		.sort((a, b) => a.at - b.at || 0)
		.map(({ name, at }, index) => {
			const value = at === left + index ? values[at] : undefined;
			return { name, value, text: at === Infinity ? name : (texts[at] ?? '') };
		});
}
