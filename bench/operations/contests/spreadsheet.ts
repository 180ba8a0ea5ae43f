import { node } from '../../../dev/n8n/nodes.ts';
import { columns, spreadsheetId, valueOf } from '../google.ts';
import { nothing, byId, numbered, type Contest, type Credentials, type Items } from './contest.ts';

const sheets = (parameters: object, { googleSheetsOAuth2Api }: Credentials) =>
	node(
		'Step',
		'n8n-nodes-base.googleSheets',
		{ authentication: 'oAuth2', ...parameters },
		{ typeVersion: 4.7, credentials: { googleSheetsOAuth2Api } },
	);

const spreadsheet = (operation: string) => ({
	resource: 'spreadsheet',
	operation,
	spreadsheetId: byId(spreadsheetId),
});
const theirSheet = (operation: string, parameters: object = {}) => ({
	resource: 'sheet',
	operation,
	documentId: byId(spreadsheetId),
	sheetName: { __rl: true, mode: 'name', value: 'Sheet1' },
	...parameters,
});
const autoMap = (...matchingColumns: string[]) => ({
	mappingMode: 'autoMapInputData',
	value: {},
	matchingColumns,
	schema: [],
});
const rowItems = (size: number, named: (column: string, row: number) => string): Items =>
	Array.from({ length: size }, (_, row) =>
		Object.fromEntries(columns.map((column) => [column, named(column, row)])),
	);
export const spreadsheets: readonly Contest[] = [
	{
		operation: 'Spreadsheet: Create',
		rival: "n8n's Google Sheets node",
		needs: () => nothing,
		items: numbered,
		returns: (size) => size,
		ours: () => ({ resource: 'spreadsheet', operation: 'create', title: '=Book {{ $json.n }}' }),
		theirs: (_, credentials) => [
			sheets(
				{
					resource: 'spreadsheet',
					operation: 'create',
					title: '=Book {{ $json.n }}',
					sheetsUi: {},
					options: {},
				},
				credentials,
			),
		],
	},
	{
		operation: 'Spreadsheet: Append',
		rival: "n8n's Google Sheets node",
		needs: (size) => ({ ...nothing, rows: 1000, emptyRows: size + 5000 }),
		items: (size) => rowItems(size, (column, row) => `new ${valueOf(column, row)}`),
		returns: (size) => size,
		ours: () => ({ ...spreadsheet('append'), range: 'Sheet1!A:E', valuesSource: 'items' }),
		theirs: (_, credentials) => [
			sheets(theirSheet('append', { columns: autoMap(), options: {} }), credentials),
		],
	},
	{
		operation: 'Spreadsheet: Read',
		rival: "n8n's Google Sheets node",
		needs: (size) => ({ ...nothing, rows: size }),
		items: () => [{}],
		returns: (size) => size,
		ours: () => ({ ...spreadsheet('read'), range: 'Sheet1!A:E' }),
		theirs: (_, credentials) => [sheets(theirSheet('read', { options: {} }), credentials)],
	},
	{
		operation: 'Spreadsheet: Write (Match Columns)',
		rival: "n8n's Google Sheets node (Update)",
		needs: () => ({ ...nothing, rows: 1000 }),
		items: (size) =>
			rowItems(size, (column, row) =>
				column === 'f0' ? valueOf(column, row) : `new ${valueOf(column, row)}`,
			),
		returns: (size) => size,
		ours: () => ({
			...spreadsheet('write'),
			range: 'Sheet1!A:E',
			valuesSource: 'items',
			writeMode: 'update',
			matchColumns: ['f0'],
		}),
		theirs: (_, credentials) => [
			sheets(theirSheet('update', { columns: autoMap('f0'), options: {} }), credentials),
		],
	},
];
