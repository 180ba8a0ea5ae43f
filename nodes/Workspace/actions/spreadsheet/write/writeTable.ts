import { isNodeError, createRefusal, type NodeError } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import { type Cell, toHeaderCell, collectNames, readNamedRows, buildUpdateCellsRequest } from '../cells';
import { formatDates, convertCells, toInputOption } from '../dates/dateCells';
import type { WriteMember, WriteParams } from '../fields';
import { buildColumnNames, type HeaderRow, fetchTable, addLetterColumns } from '../headerRow';
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
import { fetchTableBody } from './tableBody';

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
	const canGrow = fits && (target.tab === undefined || target.name === undefined);
	/** @returns whether the tab has grown */
	const growTab = async () => {
		const tab = await book.fetchTab(target.tab ?? target.name);
		const isInside = start.row < tab.rowCount && start.column < tab.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(tab, { rows, columns }) : [];
		await book.change(requests);
		return requests.length > 0;
	};
	return await book.sendForRange(target, async () => {
		// What fits into a new tab is sent without asking first.
		if (canGrow && (rows > newTabSize.rowCount || columns > newTabSize.columnCount)) await growTab();
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) && error.code === 400 && error.message.includes('exceeds grid limits');
			if (!isOverEdge || !canGrow || !(await growTab())) throw error;
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
		? await fetchTable(book, params, members, (inside) => ranges.parseBounds(inside).row + 1)
		: undefined;
	const memberRows = table?.memberRows ?? (await convertCells(book, params, members.map(readNamedRows)));
	const names = collectNames(memberRows.flat());
	const toRows = (columns: ReadonlyArray<string | undefined>) =>
		memberRows.map((rows) =>
			rows.map(({ cells }) =>
				columns.map((name): Cell => (name === undefined ? null : (cells.get(name) ?? null))),
			),
		);
	if (!table)
		return await writeConsecutiveRows(book, params, ranges.parseTarget(params), toRows(names), members);
	const { target, header: tableHeader } = table;
	const { columns, header } = layOutColumns(names, tableHeader, params);
	return await writeConsecutiveRows(book, params, target, toRows(columns), members, { header: [header] });
}

/** Gives each name a column, from the range's first one on. A column without a header keeps none: Read names it by its letter. */
function layOutColumns(names: readonly string[], tableHeader: HeaderRow, params: WriteParams) {
	const rangeTexts = tableHeader.texts.slice(tableHeader.rangeStart);
	const gapIndex = rangeTexts.indexOf('');
	const columnCount = Math.max(names.length, gapIndex === -1 ? rangeTexts.length : gapIndex);
	const headerTexts = Array.from({ length: columnCount }, (_, index) => rangeTexts[index] ?? '');
	const isNew = headerTexts.every((text) => text === '');
	const knownNames = buildColumnNames(headerTexts, tableHeader.rangeStart).map((name, index) => {
		if (isNew) return undefined;
		return names.includes(name)
			? name
			: names.find((other) => tableHeader.columns.get(other) === tableHeader.rangeStart + index);
	});
	const message = `The first row has the names ${listNames(headerTexts.filter((text) => text !== ''))}, but the items have ${listNames(names)}`;
	const advice = `Nothing was written. Set ${quoteField('writeMode')} to ${printChoice('writeMode', 'update')}, to find rows by ${quoteField('matchColumns')}, or to ${printChoice('writeMode', 'replace')}, to clear the old table.`;
	if (headerTexts.some((text, index) => text !== '' && knownNames[index] === undefined))
		throw createRefusal(message, advice);
	const newNames = names.filter((name) => !knownNames.includes(name));
	const columns = [
		...Array.from({ length: columnCount }, (_, index) => knownNames[index] ?? newNames.shift()),
		...newNames,
	];
	const headerCells = columns.map((name, index) =>
		name === undefined || knownNames[index] ? null : toHeaderCell(name, params),
	);
	return { columns, header: headerCells };
}

/**
 * Writes the rows of all members below one another.
 * @param header rows above them @param prepare is called before the first request, with the number of rows
 */
