import { isNodeError, createRefusal, type NodeError } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Cell, NamedRow } from '../cells';
import { toHeaderCell, collectNames, readNamedRows, buildUpdateCellsRequest } from '../cells';
import { formatDates, convertCells, toInputOption } from '../dates/dateCells';
import type { WriteMembers, WriteParams } from '../fields';
import { buildColumnNames, type TableHeader, fetchTable, addLetterColumnsAfterHeader } from '../tableHeader';
import { listNames } from '../names';
import * as ranges from '../range';
import { sendInChunks, failStoppedRuns, countColumns, buildWriteResults } from '../sendRows';
import type { Spreadsheet } from '../spreadsheet';
import { buildEnlargeTabRequests, buildResizeTableRequest, isNameOfTab, newTabSize } from '../spreadsheet';
import { fetchTableBody } from './tableBody';

/** Calls `send`, which writes cells of this size. Enlarges the tab if they begin inside it and reach beyond its edge. */
async function writeAndEnlarge<T>(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	size: { readonly rowCount: number; readonly columnCount: number },
	send: () => Promise<T>,
): Promise<T> {
	const start = ranges.parseBounds(target);
	const [minRows, minColumns] = [start.row + size.rowCount, start.column + size.columnCount];
	const { lastRow = Infinity, lastColumn = Infinity } = start;
	const fitsIntoRange = minRows <= lastRow + 1 && minColumns <= lastColumn + 1;
	// A named range has a fixed size.
	const mayGrow = fitsIntoRange && (target.tab === undefined || target.name === undefined);
	/** Returns whether the tab has grown. */
	const growTab = async () => {
		const tab = await spreadsheet.fetchTabInfo(target.tab ?? target.name);
		const isInside = start.row < tab.rowCount && start.column < tab.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(tab, { minRows, minColumns }) : [];
		await spreadsheet.change(requests);
		return requests.length > 0;
	};
	return await spreadsheet.sendForRange(target, async () => {
		// Most tabs have at least the size of a new tab. The size is only fetched if more is needed, or if Google refuses the cells.
		if (mayGrow && (minRows > newTabSize.rowCount || minColumns > newTabSize.columnCount)) await growTab();
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) && error.code === 400 && error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await growTab())) throw error;
			return await send();
		});
	});
}

/** Writes all items below one another, with the header's columns first. @throws NodeError 400 if items lack a name of the header */
export async function writeItemTable(spreadsheet: Spreadsheet, params: WriteParams, members: WriteMembers) {
	if (!params.includeHeaderRow) {
		const namedRows = await convertCells(spreadsheet, params, members.map(readNamedRows));
		const names = collectNames(namedRows.flat());
		const rowsByMember = namedRows.map((rows) => rows.map((row) => orderCells(row, names, null)));
		return await writeRowsAt(spreadsheet, params, ranges.parseTarget(params), rowsByMember, members);
	}
	const getRowNumber = (range: ranges.TabRange) => ranges.parseBounds(range).row + 1;
	const { target, header, ...table } = await fetchTable(spreadsheet, params, members, getRowNumber);
	const namedRows = table.namedRowsByMember;
	const { columnNames, headerCells } = layOutColumns(collectNames(namedRows.flat()), header, params);
	const rowsByMember = namedRows.map((rows) => rows.map((row) => orderCells(row, columnNames, null)));
	return await writeRowsAt(spreadsheet, params, target, rowsByMember, members, { headerRows: [headerCells] });
}

/** Puts the cells of a row into the order of columns. @param missingCell stands for a cell that the row does not have */
function orderCells({ cellsByName }: NamedRow, names: ReadonlyArray<string | undefined>, missingCell: Cell) {
	return names.map((name) => (name === undefined ? null : cellsByName.get(name)) ?? missingCell);
}

