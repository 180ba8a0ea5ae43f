import type { IDataObject } from 'n8n-workflow';

import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import { cellOf, entered, mixedRows, type Cell, type Entering } from './cells';

export type NamedCells = ReadonlyMap<string, Cell>;

/** A row whose cells have names, as the user gave it. */
export interface NamedRow {
	readonly cells: NamedCells;
	/** The number that reading the row gave it; never a cell. */
	readonly rowNumber: unknown;
}

/** Reading gives it to every row. A column of this name is read as `rowNumber_2`. */
export const rowNumberKey = 'rowNumber';

export interface GivenValues extends Entering {
	readonly valuesSource: 'items' | 'columns' | 'json';
	/** Rows of cells, or of objects by header. */
	readonly values: readonly unknown[];
	/** What the columns are mapped to; undefined where the fields of the item are. */
	readonly columns: Readonly<Record<string, unknown>> | undefined;
}

/** Whether the rows are to be put under the headers of their names. */
export function hasNames({ valuesSource, values }: GivenValues): boolean {
	return valuesSource !== 'json' || (values.length > 0 && !Array.isArray(values[0]));
}

/** The rows of one member, cell by cell. @throws Failure 400 that names the field */
export function namedRows(params: GivenValues, json: IDataObject): NamedRow[] {
	const { valuesSource, values, columns } = params;
	if (valuesSource === 'json') {
		return values.map((row, at) => {
			if (!isObject(row)) throw mixedRows();
			const cells = cellsOf(row, params, (name) => `Field '${name}' of row ${at + 1} of ${named('values')}`);
			if (cells.size > 0) return { cells, rowNumber: row[rowNumberKey] };
			throw refusal(
				`Row ${at + 1} of ${named('values')} has no fields`,
				'Nothing was sent for it, because the row would be empty.',
			);
		});
	}
	const given = valuesSource === 'columns' && columns ? columns : json;
	const place = given === json ? 'of the input item' : `of ${named('columns')}`;
	const cells = cellsOf(given, params, (name) => `Field '${name}' ${place}`);
	if (cells.size > 0) return [{ cells, rowNumber: given[rowNumberKey] ?? json[rowNumberKey] }];
	throw given === json
		? refusal('The input item has no fields', 'Nothing was sent for it, because the row would be empty.')
		: refusal(
				`${named('columns')} has no values`,
				'Nothing was sent. Enter a value for at least one column.',
			);
}

function cellsOf(
	row: Readonly<Record<string, unknown>>,
	entering: Entering,
	place: (name: string) => string,
): NamedCells {
	const cells = new Map<string, Cell>();
	for (const [name, value] of Object.entries(row)) {
		if (name === rowNumberKey) continue;
		const cell = cellOf(value, () => place(name));
		cells.set(name, entered(cell, entering));
	}
	return cells;
}

/** All names, in their order. JavaScript puts names that are whole numbers first, whatever the order was: they come last here. */
export function namesIn(rows: readonly NamedRow[]): string[] {
	const names = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
	const isNumber = (name: string) => /^(0|[1-9]\d*)$/.test(name);
	return [...names.filter((name) => !isNumber(name)), ...names.filter(isNumber)];
}

function isObject(row: unknown): row is Record<string, unknown> {
	return typeof row === 'object' && row !== null && !Array.isArray(row);
}
