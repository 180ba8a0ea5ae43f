import { readExample } from '../../dev/examples.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { Execution, NodeItem } from '../../dev/n8n/n8nApi.ts';
import { type Credentials, storeSignIn } from './credentials';
import { items, manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { inRow, outputOf, workspaceType } from './workflows';

let google: GoogleServer;
let n8n: SharedN8n;
let credentials: Credentials;

beforeAll(async () => {
	google = await startGoogle();
	n8n = await useSharedN8n();
	credentials = await storeSignIn(n8n.api, google);
});
afterAll(async () => {
	await google.close();
});
afterEach(() => {
	expectNoViolations(google);
});

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** Runs nodes of the Workspace in a row after items. */
async function run(values: readonly object[], ...steps: object[]): Promise<Execution> {
	const nodes = steps.map((step, at) => {
		const { more, ...parameters } = step as { more?: Record<string, unknown> };
		return node(`Step ${at}`, workspaceType, parameters, { credentials, ...more });
	});
	const all = [manualTrigger(), items('Items', values), ...nodes];
	return await n8n.api.runOnce(inRow('spreadsheets', ...all));
}

function outputs(execution: Execution, step: number, output = 0): NodeItem[] {
	expect(execution.resultData.error).toBeUndefined();
	return outputOf(execution, `Step ${step}`, output);
}

const jsonOf = (all: readonly NodeItem[]) => all.map(({ json }) => json);

const created = '={{ $("Step 0").item.json.spreadsheetId }}';

test('create, append, write and read by the form', async () => {
	const spreadsheet = { resource: 'spreadsheet', spreadsheetId: byId(created) };
	const execution = await run(
		[{ title: 'A' }, { title: 'B' }],
		{
			resource: 'spreadsheet',
			title: '={{ $json.title }}',
			options: { sheets: 'My Tab, Other', values: '[["Name", "Age"]]' },
		},
		{
			...spreadsheet,
			operation: 'append',
			valuesSource: 'json',
			values: '={{ [[$json.title, 31], ["=1", null]] }}',
			options: { range: 'My Tab!A:B' },
		},
		{
			...spreadsheet,
			operation: 'write',
			writeMode: 'overwrite',
			valuesSource: 'json',
			values: '[[42]]',
			options: { range: 'My Tab!B3' },
		},
		{ ...spreadsheet, operation: 'read', tab: { __rl: true, mode: 'name', value: 'My Tab' } },
	);
	expect(jsonOf(outputs(execution, 0))).toMatchObject([{ title: 'A' }, { title: 'B' }]);
	expect(jsonOf(outputs(execution, 1))).toMatchObject([
		{ updatedRange: "'My Tab'!A2:B3" },
		{ updatedRange: "'My Tab'!A2:B3" },
	]);
	expect(jsonOf(outputs(execution, 2))).toMatchObject([
		{ updatedRange: "'My Tab'!B3" },
		{ updatedRange: "'My Tab'!B3" },
	]);
	const rows = outputs(execution, 3);
	expect(jsonOf(rows)).toEqual([
		{ Name: 'A', Age: 31, rowNumber: 2 },
		{ Name: '=1', Age: 42, rowNumber: 3 },
		{ Name: 'B', Age: 31, rowNumber: 2 },
		{ Name: '=1', Age: 42, rowNumber: 3 },
	]);
	expect(rows.map(({ pairedItem }) => pairedItem)).toEqual([
		{ item: 0 },
		{ item: 0 },
		{ item: 1 },
		{ item: 1 },
	]);
});

test('the same by the input object', async () => {
	const step = (inputObject: string) => ({ inputMode: 'json', inputObject });
	const execution = await run(
		[{}],
		step('{ "operation": "create", "resource": "spreadsheet", "title": "C" }'),
		step(
			'={{ { operation: "append", spreadsheetId: $json.spreadsheetId, range: "Sheet1!A:B", values: [["a", "b"]] } }}',
		),
		step(
			'={{ { operation: "write", spreadsheetId: $json.spreadsheetId, range: "Sheet1!B1", values: [["c"]] } }}',
		),
		step(
			`={{ { operation: "read", spreadsheetId: ${created.slice(4, -3)}, range: "Sheet1!A1:C1" } }}`,
		),
	);
	expect(jsonOf(outputs(execution, 3))).toEqual([
		{ range: 'Sheet1!A1:C1', majorDimension: 'ROWS', values: [['a', 'c']] },
	]);
});

test('items that fail go their own way, the others go on', async () => {
	const id = google.sheets.seed({ title: 'Log', tabs: [{ title: 'Log', rows: [['a']] }] });
	const append = {
		resource: 'spreadsheet',
		operation: 'append',
		spreadsheetId: byId(id),
		tab: { __rl: true, mode: 'name', value: 'Log' },
	};
	const execution = await run(
		[{ a: 1 }, { x: 2 }, { a: 'x'.repeat(50_001) }, { a: 4 }, { a: ['b', 5] }],
		{
			...append,
			columns: { mappingMode: 'autoMapInputData', value: null },
			more: { onError: 'continueErrorOutput' },
		},
	);
	expect(jsonOf(outputs(execution, 0))).toMatchObject([
		{ updatedRange: 'Log!A2' },
		{ updatedRange: 'Log!A3' },
		{ updatedRange: 'Log!A4' },
	]);
	expect(outputs(execution, 0, 1)).toMatchObject([
		{
			json: {
				error: {
					code: 400,
					status: 'INVALID_ARGUMENT',
					message: expect.stringMatching(/^The table has no column 'x'\. ./) as string,
				},
			},
		},
		{
			json: {
				error: {
					code: 400,
					message: expect.stringMatching(
						/^The input item, field 'a', does not fit in a cell\. ./,
					) as string,
				},
			},
		},
	]);
	expect(google.sheets.values(id, 'Log')).toEqual([['a'], [1], [4], ['b, 5']]);
});

test('the example puts unread emails into a sheet', async () => {
	google.gmail.seed({ from: 'Ann <ann@example.com>', subject: '=1+1', text: 'formula' });
	google.gmail.seed({ from: 'Ben <ben@example.com>', subject: 'Ü', text: 'second' });
	const id = google.sheets.seed({
		title: 'Log',
		tabs: [{ title: 'Mails', rows: [['Received', 'From', 'Subject', 'Preview']] }],
	});
	const example = await readExample('mail-to-sheet.json');
	const nodes = example.nodes.map((one) => {
		const parameters = one['parameters'] as object;
		const chosen =
			'spreadsheetId' in parameters ? { ...parameters, spreadsheetId: byId(id) } : parameters;
		return one['type'] === workspaceType ? { ...one, parameters: chosen, credentials } : one;
	});
	const execution = await n8n.api.runOnce({ ...example, nodes });
	expect(execution.status).toBe('success');
	const [, ...rows] = google.sheets.values(id, 'Mails');
	expect(rows.map((row) => row[2])).toEqual(expect.arrayContaining(['=1+1', 'Ü']));
});
