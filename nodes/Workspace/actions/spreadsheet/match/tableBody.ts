import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from '../cells';
import { cellsOn, columnLetters } from '../range';
import type { SheetHeader } from '../headerRow';

/** The rows below a header, in some columns. Rows and columns count from 0. */
export interface Body {
	/** The last row that holds anything in these columns; that of the header where none does. */
	readonly last: number;
	/** What reading gives for a cell; "" where it is empty. */
	at(row: number, column: number): Cell;
}

export interface BodyColumns {
	readonly spreadsheetId: string;
	/** From 1. */
	readonly headerRow: number;
	/** Positions in the tab. */
	readonly columns: readonly number[];
	readonly valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE';
}

/** Reads the given columns and nothing else. */
export async function readBody(
	sheets: sheets_v4.Sheets,
	{ title, native }: Pick<SheetHeader, 'title' | 'native'>,
	{ spreadsheetId, headerRow, columns, valueRenderOption }: BodyColumns,
): Promise<Body> {
	if (columns.length === 0) return { last: headerRow - 1, at: () => '' };
	const spans = spansOf(columns);
	const { data } = await sheets.spreadsheets.values.batchGet({
		spreadsheetId,
		// With the header, which is there: a range may not begin below the last row.
		ranges: spans.map(({ from, to }) =>
			cellsOn(title, `${columnLetters(from)}${headerRow}:${columnLetters(to)}${native?.bodyEnd ?? ''}`),
		),
		valueRenderOption,
		dateTimeRenderOption: 'FORMATTED_STRING',
	});
	const grids = (data.valueRanges ?? []).map(({ values }) => (values ?? []) as Cell[][]);
	const first = headerRow - 1;
	return {
		last: first + Math.max(0, ...grids.map((grid) => grid.length - 1)),
		at(row, column) {
			const span = spans.findIndex(({ from, to }) => column >= from && column <= to);
			return grids[span]?.[row - first]?.[column - (spans[span]?.from ?? 0)] ?? '';
		},
	};
}

interface Span {
	readonly from: number;
	readonly to: number;
}

/** They are part of an address, whose length is limited. */
const mostSpans = 50;

/** Columns beside one another are read as one range. */
function spansOf(columns: readonly number[]): Span[] {
	const spans: Span[] = [];
	for (const column of [...new Set(columns)].sort((a, b) => a - b)) {
		const last = spans.at(-1);
		if (last?.to === column - 1) spans[spans.length - 1] = { from: last.from, to: column };
		else spans.push({ from: column, to: column });
	}
	const [first, last] = [spans[0], spans.at(-1)];
	return first && last && spans.length > mostSpans ? [{ from: first.from, to: last.to }] : spans;
}
