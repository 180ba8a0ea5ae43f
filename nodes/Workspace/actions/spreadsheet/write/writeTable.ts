import { isNodeError, createRefusal, type NodeError } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import type { Cell, NamedRow } from '../cells';
import { toHeaderCell, collectNames, readNamedRows, buildUpdateCellsRequest } from '../cells';
import { formatDates, convertCells, toInputOption } from '../dates/dateCells';
import type { WriteMember, WriteParams } from '../fields';
import { buildColumnNames, type HeaderRow, fetchTable, addLetterColumns } from '../headerRow';
import { listNames } from '../names';
import * as ranges from '../range';
import { sendInChunks, spreadRefusals, countColumns, buildWriteResults } from '../sendRows';
import type { Spreadsheet } from '../spreadsheet';
import { buildEnlargeTabRequests, buildResizeTableRequest, isNameOfTab, newTabSize } from '../spreadsheet';
import { fetchTableBody } from './tableBody';

/**
 * Writes rows, and enlarges the tab first if the rows reach beyond its edge: Google would refuse them. Rows that begin beyond the edge
 * are still refused.
 * @param size rows and columns to write, from the target's first cell on
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
	// A named range has a fixed size.
	const canGrow = fits && (target.tab === undefined || target.name === undefined);
	/** Returns whether the tab has grown. */
	const growTab = async () => {
		const tab = await book.fetchTab(target.tab ?? target.name);
		const isInside = start.row < tab.rowCount && start.column < tab.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(tab, { rows, columns }) : [];
		await book.change(requests);
		return requests.length > 0;
	};
	return await book.sendForRange(target, async () => {
		// Rows that fit into a new tab are sent without asking for the tab's size first.
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
 * Writes the rows of all items below one another. Columns are in the order of the header. New columns follow in the order of the items.
 * @throws NodeError 400 if the first row has names that the items do not have
 */
export async function writeItems(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const table = params.includeHeaderRow
		? await fetchTable(book, params, members, (target) => ranges.parseBounds(target).row + 1)
		: undefined;
	const memberRows = table?.memberRows ?? (await convertCells(book, params, members.map(readNamedRows)));
	const names = collectNames(memberRows.flat());
	const getCell = ({ cells }: NamedRow, name: string | undefined) =>
		name === undefined ? null : (cells.get(name) ?? null);
	const toRows = (columns: ReadonlyArray<string | undefined>) =>
		memberRows.map((rows) => rows.map((row) => columns.map((name): Cell => getCell(row, name))));
	if (!table)
		return await writeConsecutiveRows(book, params, ranges.parseTarget(params), toRows(names), members);
	const { target, header: tableHeader } = table;
	const { columns, header } = layOutColumns(names, tableHeader, params);
	return await writeConsecutiveRows(book, params, target, toRows(columns), members, { header: [header] });
}

/** Gives each name a column, from the range's first column on. The header of a column that items name by its letter stays empty. */
function layOutColumns(names: readonly string[], header: HeaderRow, params: WriteParams) {
	const texts = header.texts.slice(header.rangeStart);
	const gapIndex = texts.indexOf('');
	const columnCount = Math.max(names.length, gapIndex === -1 ? texts.length : gapIndex);
	const headerTexts = Array.from({ length: columnCount }, (_, index) => texts[index] ?? '');
	const isNew = headerTexts.every((text) => text === '');
	const knownNames = buildColumnNames(headerTexts, header.rangeStart).map((name, index) => {
		if (isNew) return undefined;
		const isInColumn = (otherName: string) => header.columns.get(otherName) === header.rangeStart + index;
		return names.includes(name) ? name : names.find(isInColumn);
	});
	const message = `The first row has the names ${listNames(headerTexts.filter((text) => text !== ''))}, but the items have ${listNames(names)}`;
	const advice = `Nothing was written. Set ${quoteField('writeMode')} to ${printChoice('writeMode', 'update')}, to find rows by ${quoteField('matchColumns')}, or to ${printChoice('writeMode', 'replace')}, to clear the old table.`;
	const isUnknown = (text: string, index: number) => text !== '' && knownNames[index] === undefined;
	if (headerTexts.some(isUnknown)) throw createRefusal(message, advice);
	const newNames = names.filter((name) => !knownNames.includes(name));
	const columns = [...knownNames.map((name) => name ?? newNames.shift()), ...newNames];
	const headerCells = columns.map((name, index) =>
		name === undefined || knownNames[index] ? null : toHeaderCell(name, params),
	);
	return { columns, header: headerCells };
}

/**
 * Writes the rows of all members below one another.
 * @param header rows above the members' rows @param prepare called with the number of all rows before the first request
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
			// Google's answer begins at the first cell that is not null. So only the place of a named range is read from the answer.
			const isPlaceKnown = sentRange.name === undefined || isNameOfTab(target, answeredRange);
			const { row, column } = ranges.parseBounds(isPlaceKnown ? sentRange : answeredRange);
			await formatDates(book, members[0], { title: answeredRange.tab }, [{ row, column, cells: values }]);
			nextRange = ranges.printAreaLike(updatedRange, { row: row + values.length, column }, 1, 1);
			// A header counts as rows of the first item, if at least one of its cells was written.
			const ownHeader = headerRows.flat().some((cell) => cell !== null) ? headerRows : [];
			const start = { row: row + headerRows.length - ownHeader.length, column };
			return buildWriteResults(book.id, updatedRange, start, [[...ownHeader, ...firstRows], ...otherRows]);
		},
	});
}

/** Writes a header and rows over a table, and clears the other cells of the old table. Raw values need only one atomic request. */
export async function replaceTable(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { header: sheetHeader, memberRows } = await fetchTable(book, params, members, (target) =>
		Math.max(params.headerRow, ranges.parseBounds(target).row + 1),
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
	const tableRange = nativeTable && { ...nativeTable.range, ...end };
	if (tableRange) requests.push(buildResizeTableRequest({ ...nativeTable, range: tableRange }));
	if (valueInputOption === 'RAW') {
		const lastRow = Math.max(nativeTable?.range.endRowIndex ?? header.rowCount, end.endRowIndex);
		const range = { sheetId, startRowIndex: row, startColumnIndex: column, ...end, endRowIndex: lastRow };
		await book.change([...requests, buildUpdateCellsRequest({ range }, allRows)]);
	} else {
		await book.change(requests);
		// Sends empty texts for cells to clear: a request with values as typed changes only the cells that it contains.
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

/** Finds the names of the columns with formulas that a table loses, because the items do not have these columns. */
async function findLostFormulas(book: Spreadsheet, header: HeaderRow, keptNames: readonly string[]) {
	const keptColumns = new Set(keptNames.map((name) => header.columns.get(name)));
	const namedColumns = [...header.columns].filter(([name]) => header.names.includes(name));
	const lostColumns = namedColumns.filter(([, column]) => !keptColumns.has(column));
	const columns = lostColumns.map(([, column]) => column);
	const body = await fetchTableBody(book, header, columns, 'FORMULA');
	const rows = Array.from({ length: body.lastRow - header.row }, (_, index) => header.row + 1 + index);
	const isFormula = (cell: Cell) => String(cell).startsWith('=');
	const hasFormula = (column: number) => rows.some((row) => isFormula(body.getCell(row, column)));
	return lostColumns.flatMap(([name, column]) => (hasFormula(column) ? name : []));
}

/** Puts existing columns first, in the order of the table, and keeps their headers' texts, or values if they do not move. */
function sortColumns(names: readonly string[], { columns, texts, values, left }: HeaderRow) {
	return names
		.map((name) => ({ name, oldColumn: columns.get(name) ?? Infinity }))
		.sort((a, b) => a.oldColumn - b.oldColumn || 0)
		.map(({ name, oldColumn }, index) => {
			const value = oldColumn === left + index ? values[oldColumn] : undefined;
			return { name, value, text: oldColumn === Infinity ? name : (texts[oldColumn] ?? '') };
		});
}
