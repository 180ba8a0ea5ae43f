import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError } from '../../../core/errors';
import { listType, textType } from '../../../fields/field';
import { idempotencyOption } from '../../idempotency';
import {
	type Clients,
	defineOperation,
	type Field,
	type Item,
	type InferParameters,
	requireId,
} from '../../operation';
import * as createdFiles from '../createdFiles';
import { buildParentFolderField, titleField } from '../newFileFields';
import { type Cell, countColumns, readCellRows, toCellData } from './cells';
import { newTabSize, buildSpreadsheetUrl } from './spreadsheet';

const createFields = [
	{ ...titleField, description: 'Title of the new spreadsheet' },
	buildParentFolderField('The folder to create the spreadsheet in. Leave empty to use My Drive.'),
] as const satisfies readonly Field[];

const createOptions = [
	idempotencyOption,
	{
		displayName: 'Locale',
		name: 'locale',
		onlyIn: 'json',
		...textType,
		description: 'Locale for numbers and dates, such as en_GB',
	},
	{
		displayName: 'Time Zone',
		name: 'timeZone',
		onlyIn: 'json',
		...textType,
		description: 'Time zone for dates in formulas, such as Europe/Berlin',
	},
	{
		displayName: 'Tab Names',
		name: 'sheets',
		...listType,
		placeholder: 'e.g. Orders, Customers',
		description:
			'Names of the tabs, separated by commas or new lines. Leave empty to create one tab.',
	},
	{
		displayName: 'Values',
		name: 'values',
		type: 'json',
		default: '[]',
		format: 'rows',
		hint: 'Rows such as [["Name", "Age"], ["Anna", 31]]',
		description:
			'First rows of the first tab, stored unchanged: an array of rows, each an array of cells',
	},
] as const satisfies readonly Field[];

type CreateParams = InferParameters<typeof createFields, typeof createOptions>;

/** The parameters, and the cells of the first rows. */
type NewSpreadsheet = CreateParams & { readonly rows: readonly Cell[][] };

/** Without a locale and time zone, a spreadsheet gets those of the Google account. */
const buildSettings = ({ locale, timeZone }: CreateParams) =>
	Object.fromEntries(Object.entries({ locale, timeZone }).filter(([, value]) => value !== ''));

/**
 * The first tab of a new spreadsheet, which is large enough for the rows. Without a title, it gets
 * Google's.
 */
const buildFirstTab = ({ sheets: [title], rows }: NewSpreadsheet) => ({
	title,
	gridProperties: {
		rowCount: Math.max(newTabSize.rowCount, rows.length),
		columnCount: Math.max(newTabSize.columnCount, countColumns(rows)),
	},
});

const toRowData = (rows: readonly Cell[][]) =>
	rows.map((row) => ({ values: row.map((cell) => toCellData(cell)) }));

/** Builds the tabs of a new spreadsheet. Returns undefined for Google's default: one empty tab. */
function buildNewSheets(prepared: NewSpreadsheet) {
	const { sheets, rows } = prepared;
	if (sheets.length + rows.length === 0) return undefined;
	const data = [{ rowData: toRowData(rows) }];
	const otherTabs = sheets.slice(1).map((title) => ({ properties: { title } }));
	return [{ properties: buildFirstTab(prepared), data }, ...otherTabs];
}

/**
 * Builds the requests that complete a spreadsheet which Drive created. Leaves out tabs that a
 * previous run has made.
 */
