// Replace: what belongs to the old table, and what stands beside and below it and stays.
import type { IDataObject } from 'n8n-workflow';

import { grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const replace = async (spreadsheetId: string, range: string, ...all: IDataObject[]) =>
	await calls.give('write', { spreadsheetId, range, writeMode: 'replace' }, ...all);

test.each([
	[['Id', 'Name', 'Age', 'City'], 'B:D'],
	[['Id', 'Name', 'Age', 'City'], 'B1:E'],
	[['Id', '', 'Age', 'City'], 'B:D'],
])('columns of %j left of the range %s stay', async (header, range) => {
	const row = [1, 'Anna', 31, 'Rome'];
	const spreadsheetId = calls.sheet([header, row]);
	const [, name = '', ...others] = header;
	const fields = [name || 'B', ...others];
	const values = ['Ben', 42, 'Oslo'];
	const json = Object.fromEntries(fields.map((field, at) => [field, values[at]]));
	const written = await replace(spreadsheetId, `Sheet1!${range}`, json);
	expect(written).toMatchObject([{ updatedRange: 'Sheet1!B1:D2' }]);
	expect(calls.stored(spreadsheetId)).toEqual(grid(header, [1, ...values]));
});
