import { anchorOf, cellsOn, columnLetters, printRange, type TabRange } from '../range';
import type { Table } from '../rowsByHeader';

/** Where appended rows belong: below a table. Rows and columns count from 0. */
export interface Place {
	/** The range in which Google searches for the table. */
	readonly search: string;
	/** Title of the tab; undefined for the first one. */
	readonly tab: string | undefined;
	/** Where the table is looked for, downward; that of the header where there is one. */
	readonly row: number;
	/** Of the first cell of each row. */
	readonly column: number;
	/** Last column of the table; undefined where the range leaves it open. */
	readonly lastColumn: number | undefined;
	/** The block of rows below a header, the first block in an area, or all that the columns hold. */
	readonly extent: 'header' | 'block' | 'all';
	/** Whether Google's answer is not enough, because Google sees the table as several. */
	readonly isUnsure?: boolean;
}

/** The place that a target names, for rows whose columns have no names. */
export function placeIn(target: TabRange): Place {
	const { cells, tab, name } = target;
	const { row, column, lastColumn, lastRow } = anchorOf(target);
	const isCell = cells !== undefined && !cells.includes(':');
	return {
		search: printRange(target),
		tab: tab ?? name,
		...{ row, column, lastColumn },
		extent: isCell || lastRow !== undefined ? 'block' : 'all',
	};
}

/** Google is asked for the table that the header row's own cells are in; where one of them is empty, there may be several below. */
export function placeBelow({ target, header }: Table, headerRow: number): Place {
	const { left, right, hasGap } = header;
	const tab = target.tab ?? target.name;
	const last = `${columnLetters(right)}${hasGap ? '' : headerRow}`;
	return {
		search: cellsOn(tab, `${columnLetters(left)}${headerRow}:${last}`),
		tab,
		row: headerRow - 1,
		column: left,
		lastColumn: right,
		extent: 'header',
		isUnsure: hasGap,
	};
}
