import { createRefusal } from '../../../../core/errors';
import { listNames } from '../../../../core/text';
import { type Choice, quoteField, type ReadContext, textType } from '../../../../fields/field';
import {
	createValueRefusal,
	describeType,
	hasExpression,
	isRecord,
	missingDataAdvice,
	refuseUnknownEntryKeys,
} from '../../../../fields/values';
import type { Field } from '../../../operation';
import { isNumberText } from '../cells';
import {
	createColumnError,
	findColumnsInAnyCase,
	headerRowAdvice,
	type NamedColumns,
} from '../columnNames';
import { parseIso, toIsoText } from '../dates';
import { columnDependencies } from '../fields';
import { type CellValue, type FetchedCells, fetchCellsAs, getValue } from './fetchCells';

const conditions = [
	{ name: 'Contains', value: 'contains' },
	{ name: 'Equals', value: 'equals' },
	{ name: 'Greater Than', value: 'greaterThan' },
	{ name: 'Is Empty', value: 'isEmpty' },
	{ name: 'Is Not Empty', value: 'isNotEmpty' },
	{ name: 'Less Than', value: 'lessThan' },
	{ name: 'Not Contains', value: 'notContains' },
	{ name: 'Not Equals', value: 'notEquals' },
	{ name: 'Starts With', value: 'startsWith' },
] as const satisfies readonly Choice[];

type Condition = (typeof conditions)[number]['value'];

const valuedConditions = conditions
	.map(({ value }) => value)
	.filter((value) => !value.endsWith('Empty'));

interface RowFilter {
	readonly column: string;
	readonly condition: Condition;
	readonly value: string;
}

/** The values of the fields below. */
export interface RowFilters {
	readonly matchType: 'allConditions' | 'anyCondition';
	readonly filters: readonly RowFilter[];
}

/** Whether a filter compares cells by their size. */
const comparesSize = ({ condition }: RowFilter): boolean =>
	condition === 'greaterThan' || condition === 'lessThan';

export const matchTypeField = {
	displayName: 'Must Match',
	name: 'matchType',
	type: 'options',
	options: [
		{
			name: 'All Conditions',
			value: 'allConditions',
			description: 'Only rows that match every filter',
		},
		{
			name: 'Any Condition',
			value: 'anyCondition',
			description: 'Rows that match at least one filter',
		},
	],
	default: 'allConditions',
	showWhen: { output: ['rows'] },
	description: 'How to combine several filters',
} as const satisfies Field;

export const filtersField = {
	displayName: 'Filters',
	name: 'filters',
	type: 'fixedCollection',
	placeholder: 'Add Filter',
	default: {},
	showWhen: { output: ['rows'] },
	entries: {
		group: 'filter',
		fields: [
			{
				displayName: 'Column Name or ID',
				name: 'column',
				type: 'options',
				default: '',
				typeOptions: {
					loadOptionsMethod: 'getColumns',
					loadOptionsDependsOn: columnDependencies,
				},
				description:
					'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
			},
			{
				displayName: 'Condition',
				name: 'condition',
				type: 'options',
				options: conditions,
				default: 'equals',
			},
			{
				displayName: 'Value',
				name: 'value',
				...textType,
				showWhen: {
					condition: valuedConditions,
				},
				description:
					'Case is ignored. To compare dates, enter one such as 2026-01-31 or use an expression.',
			},
		],
	},
	description:
		'Return only rows that match. A filter compares the value of the cell and the text that the sheet shows for it.',
	read: readFilters,
} as const satisfies Field;

/**
 * Reads the form's `{ filter: [filter, …] }` or an array of filters `{ column, condition, value }`.
 * @throws NodeError 400 otherwise
 */
function readFilters(raw: unknown, field: Field, context: ReadContext): RowFilter[] {
	if (isRecord(raw) && Object.keys(raw).length === 0) return [];
	const entries = isRecord(raw) ? raw['filter'] : raw;
	if (!Array.isArray(entries) || !entries.every(isRecord))
		throw createValueRefusal(field, `an array of ${filterShape}`);
	refuseUnknownEntryKeys(field, entries, ['column', 'condition', 'value'], filterShape);
	// A filter that was added to the form and left as it is means nothing.
	const mayBeUntouched =
		context.mode === 'fields' && !hasExpression(context.findSavedValue?.(field));
	const filters = entries.filter(
		({ column, condition, value }) =>
			!mayBeUntouched || !!column || !!value || condition !== 'equals',
	);
	return filters.map((entry) => readFilter(entry, field, context));
}

const filterShape = `objects with column (a column's name), condition (${conditions.map(({ value }) => value).join(', ')}) and value (text)`;

