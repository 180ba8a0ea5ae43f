import type { INodeListSearchResult } from 'n8n-workflow';

import type { ChosenSpreadsheet } from './chosenSpreadsheet';

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
