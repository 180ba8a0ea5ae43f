import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { headerCell, type Cell } from './cells';
import { chunksOf, type Part } from './chunks';
import { isTabsName } from './namedRange';
import { namedRows } from './namedRows';
import { anchorOf, areaLike, parseRange, printRange, type Corner, type TabRange } from './range';
import { withRoom } from './room';
import { Rows } from './rows';
import { targetOf } from './target';
import type { WriteMember } from './writeFields';
import { partWritten, widthOf, type Written } from './written';

/** Rows of all items in one block, columns in order of first appearance; each item gets its own part. */
export async function writeItems(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Written[]> {
	const { params } = first;
	const items = members.flatMap(({ item, params }) => namedRows(params, item.json));
	const names = [...new Set(items.flatMap((cells) => [...cells.keys()]))];
	const parts = items.map((cells) => ({ rows: [names.map((name): Cell => cells.get(name) ?? null)] }));
	const header = params.includeHeaderRow ? [names.map((name) => headerCell(name, params))] : [];
	return await writeBlock(sheets, first, { target: targetOf(params), header, parts });
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
	const { spreadsheetId, valueInputOption } = params;
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
		const values = [...above, ...chunk.flatMap(({ rows }) => rows)];
		const update = { spreadsheetId, range, valueInputOption, requestBody: new Rows(values) };
		const { data } = await withRoom(sheets, reach, () => sheets.spreadsheets.values.update(update));
		const updatedRange = data.updatedRange ?? range;
		const { row: begun, column } = startOf(range, target, updatedRange);
		let row = begun + above.length;
		for (const { rows } of chunk) {
			results.push(partWritten(spreadsheetId, updatedRange, { row, column }, rows));
			row += rows.length;
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
