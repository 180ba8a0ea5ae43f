import { isNodeError, createRefusal, type NodeError } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Cell, NamedRow } from '../cells';
import { toHeaderCell, collectNames, readNamedRows, buildUpdateCellsRequest } from '../cells';
import { type CellRectangle, formatDates, convertCells, toInputOption } from '../dates/dateCells';
import type { WriteMembers, WriteParams } from '../fields';
import {
	buildColumnNames,
	type TableHeader,
	fetchTable,
	addLetterColumnsAfterHeader,
} from '../tableHeader';
import { listNames } from '../names';
import * as ranges from '../range';
import {
	countColumns,
	buildWriteResults,
	type SharedPlan,
	type SheetWriteResult,
} from '../sendRows';
import type { Spreadsheet } from '../spreadsheet';
import {
	buildEnlargeTabRequests,
	buildResizeTableRequest,
	isNameOfTab,
	newTabSize,
} from '../spreadsheet';
import { fetchTableBody } from './tableBody';

/** Calls `send`, which writes cells of this size. Enlarges the tab if they begin inside it and reach beyond its edge. */
async function writeAndEnlarge<T>(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	size: { readonly rowCount: number; readonly columnCount: number },
	send: () => Promise<T>,
): Promise<T> {
	const { row, column, lastRow = Infinity, lastColumn = Infinity } = ranges.parseBounds(target);
	const [minRows, minColumns] = [row + size.rowCount, column + size.columnCount];
	const fitsIntoRange = minRows <= lastRow + 1 && minColumns <= lastColumn + 1;
	// A named range has a fixed size.
	const mayGrow = fitsIntoRange && (target.tab === undefined || target.name === undefined);
	/** Returns whether the tab has grown. */
	const growTab = async () => {
		const tab = await spreadsheet.fetchTabInfo(target.tab ?? target.name);
		const isInside = row < tab.rowCount && column < tab.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(tab, { minRows, minColumns }) : [];
		await spreadsheet.change(requests);
		return requests.length > 0;
	};
	return await spreadsheet.sendForRange(target, async () => {
		// Most tabs have at least the size of a new tab. The size is only fetched if more is needed, or if Google refuses the cells.
		if (mayGrow && (minRows > newTabSize.rowCount || minColumns > newTabSize.columnCount))
			await growTab();
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) &&
				error.code === 400 &&
				error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await growTab())) throw error;
			return await send();
		});
	});
}

/** Writes all items below one another, with the header's columns first. @throws NodeError 400 if items lack a name of the header */
export async function planItemTable(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	members: WriteMembers,
) {
	if (!params.includeHeaderRow) {
		const namedRows = await convertCells(spreadsheet, params, members.map(readNamedRows));
		const names = collectNames(namedRows.flat());
		const rowsByMember = namedRows.map((rows) => orderCells(rows, names, null));
		return planRowsAt(spreadsheet, params, ranges.parseTarget(params), rowsByMember, members);
	}
	const getRowNumber = (target: ranges.TabRange) => ranges.parseBounds(target).row + 1;
	const { target, header, namedRowsByMember } = await fetchTable(
		spreadsheet,
		params,
		members,
		getRowNumber,
	);
	const { columnNames, headerCells } = layOutColumns(
		collectNames(namedRowsByMember.flat()),
		header,
		params,
	);
	const rowsByMember = namedRowsByMember.map((rows) => orderCells(rows, columnNames, null));
	return planRowsAt(spreadsheet, params, target, rowsByMember, members, {
		headerRows: [headerCells],
	});
}

/** Puts the cells of rows into the order of columns. @param missingCell stands for a cell that a row does not have */
function orderCells(
	rows: readonly NamedRow[],
	names: ReadonlyArray<string | undefined>,
	missingCell: Cell,
) {
	return rows.map(({ cellsByName }) =>
		names.map((name) =>
			name === undefined ? missingCell : (cellsByName.get(name) ?? missingCell),
		),
	);
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
		const column = header.rangeStart + index;
		return names.includes(name)
			? name
			: names.find((other) => header.columnsByName.get(other) === column);
	});
	const isUnknown = (text: string, index: number) =>
		text !== '' && knownNames[index] === undefined;
	if (headerTexts.some(isUnknown))
		throw createRefusal(
			`The first row has the names ${listNames(headerTexts.filter((text) => text !== ''))}, but the items have ${listNames(names)}`,
			`Nothing was written. Set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'update')}, to find rows by ${quoteField('matchColumns')}, or to ${mentionChoice('writeMode', 'replace')}, to clear the old table.`,
		);
	const newNames = names.filter((name) => !knownNames.includes(name));
	// New names first get the columns of the range that have no name yet.
	const namesInRange = knownNames.map((name) => name ?? newNames.shift());
	const columnNames = [...namesInRange, ...newNames];
	const headerCells = columnNames.map((name, index) =>
		name === undefined || knownNames[index] ? null : toHeaderCell(name, params),
	);
	return { columnNames, headerCells };
}

