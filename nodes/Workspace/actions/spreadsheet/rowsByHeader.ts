import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal, type Failure } from '../../../core/errors';
import { named } from '../../../fields/naming';
import type { Item } from '../../operation';
import type { Cell } from './cells';
import { addHeaders, readHeaderRow, withLetters, type Headed, type HeaderRow } from './headerRow';
import { cellsOfName } from './namedRange';
import { namesIn, type NamedCells, type NamedRow } from './namedCells';
import { list } from './names';
import type { TabRange } from './range';
import { inTabs, isAboutTabs, refuseTabLikeCell } from './sheets';
import { targetOf, type Targeted } from './target';

export interface HeaderParams extends Targeted {
	/** From 1. */
	readonly headerRow: number;
	readonly extraColumns: 'add' | 'error' | 'ignore';
}

/** A table as described by its header row. */
export interface Table<H extends HeaderRow = HeaderRow> {
	readonly target: TabRange;
	readonly header: H;
}

/** Rows in the order of a table's columns. */
export interface RowsByHeader extends Table {
	/** By member; a Failure for a member whose fields do not fit the table. */
	readonly rows: ReadonlyArray<Cell[][] | Failure>;
}

/** @param read how the header row is read, and what of the tab beside it */
export async function tableOf<H>(
	sheets: sheets_v4.Sheets,
	params: HeaderParams,
	item: Item,
	read: (sheets: sheets_v4.Sheets, headed: Headed) => Promise<H>,
): Promise<{ readonly target: TabRange; readonly header: H }> {
	const { spreadsheetId, headerRow } = params;
	const target = targetOf(params);
	const asked = { spreadsheetId, target, item };
	const readIn = async (inside: TabRange) => ({
		target: inside,
		header: await read(sheets, { spreadsheetId, target: inside, headerRow }),
	});
	const resolved = async () => await readIn(await cellsOfName(sheets, spreadsheetId, target));
	await refuseTabLikeCell(sheets, asked);
	return await inTabs(sheets, asked, async () => {
		if (target.tab !== undefined && target.name !== undefined) return await resolved();
		return await readIn(target).catch(async (error: unknown) => {
			// The word is not the name of a tab: it may be a named range.
			if (isAboutTabs(error) && target.name !== undefined) return await resolved();
			throw error;
		});
	});
}

/** Rows by the tab's header row, which is written first where it is empty. */
export async function rowsByHeader(
	sheets: sheets_v4.Sheets,
	{ params, item }: { readonly params: HeaderParams; readonly item: Item },
	members: ReadonlyArray<readonly NamedRow[]>,
): Promise<RowsByHeader> {
	const { target, header: read } = await tableOf(sheets, params, item, readHeaderRow);
	const { header: found, names: extra } = columnsFor(read, params.extraColumns, members.flat());
	const headed = { spreadsheetId: params.spreadsheetId, target, headerRow: params.headerRow };
	const header = await addHeaders(sheets, headed, found, extra);
	const strict = params.extraColumns === 'error';
	const rows = members.map((given) => {
		const misfit = given
			.map(({ cells }) => misfitOf(cells, header, strict))
			.find((failure) => failure !== undefined);
		return misfit ?? given.map(({ cells }) => rowOf(cells, header));
	});
	return { target, header, rows };
}

/** The columns that rows name, and the names that are to be added to the header row. */
export function columnsFor<H extends HeaderRow>(
	read: H,
	extraColumns: HeaderParams['extraColumns'],
	rows: readonly NamedRow[],
): { readonly header: H; readonly names: readonly string[] } {
	const names = namesIn(rows);
	const header = withLetters(read, new Set(names));
	const { columns } = header;
	const mayAdd = extraColumns === 'add' || columns.size === 0;
	return { header, names: mayAdd ? names.filter((name) => !columns.has(name)) : [] };
}

/** Why cells cannot go into a table. */
export function misfitOf(
	cells: NamedCells,
	{ columns, names }: HeaderRow,
	strict: boolean,
): Failure | undefined {
	const unknown = [...cells.keys()].filter((name) => !columns.has(name));
	if (unknown.length === 0) return undefined;
	const known = list(names);
	if (strict) {
		return refusal(
			`The table has no column ${list(unknown)}`,
			`Its columns are ${known}. Set ${named('extraColumns')} to add or ignore, or remove the fields from the item.`,
		);
	}
	if (unknown.length < cells.size) return undefined;
	return refusal('None of the fields of the item is a column of the table', `Its columns are ${known}.`);
}

/** A cell for every column of the table; null where there is no such field. */
function rowOf(cells: NamedCells, { columns, left, right }: HeaderRow): Cell[] {
	const row: Cell[] = Array.from({ length: right - left + 1 }, () => null);
	for (const [name, cell] of cells) {
		const column = columns.get(name);
		if (column !== undefined) row[column - left] = cell;
	}
	return row;
}
