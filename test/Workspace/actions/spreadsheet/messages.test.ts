// What a person reads in the form, and a developer in the input object, when a table, a column or a range is not as it was entered.
import type { IDataObject } from 'n8n-workflow';

import { Workspace } from '../../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../../createExecuteContext';
import { grid, mappedByName, SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

interface Case {
	readonly operation?: 'append' | 'read';
	readonly more: IDataObject;
	readonly json?: IDataObject;
}
type Row = [title: string, Case, inForm: string, inObject?: string];

const update = { writeMode: 'update' };
const reading = (more: IDataObject): Case => ({ operation: 'read', more });
const cells =
	'enter cells such as A1:D10, columns such as A:D or rows such as 1:5, or leave it empty to use the whole tab.';
const optionNames = ['extraColumns', 'headerRow', 'unmatched', 'range'];

/** Message and description, as the form and the input object tell them. */
async function tell({ operation, more, json = { sku: 'a' } }: Case) {
	const spreadsheetId = calls.sheet([['SKU', 'Qty']]);
	const source = operation === 'read' ? {} : { valuesSource: 'columns' };
	const given: IDataObject = { tab: 'Sheet1', ...source, ...more };
	const entries = Object.entries(given);
	const options = Object.fromEntries(entries.filter(([name]) => optionNames.includes(name)));
	const fields = Object.fromEntries(entries.filter(([name]) => !optionNames.includes(name)));
	const name = operation ?? 'write';
	const read = async (parameters: IDataObject) => {
		const running = calls.form(name, spreadsheetId, parameters, json);
		const { message, description } = await failureOf(running);
		return `${message} ${description}`;
	};
	const tab = tabNamed(given['tab'] as string);
	const inputObject = { operation: name, spreadsheetId, ...given };
	return {
		inForm: await read({ ...mappedByName, ...fields, tab, options }),
		inObject: await read({ inputMode: 'json', inputObject }),
	};
}

test.each<Row>([
	[
		'no column to match by',
		{ more: { ...update, matchColumns: [] } },
		"'Match Column Names or IDs' is required to update rows Choose the columns that identify a row, or Row Number for rows that were read from this tab. To write without looking for rows, set 'Write Mode' to Overwrite or Replace the Whole Table.",
		"'matchColumns' is required to update rows Choose the columns that identify a row, or rowNumber for rows that were read from this tab. To write without looking for rows, set 'writeMode' to overwrite or replace.",
	],
	[
		'no number',
		{ more: { ...update, matchColumns: ['rowNumber'] }, json: { Qty: 1 } },
		"The item has no value for 'Row Number'",
		"The item has no value for 'rowNumber'",
	],
	[
		'the number among columns',
		{ more: { ...update, matchColumns: ['rowNumber', 'SKU'] }, json: { SKU: 1 } },
		"The table has no column 'rowNumber' to match rows by",
	],
	[
		'no row with the key',
		{ more: { ...update, matchColumns: ['SKU'], unmatched: 'error' }, json: { SKU: 1 } },
		"set 'If No Row Matches' to Skip the Item, or set 'Write Mode' to Update or Add",
		"set 'unmatched' to skip, or set 'writeMode' to updateOrAdd",
	],
	[
		'a column of another name',
		{ operation: 'append', more: {}, json: { Total: 1 } },
		"The table has no column 'Total' Its columns are 'SKU', 'Qty'. If the column names are in another row, change 'Header Row'. To add columns or leave fields out, set 'Extra Columns' to Add or Ignore. Or choose a value for each column in 'Columns'.",
		"The table has no column 'Total' Its columns are 'SKU', 'Qty'. If the column names are in another row, change 'headerRow'. To add columns or leave fields out, set 'extraColumns' to add or ignore. Or choose a value for each column in 'columns'.",
	],
	[
		'a match column that differs by spaces',
		{ more: { ...update, matchColumns: ['S K U'] }, json: { Qty: 1 } },
		"The table has no column 'S K U' to match rows by Its columns are 'SKU', 'Qty'.",
	],
	['another tab', reading({ range: 'Sheet1!A1:C5' }), 'or enter only cells, such as A1:C5.'],
	['a range without cells', reading({ range: 'Wrong!' }), 'or enter only cells, such as A:D.'],
	...['all rows', 'A1-C5', 'A to C', 'A1;C5', 'A1..C5', '*', 'SKU', 'A'].map((range): Row => {
		const title = `words as a range: ${range}`;
		return [title, reading({ range }), `In 'Range', ${cells}`, `In 'range', ${cells}`];
	}),
	[
		'words as a range, without a tab',
		reading({ tab: '', range: 'all rows' }),
		"no tab 'all rows' The spreadsheet has the tabs 'Sheet1'. Choose one in 'Tab', and leave 'Range' empty to use all of it.",
		"no tab 'all rows' The spreadsheet has the tabs 'Sheet1'. Choose one in 'tab', and leave 'range' empty to use all of it.",
	],
	...['sheet', 'Shet1', 'Sheet 2', 'Sheet1 b'].map((tab): Row => {
		const told = `has no tab '${tab}' The spreadsheet has the tabs 'Sheet1'. Choose one in`;
		return [`a tab that is near: ${tab}`, reading({ tab }), told];
	}),
	[
		'a filter that is near',
		reading({
			output: 'rows',
			filters: { filter: [{ column: 'Qtys', condition: 'equals', value: '' }] },
		}),
		"no column 'Qtys' to filter by Its columns are 'SKU', 'Qty'.",
	],
])('%s', async (_, given, inForm, inObject = inForm) => {
	const told = await tell(given);
	expect(told.inForm).toContain(inForm);
	expect(told.inObject).toContain(inObject);
});

const restore = 'To get them back, open File > Version history in Google Sheets.';
const formulas = "Formulas are gone or became values: 'Gross'.";

test.each([
	[{ Key: 'a', Net: 2 }, `Columns were removed: 'Gross', 'Note'. ${formulas} ${restore}`],
	[{ Key: 'a', Net: 2, Gross: 4, Note: '' }, `${formulas} ${restore}`],
])('Replace by %j says which rows, columns and formulas are gone', async (json, told) => {
	const rows = [
		['a', 1, '=B2*2', 'x'],
		['b', 2],
	];
	const spreadsheetId = calls.typed(['Key', 'Net', 'Gross', 'Note'], ...rows);
	const hints = await calls.hints('write', { spreadsheetId, writeMode: 'replace' }, json);
	expect(hints).toEqual([`The table had 2 rows and now has 1. ${told}`]);
	expect(calls.methods).toHaveLength(3);
});

test('a table that is replaced has no other rows, so none of its texts is among dates', async () => {
	const spreadsheetId = calls.sheet(grid(['Key', 'Due'], ['a', 45296]));
	calls.google.sheets.format(spreadsheetId, 'Sheet1!B2:B9', 'dd.mm.yyyy');
	const given = { spreadsheetId, writeMode: 'replace' };
	const hints = await calls.hints('write', given, { Due: 'soon', Note: 'y' });
	expect(hints.join(' ')).not.toContain('A text was stored');
});

test('a text among numbers, dates or checkboxes is told', async () => {
	const header = ['Key', 'Amount', 'Due', 'Paid', 'Note'];
	const spreadsheetId = calls.sheet([header, ['a', 1, 45296, false, 'x']]);
	calls.google.sheets.format(spreadsheetId, 'Sheet1!C2:C9', 'dd.mm.yyyy');
	const json = {
		Key: 'b',
		Amount: '1,200',
		Due: 'Nov 29, 2026',
		Paid: 'yes',
		Note: 'y',
		New: 'z',
	};
	expect(await calls.hints('append', { spreadsheetId, extraColumns: 'add' }, json)).toEqual([
		"A text was stored in 'Amount', 'Due', 'Paid', where other rows have numbers, dates or checkboxes. Sums and sorting leave it out. Provide a number by {{ Number($json.total) }}, and true or false without quotes. A text such as 2026-01-31 becomes a date if 'valueInputOption' is AUTO and the row names its columns.",
	]);
	// What the hint asks for.
	const told = { Key: 'c', Amount: 1200.5, Due: '2026-01-31', Paid: true };
	const automatic = { spreadsheetId, valueInputOption: 'AUTO', values: [told] };
	expect(await calls.hints('append', automatic)).toEqual([]);
	// Google makes a number of it.
	const entered = { spreadsheetId, valueInputOption: 'USER_ENTERED' };
	expect(await calls.hints('append', entered, { Key: 'c', Amount: '1200' })).toEqual([]);
});

test('n8n asks for columns to match by before it runs the node', () => {
	const { properties } = new Workspace().description;
	const [matchColumns] = properties.filter(({ name }) => name === 'matchColumns');
	expect(matchColumns).toMatchObject({
		required: true,
		displayOptions: { show: { writeMode: ['update', 'updateOrAdd'] } },
	});
});