/** Puts header rows in front of the first member's rows. */
const putHeaderFirst = (headerRows: Cell[][], rowLists: readonly Cell[][][]) =>
	rowLists.map((rows, index) => (index === 0 ? [...headerRows, ...rows] : rows));

/** Writes the rows of all members below one another. `prepare` is called before the first request, with the number of all rows. */
export function planRowsAt(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	target: ranges.TabRange,
	rowsOrErrors: ReadonlyArray<Cell[][] | NodeError>,
	members: WriteMembers,
	{
		headerRows = [],
		prepare,
	}: { headerRows?: Cell[][]; prepare?: (rowCount: number) => Promise<void> } = {},
): SharedPlan<Cell[][], SheetWriteResult> {
	const allRows = [
		...headerRows,
		...rowsOrErrors.flatMap((rows) => (isNodeError(rows) ? [] : rows)),
	];
	const size = { rowCount: allRows.length, columnCount: countColumns(allRows) };
	const isHeaderWritten = headerRows.flat().some((cell) => cell !== null);
	const addHint = (text: string) => members[0]?.item.addHint(text);
	let nextRange: string | undefined;
	return {
		entries: rowsOrErrors,
		async send(rowLists) {
			if (nextRange === undefined) await prepare?.(size.rowCount);
			// Only the first request contains the header.
			const sentLists =
				nextRange === undefined ? putHeaderFirst(headerRows, rowLists) : rowLists;
			const values = sentLists.flat();
			const range = nextRange ?? ranges.printRange(target);
			const response = await writeAndEnlarge(spreadsheet, target, size, () =>
				spreadsheet.update(range, values, toInputOption(params)),
			);
			const updatedRange = response.updatedRange ?? range;
			const [sentRange, returnedRange] = [
				ranges.parseRange(range),
				ranges.parseRange(updatedRange),
			];
			// A named range: only Google's response has its place. Cells: our range has it, because Google's begins at the first cell that is not null.
			const isNamedRange =
				sentRange.name !== undefined && !isNameOfTab(target, returnedRange);
			const { row, column } = ranges.parseBounds(isNamedRange ? returnedRange : sentRange);
			await formatDates(
				spreadsheet,
				{ title: returnedRange.tab },
				[{ row, column, grid: values }],
				addHint,
			);
			nextRange = ranges.printAreaLike(
				updatedRange,
				{ row: row + values.length, column },
				1,
				1,
			);
			// A header counts as a row of the first member, if at least one of its cells was written.
			const countedLists = isHeaderWritten ? sentLists : rowLists;
			const start = { row: row + values.length - countedLists.flat().length, column };
			return buildWriteResults(spreadsheet.id, updatedRange, start, countedLists);
		},
	};
}

/** Writes a header and rows over a table, and clears its other cells. */
export async function planReplacement(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	members: WriteMembers,
): Promise<SharedPlan<Cell[][], SheetWriteResult>> {
	const { header: oldHeader, namedRowsByMember } = await fetchTable(
		spreadsheet,
		params,
		members,
		(target) => Math.max(params.headerRow, ranges.parseBounds(target).row + 1),
	);
	const names = collectNames(namedRowsByMember.flat());
	const header = addLetterColumnsAfterHeader(oldHeader, new Set(names));
	const columns = orderColumns(names, header);
	const lostFormulaColumns = await findLostFormulaColumns(spreadsheet, header, names);
	const headerRow = columns.map(
		({ text, keptValue }) => keptValue ?? (text && toHeaderCell(text, params)),
	);
	const columnNames = columns.map(({ name }) => name);
	const rowsByMember = namedRowsByMember.map((rows) => orderCells(rows, columnNames, ''));
	const addHint = (text: string) => members[0]?.item.addHint(text);
	// Without a header in the range, `firstColumn` may be in a table beside it.
	const startColumn = header.columnsByName.size === 0 ? header.rangeStart : header.firstColumn;
	const start = { row: header.row, column: startColumn };
	return {
		entries: rowsByMember,
		async send(entries) {
			const rowLists = params.includeHeaderRow
				? putHeaderFirst([headerRow], entries)
				: [...entries];
			const grid = rowLists.flat();
			await overwriteTable(spreadsheet, header, { ...start, grid }, toInputOption(params));
			await formatDates(spreadsheet, header, [{ ...start, grid }], addHint);
			if (lostFormulaColumns.length > 0)
				addHint(
					`Columns with formulas were removed, because the items do not have them: ${listNames(lostFormulaColumns)}. To get them back, open File > Version history in Google Sheets. To keep such columns, set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'update')}.`,
				);
			return buildWriteResults(
				spreadsheet.id,
				ranges.printTabArea(header.title, start, 1, 1),
				start,
				rowLists,
			);
		},
	};
}