/** Gives each name a column of the range, and new columns a header. `headerCells` has null for a header that does not change. */
function layOutColumns(names: readonly string[], header: TableHeader, params: WriteParams) {
	const texts = header.rowTexts.slice(header.rangeStart);
	const gapIndex = texts.indexOf('');
	const columnCount = Math.max(names.length, gapIndex === -1 ? texts.length : gapIndex);
	const headerTexts = Array.from({ length: columnCount }, (_, index) => texts[index] ?? '');
	const isHeaderNew = headerTexts.every((text) => text === '');
	const knownNames = buildColumnNames(headerTexts, header.rangeStart).map((name, index) => {
		if (isHeaderNew) return undefined;
		const isInColumn = (itemName: string) => header.columns.get(itemName) === header.rangeStart + index;
		return names.includes(name) ? name : names.find(isInColumn);
	});
	const message = `The first row has the names ${listNames(headerTexts.filter((text) => text !== ''))}, but the items have ${listNames(names)}`;
	const advice = `Nothing was written. Set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'update')}, to find rows by ${quoteField('matchColumns')}, or to ${mentionChoice('writeMode', 'replace')}, to clear the old table.`;
	const isUnknown = (text: string, index: number) => text !== '' && knownNames[index] === undefined;
	if (headerTexts.some(isUnknown)) throw createRefusal(message, advice);
	const newNames = names.filter((name) => !knownNames.includes(name));
	// New names first get the columns of the range that have no name yet.
	const namesInRange = knownNames.map((name) => name ?? newNames.shift());
	const columnNames = [...namesInRange, ...newNames];
	const headerCells = columnNames.map((name, index) =>
		name === undefined || knownNames[index] ? null : toHeaderCell(name, params),
	);
	return { columnNames, headerCells };
}

/** Writes the rows of all members below one another. `prepare` is called before the first request, with the number of all rows. */
export async function writeRowsAt(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	target: ranges.TabRange,
	rowsByMember: ReadonlyArray<Cell[][] | NodeError>,
	members: WriteMembers,
	{ headerRows = [], prepare }: { headerRows?: Cell[][]; prepare?: (rowCount: number) => Promise<void> } = {},
) {
	const entries = failStoppedRuns(rowsByMember, members, 'written');
	const allRows = [...headerRows, ...entries.flatMap((rows) => (isNodeError(rows) ? [] : rows))];
	const size = { rowCount: allRows.length, columnCount: countColumns(allRows) };
	let nextRange: string | undefined;
	return await sendInChunks(entries, members, {
		participle: 'written',
		getRows: (rows) => rows,
		async send([firstRows = [], ...otherRows]) {
			if (nextRange === undefined) await prepare?.(size.rowCount);
			const topRows = nextRange === undefined ? headerRows : [];
			const range = nextRange ?? ranges.printRange(target);
			const values = [...topRows, ...firstRows, ...otherRows.flat()];
			const response = await writeAndEnlarge(spreadsheet, target, size, () =>
				spreadsheet.update(range, values, toInputOption(params)),
			);
			const updatedRange = response.updatedRange ?? range;
			const [sent, updated] = [ranges.parseRange(range), ranges.parseRange(updatedRange)];
			// Only Google's response tells the place of a named range. For cells, it may begin too late: at the first one that is not null.
			const isNamedRange = sent.name !== undefined && !isNameOfTab(target, updated);
			const { row, column } = ranges.parseBounds(isNamedRange ? updated : sent);
			await formatDates(spreadsheet, members[0], { title: updated.tab }, [{ row, column, grid: values }]);
			nextRange = ranges.printAreaLike(updatedRange, { row: row + values.length, column }, 1, 1);
			// A header counts as a row of the first member, if at least one of its cells was written.
			const writtenTopRows = topRows.flat().some((cell) => cell !== null) ? topRows : [];
			const start = { row: row + topRows.length - writtenTopRows.length, column };
			const firstWrittenRows = [...writtenTopRows, ...firstRows];
			return buildWriteResults(spreadsheet.id, updatedRange, start, [firstWrittenRows, ...otherRows]);
		},
	});
}

