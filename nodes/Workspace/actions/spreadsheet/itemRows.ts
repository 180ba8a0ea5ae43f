import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal, type Failure } from '../../../items/failure';
import { named } from '../../fieldNames';
import type { AppendMember } from './append.operation';
import type { Prepared } from './appendRows';
import { itemCells, type Cell } from './cells';
import { addHeaders, readHeaderRow, type HeaderRow } from './headerRow';
import { list } from './names';

type Cells = ReadonlyMap<string, Cell>;

/** Rows from input items, in the order of the tab's header row, which is written first where it is empty. */
export async function itemRows(
	sheets: sheets_v4.Sheets,
	members: readonly AppendMember[],
): Promise<Prepared> {
	const [first] = members;
	if (!first) return { anchor: { row: 0, column: 0 }, rows: [] };
	const { params } = first;
	const items = members.map(({ item }) => itemCells(item.json, params));
	const found = await readHeaderRow(sheets, first);
	const extra = new Set(
		items.flatMap((cells) => [...cells.keys()].filter((name) => !found.columns.has(name))),
	);
	const adds = params.extraColumns === 'add' || found.columns.size === 0;
	const header = adds ? await addHeaders(sheets, params, found, [...extra]) : found;
	return {
		anchor: { row: params.headerRow - 1, column: header.left },
		rows: items.map((cells) => rowOf(cells, header, params.extraColumns === 'error')),
	};
}

/** A cell for every column of the table; null where the item has no such field. */
function rowOf(cells: Cells, { columns, left }: HeaderRow, strict: boolean): Cell[][] | Failure {
	const unknown = [...cells.keys()].filter((name) => !columns.has(name));
	const known = list([...columns.keys()]);
	if (unknown.length > 0 && strict) {
		return refusal(
			`The table has no column ${list(unknown)}`,
			`Its columns are ${known}. Set ${named('extraColumns')} to add or ignore, or remove the fields from the item.`,
		);
	}
	if (unknown.length === cells.size) {
		return refusal('No field of the item is a column of the table', `Its columns are ${known}.`);
	}
	const row: Cell[] = Array.from({ length: Math.max(...columns.values()) - left + 1 }, () => null);
	for (const [name, cell] of cells) {
		const column = columns.get(name);
		if (column !== undefined) row[column - left] = cell;
	}
	return [row];
}
