import { columns, spreadsheetId } from '../google.ts';
import { byId, byName, mapColumns, oneItem, rivalNode, type Contest } from './contest.ts';

const rival = "n8n's Google Sheets node";
export const sheets = rivalNode('googleSheets', 4.7, 'googleSheetsOAuth2Api', {
	authentication: 'oAuth2',
});

const ours = (operation: string, parameters: object = {}) => ({
	resource: 'spreadsheet',
	operation,
	spreadsheetId: byId(spreadsheetId),
	options: { range: 'Sheet1!A:E' },
	...parameters,
});
export const theirSheet = (operation: string, parameters: object = {}) => ({
	...{ resource: 'sheet', operation, documentId: byId(spreadsheetId), options: {} },
	sheetName: byName('Sheet1'),
	...parameters,
});
const autoMap = (...matchingColumns: string[]) => ({
	...{ mappingMode: 'autoMapInputData', value: {}, matchingColumns, schema: [] },
});

/** JavaScript of rows, too many of which do not fit into a workflow. @param kept columns with the values of the sheet */
const rowItems = (size: number, kept: readonly string[] = []) =>
	`Array.from({ length: ${size} }, (_, row) => Object.fromEntries(${JSON.stringify(columns)}.map((name) => [name, (${JSON.stringify(kept)}.includes(name) ? '' : 'new ') + name + ' of row ' + row])))`;

const append = (operation: string, rows: number, values: object): Contest => ({
	operation,
	rival,
	needs: (size) => ({ rows, emptyRows: size + 5000 }),
	input: (size) => rowItems(size),
	ours: () => ours('append', values),
	theirs: () => sheets(theirSheet('append', { columns: autoMap() })),
});
const fromItems = { columns: { mappingMode: 'autoMapInputData', value: null } };
const expressions = mapColumns(
	Object.fromEntries(columns.map((name) => [name, `={{ $json.${name} }}`])),
);
const appendExpressions = (operation: string): Contest => ({
	...append(operation, 1000, { columns: expressions }),
	...{ requests: 3, sizes: [100] },
});

export const spreadsheets: readonly Contest[] = [
	{
		operation: 'Spreadsheet: Create',
		rival,
		ours: () => ({
			resource: 'spreadsheet',
			operation: 'create',
			title: '=Book {{ $json.n }}',
		}),
		theirs: () =>
			sheets({
				resource: 'spreadsheet',
				operation: 'create',
				title: '=Book {{ $json.n }}',
				...{ sheetsUi: {}, options: {} },
			}),
	},
	{ ...append('Spreadsheet: Append', 1000, fromItems), requests: 3, grows: true },
	{
		...append('Spreadsheet: Append, to 100,000 rows', 100_000, fromItems),
		requests: 3,
		sizes: [1000],
	},
	{
		...appendExpressions('Spreadsheet: Append, an expression per column'),
		rival: `${rival} (an expression per column)`,
		theirs: () => sheets(theirSheet('append', { columns: expressions })),
	},
	appendExpressions('Spreadsheet: Append, an expression per column (n8n evaluates none)'),
	{
		operation: 'Spreadsheet: Read',
		rival,
		needs: (size) => ({ rows: size }),
		input: oneItem,
		ours: () => ours('read'),
		theirs: () => sheets(theirSheet('read')),
		grows: true,
	},
	{
		operation: 'Spreadsheet: Read, with dates',
		rival,
		needs: (size) => ({ rows: size, dates: true }),
		input: oneItem,
		ours: () => ours('read', { options: { range: 'Sheet1!A:F' } }),
		theirs: () => sheets(theirSheet('read')),
	},
	{
		operation: 'Spreadsheet: Write (Match Columns)',
		rival: `${rival} (Update)`,
		needs: () => ({ rows: 1000 }),
		input: (size) => rowItems(size, ['f0']),
		ours: () => ours('write', { ...fromItems, writeMode: 'updateOrAdd', matchColumns: ['f0'] }),
		theirs: () => sheets(theirSheet('update', { columns: autoMap('f0') })),
	},
];
