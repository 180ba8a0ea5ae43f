import type { IDataObject } from 'n8n-workflow';

import { runNode, token } from '../../runNode';
import { grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const rows = grid(['Id', 'Status'], [7, 'new']);

/** Runs the node in JSON mode, with one input object for each item. */
async function write(...inputObjects: IDataObject[]): Promise<void> {
	calls.google.tokens.issue({ token });
	const parameters = { inputMode: 'json', inputObject: '={{ $json }}' };
	const items = inputObjects.map((given) => ({ json: { operation: 'write', ...given } }));
	await runNode({ url: calls.google.url, parameters, items });
}

const byId = { matchColumns: ['Id'] };

test.each([
	['a range of the same tab', { tab: 'Sheet1', range: 'A:B', ...byId }],
	['a tab that the range names', { range: 'Sheet1!A:B', ...byId }],
	['a range that is the title of the tab', { range: 'Sheet1', ...byId }],
	['cells in place of columns', { tab: 'Sheet1', range: 'A2:B2' }],
])('an item does not overtake an earlier one with %s', async (_what, between) => {
	const spreadsheetId = calls.sheet(rows);
	const first = { spreadsheetId, tab: 'Sheet1', ...byId };
	const cells = 'matchColumns' in between ? { Id: 7, Status: 'second' } : [7, 'second'];
	await write(
		{ ...first, values: [{ Id: 7, Status: 'first' }] },
		{ spreadsheetId, ...between, values: [cells] },
		{ ...first, values: [{ Id: 7, Status: 'third' }] },
	);
	expect(calls.stored(spreadsheetId)).toEqual(grid(['Id', 'Status'], [7, 'third']));
});

test('items that take turns with two tabs still go together', async () => {
	const spreadsheetId = calls.book([
		{ title: 'One', rows },
		{ title: 'Two', rows },
	]);
	const given = ['One', 'Two', 'One', 'Two'].map((tab, index) => ({
		...{ spreadsheetId, tab, ...byId },
		values: [{ Id: index, Status: 'added' }],
	}));
	await write(...given);
	expect(calls.writes).toHaveLength(2);
});
