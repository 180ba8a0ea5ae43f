import { createRefusal } from '../../../../core/errors';
import { listNames } from '../../../../core/text';
import { type Choice, quoteField, type ReadContext, textType } from '../../../../fields/field';
import { createValueRefusal, isRecord, refuseUnknownKeys } from '../../../../fields/values';
import type { Field } from '../../../operation';
import { mayBeIso, parseIso, toIsoText } from '../dates';
import { columnDependencies } from '../fields';
import { createColumnError, headerRowAdvice } from '../table';

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

/** Whether filters compare cells by their size. */
export const compareSize = (filters: readonly RowFilter[]): boolean =>
	filters.some(({ condition }) => condition === 'greaterThan' || condition === 'lessThan');

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

/** Reads the form's `{ filter: [filter, …] }` or an array of filters `{ column, condition, value }`. @throws NodeError 400 otherwise */
function readFilters(raw: unknown, field: Field, context: ReadContext): RowFilter[] {
	if (isRecord(raw) && Object.keys(raw).length === 0) return [];
	const entries = isRecord(raw) ? raw['filter'] : raw;
	if (!Array.isArray(entries) || !entries.every(isRecord))
		throw createValueRefusal(
			field,
			context,
			'an array of objects with column, condition and value',
		);
	refuseUnknownKeys(field, entries, ['column', 'condition', 'value'], filterShape, context);
	// Skips filters of the form that are empty.
	const filledEntries = entries.filter(
		({ column, value }) => context.mode === 'json' || !!column || !!value,
	);
	return filledEntries.map((entry) => readFilter(entry, field, context));
}

const filterShape = `objects with column (a column's name), condition (${conditions.map(({ value }) => value).join(', ')}) and value (text)`;

function readFilter(
	entry: Readonly<Record<string, unknown>>,
	field: Field,
	context: ReadContext,
): RowFilter {
	const { column, condition = 'equals', value = '' } = entry;
	const knownCondition = conditions.find((choice) => choice.value === condition)?.value;
	const text = readFilterText(value);
	if (!knownCondition || typeof column !== 'string' || text === undefined)
		throw createValueRefusal(field, context, filterShape);
	const comparesSize = knownCondition === 'greaterThan' || knownCondition === 'lessThan';
	if (comparesSize && !isNumber(text) && !mayBeIso(text))
		throw createRefusal(
			`${quoteField('filters')} compares '${column}' with something that is neither a number nor a date`,
			'Enter a number such as 12.5, a date such as 2026-01-31, or a time such as 10:30:00.',
		);
	return { column, condition: knownCondition, value: text };
}

function readFilterText(value: unknown): string | undefined {
	if (typeof value === 'object' && value !== null) return toIsoText(value);
	const isText = ['string', 'number', 'boolean'].includes(typeof value);
	return isText ? String(value).trim() : undefined;
}

/** A cell as filters compare it. */
export interface ComparedCell {
	/** The text of the value and what the sheet shows for it. */
	readonly texts: readonly string[];
	/** The value, in which a date is its serial number. */
	readonly value: unknown;
}

/** The columns of a table by their names. Columns count from the first one of the range. */
interface FilteredColumns {
	readonly names: readonly string[];
	readonly findColumn: (name: string) => number | undefined;
	readonly timeZone: string;
}

type RowTest = (getCell: (column: number) => ComparedCell) => boolean;

/** Builds a test whether a row matches the filters. @throws NodeError 400 if a filter names an unknown column */
export function buildRowTest(
	{ filters, matchType }: RowFilters,
	columns: FilteredColumns,
): RowTest {
	const tests = filters.map((filter) => buildFilterTest(filter, columns));
	if (tests.length === 0) return () => true;
	if (matchType === 'anyCondition') return (getCell) => tests.some((test) => test(getCell));
	return (getCell) => tests.every((test) => test(getCell));
}

function buildFilterTest(filter: RowFilter, columns: FilteredColumns): RowTest {
	const column = columns.findColumn(filter.column);
	if (column === undefined) {
		const message = `The table has no column ${listNames([filter.column])} to filter by`;
		throw createColumnError(message, columns.names, headerRowAdvice);
	}
	const matches = buildCellTest(filter, columns.timeZone);
	return (getCell) => matches(getCell(column));
}

type CellTest = (cell: ComparedCell) => boolean;

/** Case does not count in texts, nor does white space at their ends, such as a non-breaking space. */
const fold = (text: string) => text.trim().toLowerCase();

function buildCellTest({ condition, value }: RowFilter, timeZone: string): CellTest {
	const foldedValue = fold(value);
	const limit = toComparable(value, timeZone);
	const hasText =
		(test: (text: string) => boolean): CellTest =>
		({ texts }) =>
			texts.map(fold).some(test);
	const contains = hasText((text) => text.includes(foldedValue));
	const equals = hasText((text) => text === foldedValue);
	const isNotEmpty = hasText((text) => text !== '');
	const tests: Readonly<Record<Condition, CellTest>> = {
		contains,
		equals,
		greaterThan: (cell) => toComparable(cell.value, timeZone) > limit,
		isEmpty: (cell) => !isNotEmpty(cell),
		isNotEmpty,
		lessThan: (cell) => toComparable(cell.value, timeZone) < limit,
		notContains: (cell) => !contains(cell),
		notEquals: (cell) => !equals(cell),
		startsWith: hasText((text) => text.startsWith(foldedValue)),
	};
	return tests[condition];
}

const isNumber = (text: string) => /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text);

/** Returns a number, or the serial number of a date or time; NaN, which is neither greater nor less, for anything else. */
function toComparable(value: unknown, timeZone: string): number {
	if (typeof value === 'number') return value;
	if (typeof value !== 'string') return NaN;
	const text = value.trim();
	if (isNumber(text)) return Number(text);
	return parseIso(text, { locale: '', timeZone })?.serial ?? NaN;
}
