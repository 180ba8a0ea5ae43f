import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { fileIdOf, isRecord } from '../../fields/values';
import { askGoogle } from './picker';

/** What a list that depends on other fields of the form knows of them. */
export interface ChosenSpreadsheet {
	readonly sheets: sheets_v4.Sheets;
	readonly spreadsheetId: string;
	/** What a field of the form holds now; empty while it cannot be told. */
	readonly text: (field: string) => string;
}

/**
 * n8n's method for a list that depends on the chosen spreadsheet.
 * @param nothing what is shown while none is chosen
 */
export function inChosenSpreadsheet<T>(
	ask: (chosen: ChosenSpreadsheet, filter?: string) => Promise<T>,
	nothing: () => T,
) {
	return async function (this: ILoadOptionsFunctions, filter?: string): Promise<T> {
		const text = (field: string) => textOf(this.getNodeParameter(field, ''));
		const given = text('spreadsheetId');
		if (given === '') return nothing();
		return await askGoogle(this, async ({ sheets }) => {
			const spreadsheetId = fileIdOf(given, 'spreadsheetId', 'Spreadsheet');
			return await ask({ sheets, spreadsheetId, text }, filter);
		});
	};
}

/** A locator's value or a plain one. An expression that needs an input item is not resolved here. */
function textOf(raw: unknown): string {
	const value = isRecord(raw) ? raw['value'] : raw;
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	return text.startsWith('=') ? '' : text;
}

/** The tabs of the chosen spreadsheet whose names hold what the user typed. */
export async function searchTabs(
	{ sheets, spreadsheetId }: ChosenSpreadsheet,
	filter = '',
): Promise<INodeListSearchResult> {
	const fields = 'sheets.properties(sheetId,title)';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	const wanted = filter.trim().toLowerCase();
	const results = (data.sheets ?? []).flatMap(({ properties }) => {
		const { title, sheetId } = properties ?? {};
		if (!title?.toLowerCase().includes(wanted)) return [];
		const url = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=${sheetId ?? 0}`;
		return [{ name: title, value: title, url }];
	});
	return { results };
}