/** Writes cells and clears the other cells of a table: with RAW in one atomic request, with USER_ENTERED in two requests. */
async function overwriteTable(
	spreadsheet: Spreadsheet,
	header: TableHeader,
	{ row, column, grid }: CellRectangle,
	valueInputOption: string,
) {
	const { sheetId, title, lastColumn, rowCount, nativeTable } = header;
	const width = Math.max(countColumns(grid), lastColumn - column + 1);
	const end = { endRowIndex: row + grid.length, endColumnIndex: column + width };
	const minSize = { minRows: end.endRowIndex, minColumns: end.endColumnIndex };
	const requests = buildEnlargeTabRequests(header, minSize);
	if (nativeTable)
		requests.push(
			buildResizeTableRequest({ ...nativeTable, range: { ...nativeTable.range, ...end } }),
		);
	if (valueInputOption === 'RAW') {
		// The request clears the cells of its range for which there is no new cell.
		const endRowIndex = Math.max(nativeTable?.range.endRowIndex ?? rowCount, end.endRowIndex);
		const range = {
			sheetId,
			startRowIndex: row,
			startColumnIndex: column,
			...end,
			endRowIndex,
		};
		await spreadsheet.change([...requests, buildUpdateCellsRequest({ range }, grid)]);
		return;
	}
	await spreadsheet.change(requests);
	const columns = Array.from({ length: width }, (_, index) => column + index);
	const { lastRow } = await fetchTableBody(spreadsheet, header, columns);
	const height = Math.max(grid.length, lastRow - row + 1);
	// Sends an empty text for each cell to clear, because `update` changes only the cells that it contains.
	const values = Array.from({ length: height }, (_, rowIndex) =>
		columns.map((_, columnIndex) => grid[rowIndex]?.[columnIndex] ?? ''),
	);
	const area = ranges.printTabArea(title, { row, column }, height, width);
	await spreadsheet.update(area, values, valueInputOption);
}

/** Returns the names of the columns with formulas that a table loses, because the items do not have these columns. */
async function findLostFormulaColumns(
	spreadsheet: Spreadsheet,
	header: TableHeader,
	keptNames: string[],
) {
	const keptColumns = new Set(keptNames.map((name) => header.columnsByName.get(name)));
	const namedColumns = [...header.columnsByName].filter(([name]) => header.names.includes(name));
	const lostColumns = namedColumns.filter(([, column]) => !keptColumns.has(column));
	const columns = lostColumns.map(([, column]) => column);
	const body = await fetchTableBody(spreadsheet, header, columns, 'FORMULA');
	const rows = Array.from(
		{ length: body.lastRow - header.row },
		(_, index) => header.row + 1 + index,
	);
	const hasFormula = (column: number) =>
		rows.some((row) => String(body.getCell(row, column)).startsWith('='));
	return lostColumns.flatMap(([name, column]) => (hasFormula(column) ? name : []));
}

/** Puts existing columns first, in the order of the table. A header keeps its text, and in its old place also a value such as a date. */
function orderColumns(names: readonly string[], header: TableHeader) {
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => header.columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	const sortedNames = names.toSorted((name, otherName) => getRank(name) - getRank(otherName));
	return sortedNames.map((name, index) => {
		const oldColumn = header.columnsByName.get(name);
		if (oldColumn === undefined) return { name, keptValue: undefined, text: name };
		const keptValue =
			oldColumn === header.firstColumn + index ? header.rowValues[oldColumn] : undefined;
		return { name, keptValue, text: header.rowTexts[oldColumn] ?? '' };
	});
}
