import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { printDate } from './dates';
import * as ranges from '../range';
import { maxRanges, type Spreadsheet } from '../spreadsheet';

type ValueRange = sheets_v4.Schema$ValueRange;

/** Matches a text with a digit, without @ (addresses) or = in front (formulas). A date shown without a digit, such as Monday, is missed. */
const shownDatePattern = /^(?!=)[^@]{0,60}\p{Nd}[^@]{0,60}$/u;
/**
 * Matches texts with digits that are no dates in any locale: with a word directly before a digit, such as A7 or INV2024, or with letters and
 * at least five digits in a row. In dates, only T, AM, PM and the Vietnamese "thg" (`th` in the pattern) are directly before a digit.
 */
const shownCodePattern =
	/(?<![\p{L}\p{M}\p{Nd}])(?!T\p{Nd}|AM|PM|th)\p{Script=Latin}+\p{Nd}|^(?=.*\p{L}).*\p{Nd}{5}/iu;

const mayShowDate = (cell: unknown) =>
	typeof cell === 'string' && shownDatePattern.test(cell) && !shownCodePattern.test(cell);

/**
 * Replaces dates by ISO 8601 texts. If texts may be dates, one more request fetches the numbers and formats of their cells.
 * @param data cells in which dates are texts as the sheet shows them
 * @param headerHeight how many rows at the top stay unchanged
 */
export async function replaceDatesByIso(
	spreadsheet: Spreadsheet,
	data: ValueRange,
	headerHeight: number,
) {
	const fetchedLines = (data.values ?? []) as unknown[][];
	const isByColumn = data.majorDimension === 'COLUMNS';
	const areas = findDateAreas(fetchedLines, isByColumn, headerHeight);
	if (areas.length === 0) return data;
	const start = ranges.parseBounds(ranges.parseRange(data.range ?? 'A1'));
	const rangeTexts = areas.map(({ row, column, lastRow, lastColumn }) => {
		const firstCell = { row: start.row + row, column: start.column + column };
		return ranges.printAreaLike(
			data.range ?? '',
			firstCell,
			lastRow - row + 1,
			lastColumn - column + 1,
		);
	});
	const { properties, sheets } = await spreadsheet.fetch(dateFields, rangeTexts);
	const lines = fetchedLines.map((line) => [...line]);
	for (const [areaIndex, area] of areas.entries()) {
		for (const [rowOffset, rowData] of (
			sheets?.[0]?.data?.[areaIndex]?.rowData ?? []
		).entries()) {
			for (const [columnOffset, cell] of (rowData.values ?? []).entries()) {
				const row = area.row + rowOffset;
				const column = area.column + columnOffset;
				const line = lines[isByColumn ? column : row];
				const indexInLine = isByColumn ? row : column;
				const text = line?.[indexInLine];
				const serial = cell.effectiveValue?.numberValue;
				if (typeof text !== 'string' || typeof serial !== 'number' || text.startsWith('='))
					continue;
				const iso = printDate(
					serial,
					cell.effectiveFormat?.numberFormat ?? {},
					properties?.timeZone ?? '',
				);
				if (line && iso !== undefined) line[indexInLine] = iso;
			}
		}
	}
	return { ...data, values: lines };
}

const dateFields =
	'properties.timeZone,sheets.data.rowData.values(effectiveValue.numberValue,effectiveFormat.numberFormat)';

/** An area of cells. Rows and columns count from 0, from the first cell of the data on. */
type Area = ranges.CellPosition & { readonly lastRow: number; readonly lastColumn: number };

/** Returns areas that together contain all cells which may show dates: one for each column, or a single one if that would be too many. */
function findDateAreas(lines: unknown[][], isByColumn: boolean, headerHeight: number): Area[] {
	const areasByColumn = new Map<number, Area>();
	for (const [lineIndex, line] of lines.entries()) {
		for (const [indexInLine, cell] of line.entries()) {
			const [row, column] = isByColumn ? [indexInLine, lineIndex] : [lineIndex, indexInLine];
			if (row < headerHeight || !mayShowDate(cell)) continue;
			const area = { row, column, lastRow: row, lastColumn: column };
			areasByColumn.set(column, joinAreas(areasByColumn.get(column) ?? area, area));
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