function readFilter(
	entry: Readonly<Record<string, unknown>>,
	field: Field,
	context: ReadContext,
): RowFilter {
	const { column, condition: wanted = 'equals' } = entry;
	const condition = conditions.find((choice) => choice.value === wanted)?.value;
	const value = condition?.endsWith('Empty') ? '' : readFilterText(entry['value']);
	if (!column && context.mode === 'fields')
		throw createRefusal(
			`${quoteField('filters')} has a filter without a column`,
			`Choose its column, or remove the filter. ${missingDataAdvice}`,
		);
	if (value === undefined && context.mode === 'fields')
		throw createRefusal(
			`${quoteField('filters')} compares '${String(column)}' with ${describeType(entry['value'])}, and not with a text, a number or a date`,
			missingDataAdvice,
		);
	if (!condition || typeof column !== 'string' || value === undefined)
		throw createValueRefusal(field, filterShape);
	const filter = { column, condition, value };
	if (comparesSize(filter) && Number.isNaN(toSize(value, 'UTC')))
		throw createRefusal(
			`${quoteField('filters')} compares '${column}' with something that is neither a number nor a date`,
			'Enter a number such as 12.5, a date such as 2026-01-31, or a time such as 10:30:00.',
		);
	return filter;
}

function readFilterText(value: unknown): string | undefined {
	if (typeof value === 'object' && value !== null) return toIsoText(value);
	const isText = ['string', 'number', 'boolean'].includes(typeof value);
	return isText ? String(value).trim() : undefined;
}

/** Returns whether a row of fetched cells matches. */
type RowTest = (row: number) => boolean;

/**
 * Builds a test whether a row matches the filters.
 * @throws NodeError 400 if a filter names an unknown column
 */
export async function buildRowTest(
	{ filters, matchType }: RowFilters,
	cells: FetchedCells,
	columns: NamedColumns,
): Promise<RowTest> {
	// An empty tab has no columns yet, and no rows that could match.
	if (columns.names.length === 0) return () => false;
	const tests: RowTest[] = [];
	for (const filter of filters) tests.push(await buildFilterTest(filter, cells, columns));
	const isAnyEnough = matchType === 'anyCondition' && tests.length > 0;
	return (row) => {
		if (isAnyEnough) return tests.some((matches) => matches(row));
		return tests.every((matches) => matches(row));
	};
}

/**
 * Case does not count in texts, nor does white space at their ends, such as a non-breaking space.
 */
const fold = (text: CellValue) => String(text).trim().toLowerCase();

/** What a condition wants of one of a cell's texts. */
const textTests: Readonly<Record<string, (cell: string, text: string) => boolean>> = {
	contains: (cell, text) => cell.includes(text),
	equals: (cell, text) => cell === text,
	isNotEmpty: (cell) => cell !== '',
	startsWith: (cell, text) => cell.startsWith(text),
};

/** The conditions that say the opposite of another one. */
const opposites: Readonly<Record<string, string>> = {
	isEmpty: 'isNotEmpty',
	notContains: 'contains',
	notEquals: 'equals',
};

async function buildFilterTest(
	{ column: name, condition, value }: RowFilter,
	cells: FetchedCells,
	columns: NamedColumns,
): Promise<RowTest> {
	const columnInTab = findColumnsInAnyCase(columns, [[name]]).get(name);
	if (columnInTab === undefined) {
		const message = `The table has no column ${listNames([name])} to filter by`;
		throw createColumnError(message, columns.names, headerRowAdvice);
	}
	const column = columnInTab - cells.start.column;
	if (condition === 'greaterThan' || condition === 'lessThan') {
		const values = await fetchCellsAs(cells, 'UNFORMATTED_VALUE');
		const timeZone = cells.formats.timeZone || (await cells.spreadsheet.fetchTimeZone());
		const limit = toSize(value, timeZone);
		const getSize = (row: number) => toSize(values[row]?.[column], timeZone);
		return condition === 'lessThan'
			? (row) => getSize(row) < limit
			: (row) => getSize(row) > limit;
	}
	const shownTexts = await fetchCellsAs(cells, 'FORMATTED_VALUE');
	const opposite = opposites[condition];
	const matches = textTests[opposite ?? condition];
	const text = fold(value);
	return (row) => {
		const values = [getValue(cells, row, column), shownTexts[row]?.[column] ?? ''];
		const hasMatch = values.some((cell) => matches?.(fold(cell), text));
		return opposite === undefined ? hasMatch : !hasMatch;
	};
}

/**
 * Returns a number, or the serial number of a date or time; NaN, which is neither greater nor less,
 * for anything else.
 */
function toSize(value: unknown, timeZone: string): number {
	if (typeof value === 'number') return value;
	if (typeof value !== 'string') return NaN;
	const text = value.trim();
	if (isNumberText(text)) return Number(text);
	return parseIso(text, { timeZone })?.serial ?? NaN;
}