export async function writeConsecutiveRows(
	book: Spreadsheet,
	params: WriteParams,
	target: ranges.TabRange,
	rowsByMember: ReadonlyArray<Cell[][] | NodeError>,
	members: readonly WriteMember[],
	{ header = [], prepare }: { header?: Cell[][]; prepare?: (rowCount: number) => Promise<void> } = {},
) {
	const entries = spreadRefusals(rowsByMember, members, 'written');
	const allRows = [...header, ...entries.flatMap((rows) => (isNodeError(rows) ? [] : rows))];
	const size = { rows: allRows.length, columns: countColumns(allRows) };
	let nextRange: string | undefined;
	return await sendInChunks(entries, members, {
		verb: 'written',
		getRows: (rows) => rows,
		async send([firstRows = [], ...otherRows]) {
			if (nextRange === undefined) await prepare?.(size.rows);
			const headerRows = nextRange === undefined ? header : [];
			const range = nextRange ?? ranges.printRange(target);
			const values = [...headerRows, ...firstRows, ...otherRows.flat()];
			const response = await writeAndEnlarge(book, target, size, () =>
				book.update(range, values, toInputOption(params)),
			);
			const updatedRange = response.updatedRange ?? range;
			const [sentRange, answeredRange] = [ranges.parseRange(range), ranges.parseRange(updatedRange)];
			// Takes the place from Google's answer only for a named range: the answer begins at the first written cell, which null moves.
			const isPlaceKnown = sentRange.name === undefined || isNameOfTab(target, answeredRange);
			const { row, column } = ranges.parseBounds(isPlaceKnown ? sentRange : answeredRange);
			await formatDates(book, members[0], { title: answeredRange.tab }, [{ row, column, cells: values }]);
			nextRange = ranges.printAreaLike(updatedRange, { row: row + values.length, column }, 1, 1);
			// The header counts for the first item, if any of it was written.
			const ownHeader = headerRows.flat().some((cell) => cell !== null) ? headerRows : [];
			const start = { row: row + headerRows.length - ownHeader.length, column };
			return buildWriteResults(book.id, updatedRange, start, [[...ownHeader, ...firstRows], ...otherRows]);
		},
	});
}

/** Writes a header and rows over a table, and clears what it had beyond them, in one request: all of it is done or nothing. */
export async function replaceTable(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: sheetHeader, memberRows } = await fetchTable(book, params, members, (inside) =>
		Math.max(params.headerRow, ranges.parseBounds(inside).row + 1),
	);
	const names = collectNames(memberRows.flat());
	const header = addLetterColumns(sheetHeader, new Set(names));
	const { sheetId, title, row, nativeTable } = header;
	const columns = sortColumns(names, header);
	const lostFormulas = await findLostFormulas(book, header, names);
	const column = header.columns.size === 0 ? header.rangeStart : header.left;
	const headerRows = params.includeHeaderRow
		? [columns.map(({ text, value }) => value ?? (text === '' ? '' : toHeaderCell(text, params)))]
		: [];
	const rowsByMember = memberRows.map((rows) =>
		rows.map(({ cells }) => columns.map(({ name }): Cell => cells.get(name) ?? '')),
	);
	const valueInputOption = toInputOption(params);
	const allRows = [...headerRows, ...rowsByMember.flat()];
	const width = Math.max(columns.length, header.right - column + 1);
	const end = { endRowIndex: row + allRows.length, endColumnIndex: column + width };
	const requests = buildEnlargeTabRequests(header, { rows: end.endRowIndex, columns: end.endColumnIndex });
	if (nativeTable)
		requests.push(buildResizeTableRequest({ ...nativeTable, range: { ...nativeTable.range, ...end } }));
	if (valueInputOption === 'RAW') {
		const lastRow = Math.max(nativeTable?.range.endRowIndex ?? header.rowCount, end.endRowIndex);
		const range = { sheetId, startRowIndex: row, startColumnIndex: column, ...end, endRowIndex: lastRow };
		await book.change([...requests, buildUpdateCellsRequest({ range }, allRows)]);
	} else {
		await book.change(requests);
		// Sends empty cells for the cells to clear, because a request with values as typed changes only the cells it has.
		const allColumns = Array.from({ length: width }, (_, index) => column + index);
		const { lastRow } = await fetchTableBody(book, header, allColumns);
		const height = Math.max(allRows.length, lastRow - row + 1);
		const values = Array.from({ length: height }, (_, rowIndex) =>
			allColumns.map((_, columnIndex) => allRows[rowIndex]?.[columnIndex] ?? ''),
		);
		await book.update(ranges.printTabArea(title, { row, column }, height, width), values, valueInputOption);
	}
	await formatDates(book, members[0], header, [{ row, column, cells: allRows }]);
	const hint = `Columns with formulas were removed, because the items do not have them: ${listNames(lostFormulas)}. To get them back, open File > Version history in Google Sheets. To keep such columns, set ${quoteField('writeMode')} to ${printChoice('writeMode', 'update')}.`;
	if (lostFormulas.length > 0) members[0]?.item.addHint(hint);
	const [firstRows = [], ...otherRows] = rowsByMember;
	const range = ranges.printTabArea(title, { row, column }, 1, 1);
	return buildWriteResults(book.id, range, { row, column }, [[...headerRows, ...firstRows], ...otherRows]);
}

/** Names of the columns with formulas that a table loses when it gets other columns. */
async function findLostFormulas(book: Spreadsheet, header: HeaderRow, keptNames: readonly string[]) {
	const keptColumns = new Set(keptNames.map((name) => header.columns.get(name)));
	const lostColumns = [...header.columns].filter(
		([name, column]) => header.names.includes(name) && !keptColumns.has(column),
	);
	const columns = lostColumns.map(([, at]) => at);
	const body = await fetchTableBody(book, header, columns, 'FORMULA');
	const rows = Array.from({ length: body.lastRow - header.row }, (_, index) => header.row + 1 + index);
	const hasFormula = (column: number) =>
		rows.some((row) => String(body.getCell(row, column)).startsWith('='));
	return lostColumns.flatMap(([name, column]) => (hasFormula(column) ? name : []));
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
