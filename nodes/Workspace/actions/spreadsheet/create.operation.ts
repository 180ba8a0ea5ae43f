import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../core/errors';
import { idempotencyOption } from '../../idempotency';
import { type Clients, defineOperation, type Field, type Item, type ParamsOf } from '../../operation';
import {
	createThroughDrive,
	fileKeyOf,
	findMade,
	missingFolder,
	parentFolder,
	titleField,
} from '../createdFiles';
import { type Cell, rowCells, rowData, updateCells } from './cells';
import { widthOf } from './rows';
import { newTab, spreadsheetUrl } from './sheets';

const createFields = [
	titleField('Title of the new spreadsheet'),
	parentFolder('The folder to create the spreadsheet in. Leave empty to use My Drive.'),
] as const satisfies readonly Field[];

const createOptions = [
	idempotencyOption,
	{
		displayName: 'Locale',
		name: 'locale',
		type: 'string',
		default: '',
		placeholder: 'e.g. en_GB',
		description: 'Locale for numbers and dates. Leave empty to use the locale of the Google account.',
	},
	{
		displayName: 'Tab Names',
		name: 'sheets',
		type: 'string',
		default: '',
		format: 'list',
		placeholder: 'e.g. Orders, Customers',
		description: 'Names of the tabs, separated by commas or new lines. Leave empty to create one tab.',
	},
	{
		displayName: 'Time Zone',
		name: 'timeZone',
		type: 'string',
		default: '',
		placeholder: 'e.g. Europe/Berlin',
		description: 'Time zone for dates in formulas. Leave empty to use the time zone of the Google account.',
	},
	{
		displayName: 'Values',
		name: 'values',
		type: 'json',
		default: '[]',
		format: 'rows',
		placeholder: 'e.g. [["Name", "Age"], ["Anna", 31]]',
		description: 'First rows of the first tab, stored unchanged: an array of rows, each an array of cells',
	},
] as const satisfies readonly Field[];

type Params = ParamsOf<typeof createFields, typeof createOptions>;

/** The first rows of the first tab. */
function rowsOf({ values }: Params): Cell[][] {
	return values.length > 0 ? rowCells({ values, valueInputOption: 'RAW', escapeFormulas: true }) : [];
}

function settingsOf({ locale, timeZone }: Params): sheets_v4.Schema$SpreadsheetProperties {
	return { ...(locale && { locale }), ...(timeZone && { timeZone }) };
}

const gridFields = 'gridProperties.rowCount,gridProperties.columnCount';

function gridFor(rows: readonly Cell[][]): sheets_v4.Schema$GridProperties | undefined {
	const rowCount = Math.max(newTab.rowCount, rows.length);
	const columnCount = Math.max(newTab.columnCount, widthOf(rows));
	const isLarger = rowCount > newTab.rowCount || columnCount > newTab.columnCount;
	return isLarger ? { rowCount, columnCount } : undefined;
}

/** The tabs in a request that creates a spreadsheet; undefined leaves them to Google. */
function newSheets({ sheets }: Params, rows: readonly Cell[][]): sheets_v4.Schema$Sheet[] | undefined {
	if (sheets.length === 0 && rows.length === 0) return undefined;
	const [title, ...others] = sheets;
	return [
		{
			properties: { title, gridProperties: gridFor(rows) },
			...(rows.length > 0 && { data: [{ rowData: rowData(rows) }] }),
		},
		...others.map((other) => ({ properties: { title: other } })),
	];
}

