import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { headerCell, itemCells, type Cell } from './cells';
import { chunksOf } from './chunks';
import { anchorOf, areaLike, parseRange, sentRange } from './range';
import { Rows } from './rows';
import { inTabs } from './tabs';
import type { WriteMember } from './write.operation';
import { partWritten, type Written } from './written';

/** Rows of all items in one block, columns in order of first appearance; each item gets its own part. */
export async function writeItems(
	sheets: sheets_v4.Sheets,
	members: readonly WriteMember[],
): Promise<Written[]> {
	const [first] = members;
	if (!first) return [];
	const { item, params } = first;
	const { spreadsheetId, range, valueInputOption, includeHeaderRow } = params;
	const items = members.map(({ item, params }) => itemCells(item.json, params));
	const names = [...new Set(items.flatMap((cells) => [...cells.keys()]))];
	const parts = items.map((cells) => ({ rows: [names.map((name): Cell => cells.get(name) ?? null)] }));
	const header = includeHeaderRow ? [names.map((name) => headerCell(name, first.params))] : [];

	const results: Written[] = [];
	let target = sentRange(range);
	for (const [at, chunk] of chunksOf(parts).entries()) {
		const above = at === 0 ? header : [];
		const values = [...above, ...chunk.flatMap(({ rows }) => rows)];
		const update = { spreadsheetId, range: target, valueInputOption, requestBody: new Rows(values) };
		const { data } = await inTabs(sheets, { spreadsheetId, range, item }, () =>
			sheets.spreadsheets.values.update(update),
		);
		const updatedRange = data.updatedRange ?? target;
		const { row, column } = anchorOf(parseRange(updatedRange));
		for (const [offset, { rows }] of chunk.entries()) {
			const start = { row: row + above.length + offset, column };
			results.push(partWritten(spreadsheetId, updatedRange, start, rows));
		}
		target = areaLike(updatedRange, { row: row + values.length, column }, 1, 1);
	}
	return results;
}
