import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { parseBounds, parseRange, printAreaLike } from '../range';
import { maxRanges, type Spreadsheet } from '../spreadsheet';

export type CellValue = string | number | boolean;
export type Rows = ReadonlyArray<readonly CellValue[]>;

/** What is known of numbers beside their values: their formats and, if they are needed, the texts that the sheet shows. */
export interface CellDetails {
	readonly timeZone: string;
	/** Finds a cell by its place in the fetched rows. */
	readonly find: (row: number, column: number) => sheets_v4.Schema$CellData | undefined;
}

export const noDetails: CellDetails = { timeZone: 'Etc/GMT', find: () => undefined };

interface DetailsNeeded {
	/** The header row, from 0; -1 if there is none. */
	readonly headerRow: number;
	/** Whether filters compare cells with the texts that the sheet shows. */
	readonly hasFilters: boolean;
}

/** Fetches the details of all numbers in fetched rows, with one request. Without any number, nothing is sent. */
export async function fetchDetails(
	spreadsheet: Spreadsheet,
	data: sheets_v4.Schema$ValueRange,
	{ headerRow, hasFilters }: DetailsNeeded,
	item: Pick<Item, 'doOnce'>,
): Promise<CellDetails> {
	const rows = (data.values ?? []) as Rows;
	const areas = findAreas(rows, hasFilters);
	if (areas.length === 0) return noDetails;
	const range = data.range ?? '';
	const rangeTexts = areas.map((area) => printArea(range, area));
	// A header that is a date has the name that the sheet shows.
	const hasNumberInHeader = rows[headerRow]?.some((cell) => typeof cell === 'number') === true;
	const textField = hasFilters || hasNumberInHeader ? ',formattedValue' : '';
	const fields = `properties.timeZone,sheets.data.rowData.values(effectiveFormat.numberFormat${textField})`;
	const key = `spreadsheet.details ${spreadsheet.id} ${fields} ${rangeTexts.join()}`;
	const { properties, sheets } = await item.doOnce(key, () =>
		spreadsheet.fetch(fields, rangeTexts),
	);
	const grids = (sheets?.[0]?.data ?? []).map(({ rowData }) => rowData ?? []);
	return { timeZone: properties?.timeZone ?? '', find: buildFind(areas, grids) };
}

/** Builds the function that finds a cell. @param grids the rows of each area */
function buildFind(
	areas: readonly Area[],
	grids: readonly sheets_v4.Schema$RowData[][],
): CellDetails['find'] {
	const indexesByColumn = new Map<number, number>();
	for (const [index, area] of areas.entries())
		for (let { column } = area; column <= area.lastColumn; column++)
			indexesByColumn.set(column, index);
	return (row, column) => {
		const index = indexesByColumn.get(column) ?? -1;
		const area = areas[index];
		return area && grids[index]?.[row - area.row]?.values?.[column - area.column];
	};
}

/** An area of the fetched rows. Rows and columns count from 0, from their first cell on. */
interface Area {
	row: number;
	column: number;
	lastRow: number;
	lastColumn: number;
}

/** Finds areas with all numbers: one for each column, or a single one if that would be too many. @param includesFormulas whether also with formulas */
function findAreas(rows: Rows, includesFormulas: boolean): Area[] {
	const areasByColumn = new Map<number, Area>();
	for (const [row, cells] of rows.entries()) {
		for (const [column, cell] of cells.entries()) {
			const isFormula = includesFormulas && typeof cell === 'string' && cell.startsWith('=');
			if (typeof cell !== 'number' && !isFormula) continue;
			const area = areasByColumn.get(column);
			if (area) area.lastRow = row;
			else areasByColumn.set(column, { row, column, lastRow: row, lastColumn: column });
		}
	}
	const areas = [...areasByColumn.values()];
	return areas.length > maxRanges ? [areas.reduce(joinAreas)] : areas;
}

const joinAreas = (area: Area, otherArea: Area): Area => ({
	row: Math.min(area.row, otherArea.row),
	column: Math.min(area.column, otherArea.column),
	lastRow: Math.max(area.lastRow, otherArea.lastRow),
	lastColumn: Math.max(area.lastColumn, otherArea.lastColumn),
});

/** Prints an area for Google. @param range the range of the fetched rows, as Google printed it */
function printArea(range: string, { row, column, lastRow, lastColumn }: Area): string {
	const start = parseBounds(parseRange(range));
	const firstCell = { row: start.row + row, column: start.column + column };
	return printAreaLike(range, firstCell, lastRow - row + 1, lastColumn - column + 1);
}
