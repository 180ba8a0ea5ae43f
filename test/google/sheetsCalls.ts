import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { FileRegistry } from '../../dev/google/files';
import { ApiError, type Call } from '../../dev/google/service';
import { createSheetsService } from '../../dev/google/sheets/service';

export const files = new FileRegistry();
export const service = createSheetsService({ files });

type Params = Call['params'];

function call(method: string, params: Params, body?: unknown): unknown {
	const reply = service.methods[`sheets.spreadsheets.${method}`]?.({
		method: `sheets.spreadsheets.${method}`,
		params,
		body,
		user: 'someone@example.com',
		clientId: 'client',
		scopes: ['https://www.googleapis.com/auth/spreadsheets'],
		headers: {},
	});
	if (reply === undefined || reply instanceof Promise) throw new Error(`no answer to ${method}`);
	return reply.body;
}

export function create(body: sheets_v4.Schema$Spreadsheet = {}, params: Params = {}) {
	return call('create', params, body) as sheets_v4.Schema$Spreadsheet;
}

export function get(spreadsheetId: string, params: Params = {}) {
	return call('get', { spreadsheetId, ...params }) as sheets_v4.Schema$Spreadsheet;
}

export function batch(spreadsheetId: string, ...requests: sheets_v4.Schema$Request[]) {
	const body = { requests, includeSpreadsheetInResponse: true };
	return call(
		'batchUpdate',
		{ spreadsheetId },
		body,
	) as sheets_v4.Schema$BatchUpdateSpreadsheetResponse;
}

export function read(spreadsheetId: string, range: string, params: Params = {}) {
	return call('values.get', { spreadsheetId, range, ...params }) as sheets_v4.Schema$ValueRange;
}

export function update(
	spreadsheetId: string,
	range: string,
	values: unknown[][],
	params: Params = {},
) {
	const query = { spreadsheetId, range, valueInputOption: 'RAW', ...params };
	return call('values.update', query, { values }) as sheets_v4.Schema$UpdateValuesResponse;
}

export function append(
	spreadsheetId: string,
	range: string,
	values: unknown[][],
	params: Params = {},
) {
	const query = { spreadsheetId, range, valueInputOption: 'RAW', ...params };
	return call('values.append', query, { values }) as sheets_v4.Schema$AppendValuesResponse;
}

/** A spreadsheet with one tab that holds rows. */
export function sheet(
	rows: unknown[][] = [],
	title = 'Sheet1',
	size: { rowCount?: number } = {},
): string {
	return service.seed({
		title: 'T',
		tabs: [{ title, rows, ...size }],
		file: { clientId: 'client' },
	});
}

/** The message of a refusal with the code. */
export function refused(code: number, act: () => unknown): string {
	try {
		act();
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		expect(error.code).toBe(code);
		return error.message;
	}
	throw new Error('was not refused');
}
