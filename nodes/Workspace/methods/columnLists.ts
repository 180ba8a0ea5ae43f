import type { INodePropertyOptions, ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import { rowNumberChoice } from '../actions/spreadsheet/fields';
import { parseBounds, type TargetParams, toColumnLetters } from '../actions/spreadsheet/range';
import type { Spreadsheet } from '../actions/spreadsheet/spreadsheet';
import { openTable, type ColumnType, type Table } from '../actions/spreadsheet/table';

/** A column of the chosen tab, as a list offers it. */
interface ListedColumn {
	readonly name: string;
	readonly type?: ColumnType;
}

/**
 * Builds a list of the chosen tab's columns, which are undefined if no tab is chosen.
 * @param row the header row's number
 */
export type ColumnsBuilder<T> = (
	columns: readonly ListedColumn[] | undefined,
	row: number,
	matchColumns: unknown,
) => T;

/**
 * What n8n's column mapper shows for a column. A switch would write FALSE wherever nobody touched
 * it, so checkboxes get a list.
 */
const mapperTypes: Readonly<Record<ColumnType, Pick<ResourceMapperField, 'type' | 'options'>>> = {
	text: { type: 'string' },
	number: { type: 'number' },
	date: { type: 'dateTime' },
	boolean: {
		type: 'options',
		options: [
			{ name: 'TRUE', value: true },
			{ name: 'FALSE', value: false },
		],
	},
};

const buildMapperField = (
	id: string,
	displayName: string,
	type: ColumnType = 'text',
): ResourceMapperField => ({
	id,
	displayName,
	required: false,
	defaultMatch: false,
	canBeUsedToMatch: true,
	display: true,
	...mapperTypes[type],
});

/**
 * Builds the columns of n8n's column mapper. The row number comes first if it is a match column.
 */
export const buildMapperFields: ColumnsBuilder<ResourceMapperFields> = (
	columns,
	row,
	matchColumns,
) => {
	if (!columns) return { fields: [], emptyFieldsNotice: 'Choose the tab first.' };
	const noNamesNotice = `Row ${row} of the tab has no column names. Enter them there, choose Map Automatically to use the names of the input's fields, or change Header Row.`;
	if (columns.length === 0) return { fields: [], emptyFieldsNotice: noNamesNotice };
	const fields = columns.map(({ name, type }) => buildMapperField(name, name, type));
	const { name: displayName, value: id } = rowNumberChoice;
	const matchesByNumber = Array.isArray(matchColumns) && matchColumns.includes(id);
	if (matchesByNumber) fields.unshift(buildMapperField(id, displayName, 'number'));
	return { fields };
};

export const toOptions = (columns: readonly ListedColumn[] = []): INodePropertyOptions[] =>
	columns.map(({ name }) => ({ name, value: name }));

/** The fields of the form that choose a table. */
interface TableForm extends TargetParams {
	readonly headerRow: number;
	/** Read's Header Row counts from the first row of the range. With 0, there is no header. */
	readonly isRead: boolean;
	/** The header of a table that is replaced is not above the range. */
	readonly isReplaced: boolean;
}

/** Fetches the columns of the table that the form chooses, and its header row, from 0. */
export async function fetchColumns(spreadsheet: Spreadsheet, form: TableForm) {
	const { headerRow, isRead, isReplaced } = form;
	const hasTarget = form.tab !== '' || form.range !== '';
	const target = hasTarget ? await spreadsheet.resolveTarget(form) : {};
	const startRow = parseBounds(target).row;
	const headerIndex = Math.max(0, headerRow - 1, isReplaced ? startRow : 0);
	const table = await openTable(spreadsheet, target, headerIndex + (isRead ? startRow : 0));
	const columns = headerRow === 0 ? listLetters(table) : listColumns(table);
	return { columns, row: table.row };
}

const listColumns = ({ names, columnsByName, types }: Table): ListedColumn[] =>
	names.map((name) => ({ name, type: types.get(columnsByName.get(name) ?? -1) }));

function listLetters({ headers, area }: Table): ListedColumn[] {
	const columns = [...headers.keys()].slice(area.column, area.lastColumn + 1);
	return columns.map((column) => ({ name: toColumnLetters(column) }));
}
