// Rows From → Columns keeps types: what was typed follows its column, an expression its own value.
import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../../createExecuteContext';
import { createNodeTool, token } from '../../runNode';
import { grid, mapped, SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

const table = [
	['Key', 'Count', 'Done', 'Zip', 'Day', 'New'],
	['x', '', '', '', '', ''],
	['a', 3, true, '00123', 45296, ''],
];

async function write(
	operation: 'append' | 'write',
	columns: IDataObject,
	matchColumn = 'Key',
): Promise<unknown[][]> {
	const id = calls.sheet(table);
	calls.format(id, 'E2:E9', 'dd.mm.yyyy');
	const byKey = { writeMode: 'update', matchColumns: [matchColumn] };
	const fields = { ...(operation === 'write' ? byKey : {}), ...mapped(columns) };
	await calls.form(operation, id, fields, { text: '7', number: 7, rowNumber: 2 });
	return calls.stored(id).slice(2);
}

test.each<[string, string, unknown]>([
	['Count', '4', 4],
	['Count', '-4.5', -4.5],
	['Count', '00123', '00123'],
	['Count', '+4912345', '+4912345'],
	['Count', '.5', 0.5],
	['Count', '1e3', '1e3'],
	['Count', '1234567890.123456', '1234567890.123456'],
	['Count', '={{ $json.text }}', '7'],
	['Count', '={{ $json.number }}', 7],
	['Count', 'many', 'many'],
	['Done', 'false', false],
	['Done', 'FALSE', false],
	['Done', 'no', 'no'],
	['Zip', '4', '4'],
	['Zip', '={{ $json.number }}', 7],
	['Day', '2024-01-06', 45297],
	['Day', ' 2024-01-06 ', 45297],
	['Day', '4', '4'],
	['New', '4', '4'],
])('%s gets %j as %j in a new row and over an old one', async (column, given, expected) => {
	const at = table[0]?.indexOf(column) ?? -1;
	const appended = await write('append', { Key: 'b', [column]: given });
	expect(appended[1]?.[at]).toBe(expected);
	const updated = await write('write', { Key: 'a', [column]: given });
	expect(updated[0]?.[at]).toBe(expected);
	expect(updated).toHaveLength(1);
});

test.each<[string, unknown, string]>([
	['5.1.2024', '5.1.2024', 'dd.mm.yyyy'],
	['05.01.2024', 45296.5, 'dd.mm.yyyy'],
	['10:30', (10 * 3600 + 30 * 60 + 15) / 86_400, 'h:mm'],
])('the key %s finds the cell with %j as %s, which shows it', async (Day, stored, format) => {
	const rows = grid(['Day', 'A'], [45000, ''], [stored, 'old']);
	const id = calls.book([{ title: 'Sheet1', rows }], { locale: 'de_DE' });
	calls.format(id, 'A2:A9', format);
	const byKey = { writeMode: 'updateOrAdd', matchColumns: ['Day'] };
	await calls.form('write', id, { ...byKey, ...mapped({ Day, A: 'new' }) });
	expect(calls.stored(id).slice(2)).toEqual([[stored, 'new']]);
});

test.each(['3', '={{ 1 + 2 }}'])('Columns match the row %j', async (rowNumber) => {
	const rows = await write('write', { rowNumber, Done: 'false' }, 'rowNumber');
	expect(rows).toEqual([['a', 3, false, '00123', 45296]]);
});

test.each([null, '', '={{ $json.nothing }}'])('Columns match no row by %j', async (rowNumber) => {
	// The item has a number.
	const failure = await failureOf(write('write', { rowNumber, Done: 'false' }, 'rowNumber'));
	expect(failure.message).toBe("The item has no value for 'Row Number'");
	expect(calls.writes).toEqual([]);
});

/** A tool that updates rows by their order, or adds them. A model fills in all columns. */
function createTool(id: string) {
	const fromModel = (key: string) => [key, `={{ $fromAI('${key}', '', 'string') }}`];
	const value = Object.fromEntries(['Order', 'Amount', 'Paid'].map(fromModel)) as IDataObject;
	calls.google.tokens.issue({ token });
	return createNodeTool({
		url: calls.google.url,
		node: { type: 'test.workspaceTool' },
		parameters: {
			...{ resource: 'spreadsheet', operation: 'write', ...mapped(value) },
			...{ writeMode: 'updateOrAdd', matchColumns: ['Order'] },
			spreadsheetId: { __rl: true, mode: 'id', value: id },
			tab: tabNamed('Sheet1'),
		},
	});
}

test('what a model fills in takes the type of its column, in an updated row and in a new one', async () => {
	const id = calls.sheet(grid(['Order', 'Amount', 'Paid'], [1041, 10, false]));
	const tool = createTool(id);
	await tool({ Order: '1041', Amount: '42', Paid: 'TRUE' });
	await tool({ Order: '1042', Amount: '7.5', Paid: 'false' });
	expect(calls.stored(id).slice(1)).toEqual(grid([1041, 42, true], [1042, 7.5, false]));
});

test('a column that a model leaves empty, because it has to fill in all of them, keeps its cell', async () => {
	const id = calls.sheet(grid(['Order', 'Amount', 'Paid'], [1041, 10, false]));
	await createTool(id)({ Order: '1041', Amount: '', Paid: 'TRUE' });
	expect(calls.stored(id)[1]).toEqual([1041, 10, true]);
});