/** Writes a header and rows over a table, and clears its other cells. Needs one atomic request, or two with USER_ENTERED. */
export async function replaceTable(spreadsheet: Spreadsheet, params: WriteParams, members: WriteMembers) {
	const { header: oldHeader, namedRowsByMember } = await fetchTable(spreadsheet, params, members, (target) =>
		Math.max(params.headerRow, ranges.parseBounds(target).row + 1),
	);
	const names = collectNames(namedRowsByMember.flat());
	const header = addLetterColumnsAfterHeader(oldHeader, new Set(names));
	const { sheetId, title, row, nativeTable } = header;
	const columns = sortColumns(names, header);
	const lostFormulaColumns = await findLostFormulaColumns(spreadsheet, header, names);
	// Without a header in the range, `left` may be in a table beside it.
	const column = header.columns.size === 0 ? header.rangeStart : header.left;
	const headerRow = columns.map(({ text, value }) => value ?? (text && toHeaderCell(text, params)));
	const headerRows = params.includeHeaderRow ? [headerRow] : [];
	const columnNames = columns.map(({ name }) => name);
	const rowsByMember = namedRowsByMember.map((rows) => rows.map((row) => orderCells(row, columnNames, '')));
	const valueInputOption = toInputOption(params);
	const allRows = [...headerRows, ...rowsByMember.flat()];
	const width = Math.max(columns.length, header.right - column + 1);
	const [minRows, minColumns] = [row + allRows.length, column + width];
	const end = { endRowIndex: minRows, endColumnIndex: minColumns };
	const requests = buildEnlargeTabRequests(header, { minRows, minColumns });
	if (nativeTable)
		requests.push(buildResizeTableRequest({ ...nativeTable, range: { ...nativeTable.range, ...end } }));
	if (valueInputOption === 'RAW') {
		// The request clears the cells of its range for which there is no new cell.
		const endRowIndex = Math.max(nativeTable?.range.endRowIndex ?? header.rowCount, minRows);
		const range = { sheetId, startRowIndex: row, startColumnIndex: column, ...end, endRowIndex };
		await spreadsheet.change([...requests, buildUpdateCellsRequest({ range }, allRows)]);
	} else {
		await spreadsheet.change(requests);
		const allColumns = Array.from({ length: width }, (_, index) => column + index);
		const { lastRow } = await fetchTableBody(spreadsheet, header, allColumns);
		const height = Math.max(allRows.length, lastRow - row + 1);
		// Sends an empty text for each cell to clear, because `update` changes only the cells that it contains.
		const values = Array.from({ length: height }, (_, rowIndex) =>
			allColumns.map((_, columnIndex) => allRows[rowIndex]?.[columnIndex] ?? ''),
		);
		const area = ranges.printTabArea(title, { row, column }, height, width);
		await spreadsheet.update(area, values, valueInputOption);
	}
	await formatDates(spreadsheet, members[0], header, [{ row, column, grid: allRows }]);
	const hint = `Columns with formulas were removed, because the items do not have them: ${listNames(lostFormulaColumns)}. To get them back, open File > Version history in Google Sheets. To keep such columns, set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'update')}.`;
	if (lostFormulaColumns.length > 0) members[0]?.item.addHint(hint);
	const [firstRows = [], ...otherRows] = rowsByMember;
	const range = ranges.printTabArea(title, { row, column }, 1, 1);
	const writtenRows = [[...headerRows, ...firstRows], ...otherRows];
	return buildWriteResults(spreadsheet.id, range, { row, column }, writtenRows);
}

/** Returns the names of the columns with formulas that a table loses, because the items do not have these columns. */
async function findLostFormulaColumns(spreadsheet: Spreadsheet, header: TableHeader, keptNames: string[]) {
	const keptColumns = new Set(keptNames.map((name) => header.columns.get(name)));
	const namedColumns = [...header.columns].filter(([name]) => header.names.includes(name));
	const lostColumns = namedColumns.filter(([, column]) => !keptColumns.has(column));
	const columns = lostColumns.map(([, column]) => column);
	const body = await fetchTableBody(spreadsheet, header, columns, 'FORMULA');
	const rows = Array.from({ length: body.lastRow - header.row }, (_, index) => header.row + 1 + index);
	const isFormula = (cell: Cell) => String(cell).startsWith('=');
	const hasFormula = (column: number) => rows.some((row) => isFormula(body.getCell(row, column)));
	return lostColumns.flatMap(([name, column]) => (hasFormula(column) ? name : []));
}

/** Puts existing columns first, in the order of the table. A header keeps its text, and in its old place also a value such as a date. */
function sortColumns(names: readonly string[], { columns, rowTexts, rowValues, left }: TableHeader) {
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => columns.get(name) ?? Number.MAX_SAFE_INTEGER;
	return names
		.toSorted((name, otherName) => getRank(name) - getRank(otherName))
		.map((name, index) => {
			const oldColumn = columns.get(name);
			if (oldColumn === undefined) return { name, value: undefined, text: name };
			const value = oldColumn === left + index ? rowValues[oldColumn] : undefined;
			return { name, value, text: rowTexts[oldColumn] ?? '' };
		});
}
