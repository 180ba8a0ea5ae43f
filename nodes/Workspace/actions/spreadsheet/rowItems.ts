import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';
import type { IDataObject } from 'n8n-workflow';

import type { OutputItem } from '../../operation';
import { columnNames } from './columnNames';
import { anchorOf, parseRange } from './range';

type CellValue = string | number | boolean;

/**
 * One item per row that is not blank, keyed by the names of its columns, with its number in the sheet as `rowNumber`.
 * @param headerRow counted inside the range, from 1; 0 for none
 */
export function rowItems({ range, values }: sheets_v4.Schema$ValueRange, headerRow: number): OutputItem[] {
	const rows = (values ?? []) as CellValue[][];
	const { row: startRow, column: startColumn } = anchorOf(parseRange(range ?? 'A1'));
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	const header = Array.from({ length: width }, (_, at) => textOf(rows[headerRow - 1]?.[at]));
	const names = columnNames(header, startColumn);
	const items: OutputItem[] = [];
	for (let at = headerRow; at < rows.length; at++) {
		const row = rows[at] ?? [];
		if (!isBlank(row)) items.push({ json: rowOf(row, names, startRow + at + 1) });
	}
	return items;
}

function textOf(cell: CellValue | undefined): string {
	return cell === undefined ? '' : String(cell);
}

function isBlank(row: readonly CellValue[]): boolean {
	return row.every((cell) => cell === '');
}

function rowOf(row: readonly CellValue[], names: readonly string[], rowNumber: number): IDataObject {
	const json: IDataObject = {};
	// Google leaves out empty cells at the end.
	for (const [at, name] of names.entries()) json[name] = row[at] ?? '';
	json['rowNumber'] = rowNumber;
	return json;
}