function buildCompletionRequests(prepared: NewSpreadsheet, sheets: sheets_v4.Schema$Sheet[]) {
	const { sheets: tabNames, rows } = prepared;
	const requests: sheets_v4.Schema$Request[] = [];
	const settings = buildSettings(prepared);
	const fields = Object.keys(settings).join(',');
	if (fields !== '')
		requests.push({ updateSpreadsheetProperties: { properties: settings, fields } });
	if (tabNames.length + rows.length === 0) return requests;
	const [firstTab, ...otherTabs] = sheets.map(({ properties }) => properties);
	const sheetId = firstTab?.sheetId ?? 0;
	const { title = firstTab?.title, gridProperties } = buildFirstTab(prepared);
	requests.push({
		updateSheetProperties: {
			properties: { sheetId, title, gridProperties },
			fields: 'title,gridProperties.rowCount,gridProperties.columnCount',
		},
	});
	for (const [index, name] of tabNames.slice(1).entries())
		if (!otherTabs.some((tab) => tab?.title === name))
			requests.push({ addSheet: { properties: { title: name, index: index + 1 } } });
	const start = { sheetId, rowIndex: 0, columnIndex: 0 };
	const cells = { start, rows: toRowData(rows), fields: 'userEnteredValue' };
	if (rows.length > 0) requests.push({ updateCells: cells });
	return requests;
}

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create spreadsheet',
	description: 'Create an empty spreadsheet or one with first rows',
	modelDescription: 'Create a Google spreadsheet. Returns its ID and URL.',
	fields: createFields,
	options: createOptions,
	prepare(params): NewSpreadsheet {
		return { ...params, rows: params.values.length > 0 ? readCellRows(params.values) : [] };
	},
	async send(clients, prepared, item) {
		if (needsDrive(prepared)) return await createByDrive(clients, prepared, item);
		const properties = { title: prepared.title, ...buildSettings(prepared) };
		const { data } = await clients.sheets.spreadsheets.create({
			requestBody: { properties, sheets: buildNewSheets(prepared) },
			fields: resultFields,
		});
		return toCreateResult(data);
	},
	async recover(clients, prepared, failure, item) {
		const recoveredId =
			needsDrive(prepared) && (await createdFiles.findCreatedId(clients.drive, item));
		if (recoveredId) return await createByDrive(clients, prepared, item, recoveredId);
		throw createdFiles.explainUnknownCreation(failure, 'spreadsheet', prepared.title);
	},
	nameResult: ({ title, spreadsheetUrl }) => `spreadsheet ${title ?? ''} (${spreadsheetUrl})`,
});

/**
 * Returns whether Drive must create the spreadsheet, because the Sheets API knows neither folders
 * nor idempotency keys.
 */
const needsDrive = ({ parentFolder, idempotencyKey }: CreateParams) =>
	parentFolder !== '' || idempotencyKey !== '';

async function createByDrive(
	{ drive, sheets }: Clients,
	prepared: NewSpreadsheet,
	item: Item,
	recoveredId?: string,
) {
	const { title, parentFolder, values, locale, timeZone } = prepared;
	const content = JSON.stringify([title, prepared.sheets, values, locale, timeZone]);
	const keyHashes = createdFiles.hashFileKey('spreadsheet create', prepared, [content]);
	const newFile = {
		kind: 'spreadsheet',
		title,
		parentFolder,
		keyHashes,
		recoveredId,
		buildUrl: buildSpreadsheetUrl,
	} as const;
	const { id, file, isRepeated } = await createdFiles.createInDrive(drive, newFile, item);
	const complete = () => completeSpreadsheet(sheets, id, prepared);
	const spreadsheet = createdFiles.isFinished(file)
		? await fetchResult(sheets, id)
		: await complete().catch((error: unknown) => {
				// Another execution may have created a tab after we fetched the tabs. Google then
				// refused all of our requests.
				if (!keyHashes || !isNodeError(error) || error.code !== 400) throw error;
				return complete();
			});
	await createdFiles.markFinished(drive, file);
	const result = toCreateResult(spreadsheet);
	return isRepeated ? { ...result, repeated: true } : result;
}

const resultFields = 'spreadsheetId,properties.title,sheets.properties(sheetId,title)';

const fetchResult = async (sheets: sheets_v4.Sheets, spreadsheetId: string) =>
	(await sheets.spreadsheets.get({ spreadsheetId, fields: resultFields })).data;

/** Completes a spreadsheet that Drive created: adds tabs, rows and settings in one request. */
async function completeSpreadsheet(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	prepared: NewSpreadsheet,
) {
	const created = await fetchResult(sheets, spreadsheetId);
	const requests = buildCompletionRequests(prepared, created.sheets ?? []);
	if (requests.length === 0) return created;
	const { data } = await sheets.spreadsheets.batchUpdate({
		spreadsheetId,
		requestBody: { requests, includeSpreadsheetInResponse: true },
		fields: `updatedSpreadsheet(${resultFields})`,
	});
	return data.updatedSpreadsheet ?? created;
}

function toCreateResult({ properties, sheets, ...created }: sheets_v4.Schema$Spreadsheet) {
	const spreadsheetId = requireId(created.spreadsheetId);
	return {
		spreadsheetId,
		// Google's own address may name the user's account.
		spreadsheetUrl: buildSpreadsheetUrl(spreadsheetId),
		title: properties?.title,
		sheets: (sheets ?? []).map(({ properties: tab }) => ({
			sheetId: tab?.sheetId,
			title: tab?.title,
		})),
	};
}
