// Executions go together only if each of them would send the same way alone: every field that changes the result is part of the key.
import * as operations from '../../../../nodes/Workspace/actions/spreadsheet';
import { getAllFields, type Field, type Operation } from '../../../../nodes/Workspace/operation';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** What differs from item to item in one request. */
const own = ['values', 'columns'];
const base = {
	spreadsheetId: 'a',
	tab: 'T',
	range: 'A1:B9',
	valuesSource: 'json',
	matchColumns: ['Id'],
};

/** Values that are not the default. */
function chooseOthers({
	type,
	name,
	default: usual,
	jsonDefault = usual,
	options = [],
}: Field): unknown[] {
	if (name === 'matchColumns') return [['Id', 'Name'], ['rowNumber']];
	if (type === 'options')
		return options.map(({ value }) => value).filter((value) => value !== jsonDefault);
	if (type === 'boolean') return [!usual];
	if (type === 'number') return [Number(usual) + 1, Number(usual) + 2];
	return [name === 'spreadsheetId' ? 'b' : 'B2:C9'];
}

const cases = (['append', 'write'] as const).flatMap((name) => {
	const operation: Operation = operations[name];
	const fields = getAllFields(operation).filter((field) => !own.includes(field.name));
	return fields.map((field) => [name, field.name, chooseOthers(field)] as const);
});

test.each(cases)('%s: %s is part of the key', (name, field, others) => {
	const { matchColumns, ...rest } = base;
	const given = name === 'write' ? { ...rest, matchColumns } : rest;
	const values = { values: [{ Id: 1 }], ...given };
	const all = others.filter((value) => value !== given[field as keyof typeof given]);
	const keys = [{}, ...all.map((value) => ({ [field]: value }))].map((more) => {
		return calls.key(name, { ...values, ...more });
	});
	expect(all.length).toBeGreaterThan(0);
	expect(new Set(keys).size).toBe(keys.length);
});

test('rows of cells do not go together with rows that name their columns', () => {
	const given = { spreadsheetId: 'a', tab: 'T', valuesSource: 'json' };
	const [cells, named] = [[['x']], [{ Id: 'x' }]].map((values) =>
		calls.key('append', { ...given, values }),
	);
	expect(cells).not.toBe(named);
	expect(calls.key('append', { ...given, values: [['y'], ['z']] })).toBe(cells);
});
