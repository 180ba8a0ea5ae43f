import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../core/errors';
import { hashOf, idempotencyOption, markOf } from '../../idempotency';
import { type Clients, defineOperation, type Field, type Item, type ParamsOf } from '../../operation';
import { type FileKey, findMade, madeOnce, makeInFolder, missingFolder, parentFolder } from '../createdFiles';
import { type Cell, cellData, rowCells } from './cells';
import { widthOf } from './rows';
import { spreadsheetUrl } from './sheets';

const spreadsheetType = 'application/vnd.google-apps.spreadsheet';

const createFields = [
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		required: true,
		description: 'Title of the new spreadsheet',
	},
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

/** What a new spreadsheet is to hold. */
interface Shape extends Pick<Params, 'sheets' | 'locale' | 'timeZone'> {
	/** Of the first tab. */
	readonly rows: Cell[][];
}

function shapeOf({ sheets, values, locale, timeZone }: Params): Shape {
	const given = { values, valueInputOption: 'RAW', escapeFormulas: true } as const;
	return { sheets, rows: values.length > 0 ? rowCells(given) : [], locale, timeZone };
}

function settingsOf({ locale, timeZone }: Shape): sheets_v4.Schema$SpreadsheetProperties {
	return { ...(locale && { locale }), ...(timeZone && { timeZone }) };
}

/** Google's size of a new tab. */
const usual = { rowCount: 1000, columnCount: 26 };
const gridFields = 'gridProperties.rowCount,gridProperties.columnCount';

function gridFor(rows: readonly Cell[][]): sheets_v4.Schema$GridProperties | undefined {
	const rowCount = Math.max(usual.rowCount, rows.length);
	const columnCount = Math.max(usual.columnCount, widthOf(rows));
	const fits = rowCount === usual.rowCount && columnCount === usual.columnCount;
	return fits ? undefined : { rowCount, columnCount };
}

function rowData(rows: readonly Cell[][]): sheets_v4.Schema$RowData[] {
	return rows.map((row) => ({ values: row.map(cellData) }));
}

/** The tabs in a request that creates a spreadsheet; undefined leaves them to Google. */
function newSheets({ sheets, rows }: Shape): sheets_v4.Schema$Sheet[] | undefined {
	if (sheets.length === 0 && rows.length === 0) return undefined;
	const [first, ...others] = sheets;
	const gridProperties = gridFor(rows);
	return [
		{
			properties: { ...(first !== undefined && { title: first }), ...(gridProperties && { gridProperties }) },
			...(rows.length > 0 && { data: [{ rowData: rowData(rows) }] }),
		},
		...others.map((title) => ({ properties: { title } })),
	];
}

/** The changes that turn a spreadsheet created by Drive into the wanted one. Applied to the result, there are none. */
function shapeRequests(shape: Shape, present: readonly sheets_v4.Schema$Sheet[]): sheets_v4.Schema$Request[] {
	const { sheets, rows } = shape;
	const sheetId = present[0]?.properties?.sheetId ?? 0;
	const titles = present.map(({ properties }) => properties?.title);
	const requests: sheets_v4.Schema$Request[] = [];
	const properties = settingsOf(shape);
	const fields = Object.keys(properties).join(',');
	if (fields) requests.push({ updateSpreadsheetProperties: { properties, fields } });
	const [first, ...others] = sheets;
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
		const start = { sheetId, rowIndex: 0, columnIndex: 0 };
		requests.push({ updateCells: { start, rows: rowData(rows), fields: 'userEnteredValue' } });
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
		const shape = shapeOf(params);
		const key = keyOf(params);
		if (key) return await createOnce(clients, params, key, item);
		if (params.parentFolder !== '') {
			const { title, parentFolder: folder } = params;
			const id = await makeInFolder(clients.drive, { mimeType: spreadsheetType, title, folder }, item);
			return await shaped(clients, id, shape, item);
		}
		const properties = { title: params.title, ...settingsOf(shape) };
		const requestBody = { properties, sheets: newSheets(shape) };
		return resultOf((await clients.sheets.spreadsheets.create({ requestBody, fields: resultFields })).data);
	},
	async recover(clients, params, error, item) {
		const key = keyOf(params);
		const id = params.parentFolder === '' && !key ? undefined : await findMade(clients.drive, item);
		if (id !== undefined && key) return await createOnce(clients, params, key, item, id);
		if (id !== undefined) return await shaped(clients, id, shapeOf(params), item);
		const description = `It was not created again, to avoid duplicates. Look for '${params.title}' in Google Drive before you run this again.`;
		throw error.with({ message: `The spreadsheet may have been created: ${error.message}`, description });
	},
	errors: { 404: missingFolder },
});