/** The changes that a spreadsheet created by Drive still needs; none if it has everything. */
function shapeRequests(
	params: Params,
	rows: readonly Cell[][],
	present: readonly sheets_v4.Schema$Sheet[],
): sheets_v4.Schema$Request[] {
	const sheetId = present[0]?.properties?.sheetId ?? 0;
	const titles = present.map(({ properties }) => properties?.title);
	const requests: sheets_v4.Schema$Request[] = [];
	const properties = settingsOf(params);
	const fields = Object.keys(properties).join(',');
	if (fields) requests.push({ updateSpreadsheetProperties: { properties, fields } });
	const [first, ...others] = params.sheets;
	if (first !== undefined && first !== titles[0]) {
		requests.push({ updateSheetProperties: { properties: { sheetId, title: first }, fields: 'title' } });
	}
	for (const [at, title] of others.entries()) {
		if (titles.slice(1).includes(title)) continue;
		requests.push({ addSheet: { properties: { title, index: at + 1 } } });
	}
	const gridProperties = gridFor(rows);
	if (gridProperties) {
		requests.push({ updateSheetProperties: { properties: { sheetId, gridProperties }, fields: gridFields } });
	}
	if (rows.length > 0) {
		requests.push(updateCells({ start: { sheetId, rowIndex: 0, columnIndex: 0 } }, rows));
	}
	return requests;
}

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create spreadsheet',
	description: 'Create an empty spreadsheet or one with first rows',
	fields: createFields,
	options: createOptions,
	async execute(clients, params, item) {
		const rows = rowsOf(params);
		if (needsDrive(params)) return await throughDrive(clients, params, item);
		const properties = { title: params.title, ...settingsOf(params) };
		const requestBody = { properties, sheets: newSheets(params, rows) };
		return resultOf((await clients.sheets.spreadsheets.create({ requestBody, fields: resultFields })).data);
	},
	async recover(clients, params, error, item) {
		const ownId = needsDrive(params) ? await findMade(clients.drive, item) : undefined;
		if (ownId !== undefined) return await throughDrive(clients, params, item, ownId);
		const description = `It was not created again, to avoid duplicates. Look for '${params.title}' in Google Drive before you run this again.`;
		throw error.with({ message: `The spreadsheet may have been created: ${error.message}`, description });
	},
	left: ({ title, spreadsheetUrl }) => `spreadsheet ${title ?? ''} (${spreadsheetUrl})`,
	errors: { 404: missingFolder },
});

/** Only Drive can create a spreadsheet in a folder or with a key. */
function needsDrive({ parentFolder: folder, idempotencyKey }: Params): boolean {
	return folder !== '' || idempotencyKey !== '';
}

async function throughDrive(clients: Clients, params: Params, item: Item, ownId?: string) {
	const { sheets, values, locale, timeZone, title, parentFolder: folder } = params;
	const content = JSON.stringify([title, sheets, values, locale, timeZone]);
	const key = fileKeyOf('spreadsheet create', params, [content]);
	const finish = async (spreadsheetId: string, isDone: boolean) => {
		if (isDone) {
			const request = { spreadsheetId, fields: resultFields };
			return async () => resultOf((await clients.sheets.spreadsheets.get(request)).data);
		}
		const made = await shaped(clients, spreadsheetId, params).catch(async (error: unknown) => {
			// Another execution may have created a tab between our check and our change. Google then does nothing of the change.
			if (!key || !isNodeError(error) || error.code !== 400) throw error;
			return await shaped(clients, spreadsheetId, params);
		});
		return () => made;
	};
	const kind = { kind: 'spreadsheet', urlOf: spreadsheetUrl } as const;
	const mimeType = 'application/vnd.google-apps.spreadsheet';
	const file = { ...kind, mimeType, title, parentFolder: folder, key, ownId, finish };
	return await createThroughDrive(clients.drive, file, item);
}

const resultFields = 'spreadsheetId,properties.title,sheets.properties(sheetId,title)';

/** Adds the missing tabs, rows and settings to a spreadsheet that Drive created, in one request. */
async function shaped({ sheets }: Clients, spreadsheetId: string, params: Params) {
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields: resultFields });
	const requests = shapeRequests(params, rowsOf(params), data.sheets ?? []);
	if (requests.length === 0) return resultOf(data);
	const { data: answer } = await sheets.spreadsheets.batchUpdate({
		spreadsheetId,
		requestBody: { requests, includeSpreadsheetInResponse: true },
		fields: `updatedSpreadsheet(${resultFields})`,
	});
	return resultOf(answer.updatedSpreadsheet ?? data);
}

function resultOf({ spreadsheetId, properties, sheets }: sheets_v4.Schema$Spreadsheet) {
	return {
		spreadsheetId,
		// Google's own address may name the user's account.
		spreadsheetUrl: spreadsheetUrl(spreadsheetId ?? ''),
		title: properties?.title,
		sheets: (sheets ?? []).map(({ properties: tab }) => ({ sheetId: tab?.sheetId, title: tab?.title })),
	};
}