function keyOf(params: Params): FileKey | undefined {
	const { idempotencyKey: key, parentFolder: target, title, sheets, values, locale, timeZone } = params;
	const mark = markOf({ key, operation: 'spreadsheet create', target });
	const content = JSON.stringify([title, sheets, values, locale, timeZone]);
	return mark === undefined ? undefined : { mark, content: hashOf([content]) };
}

/** Through Drive, whose files can carry the key's mark. */
async function createOnce(
	clients: Clients,
	params: Params,
	key: FileKey,
	item: Item,
	ownId?: string,
): Promise<ReturnType<typeof resultOf>> {
	const { title, parentFolder: folder } = params;
	const shape = shapeOf(params);
	const made = await madeOnce(clients.drive, 'id', {
		key,
		ownId,
		async make(appProperties) {
			const file = { mimeType: spreadsheetType, title, folder, appProperties };
			const id = await makeInFolder(clients.drive, file, item);
			item.made({ kind: 'spreadsheet', id, url: spreadsheetUrl(id) });
			return { id, appProperties };
		},
		complete: async ({ id }) => {
			const shapeIt = () => shaped(clients, id ?? '', shape, item);
			// Another execution may have created a tab between our check and our change. Google then does nothing of the change.
			await shapeIt().catch(async (error: unknown) => {
				if (!isNodeError(error) || error.code !== 400) throw error;
				await shapeIt();
			});
		},
		result: async ({ id }) => {
			const request = { spreadsheetId: id ?? '', fields: resultFields };
			return resultOf((await clients.sheets.spreadsheets.get(request)).data);
		},
	});
	if (!made) throw new Error('No spreadsheet was created');
	return made;
}

const resultFields = 'spreadsheetId,properties.title,sheets.properties(sheetId,title)';

/** Adds the missing tabs, rows and settings to a spreadsheet that Drive created, in one request. */
async function shaped({ sheets }: Clients, spreadsheetId: string, shape: Shape, item: Item) {
	item.made({ kind: 'spreadsheet', id: spreadsheetId, url: spreadsheetUrl(spreadsheetId) });
	const fields = 'spreadsheetId,properties.title,sheets.properties';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	const requests = shapeRequests(shape, data.sheets ?? []);
	if (requests.length === 0) return resultOf(data);
	const { data: answer } = await sheets.spreadsheets.batchUpdate({
		spreadsheetId,
		requestBody: { requests, includeSpreadsheetInResponse: true },
		fields: 'updatedSpreadsheet(spreadsheetId,properties.title,sheets.properties(sheetId,title))',
	});
	return resultOf(answer.updatedSpreadsheet ?? data);
}

function resultOf({ spreadsheetId, properties, sheets }: sheets_v4.Schema$Spreadsheet) {
	return {
		spreadsheetId,
		// Google's own address may name the user's account.
		spreadsheetUrl: spreadsheetUrl(spreadsheetId ?? ''),
		title: properties?.title,
		sheets: (sheets ?? []).map((sheet) => ({
			sheetId: sheet.properties?.sheetId,
			title: sheet.properties?.title,
		})),
	};
}
