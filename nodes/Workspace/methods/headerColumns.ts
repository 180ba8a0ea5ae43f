import type { ResourceMapperFields } from 'n8n-workflow';

import { readHeaderRow } from '../actions/spreadsheet/headerRow';
import { targetOf } from '../actions/spreadsheet/target';
import type { ChosenSpreadsheet } from './spreadsheetParts';

/** The columns that values can be mapped to: those of the header row, in its order. */
export async function headerColumns({
	sheets,
	spreadsheetId,
	text,
}: ChosenSpreadsheet): Promise<ResourceMapperFields> {
	const [tab, range] = [text('tab'), text('range')];
	if (tab === '' && range === '') return noColumns('Choose the tab first.');
	const headerRow = Number(text('options.headerRow') || 1);
	const { names } = await readHeaderRow(sheets, {
		spreadsheetId,
		target: targetOf({ tab, range }),
		headerRow,
	});
	if (names.length === 0) {
		return noColumns(
			`Row ${headerRow} of the tab has no column names. Enter them there, or change Header Row.`,
		);
	}
	return {
		fields: names.map((name) => ({
			id: name,
			displayName: name,
			required: false,
			defaultMatch: false,
			canBeUsedToMatch: true,
			display: true,
		})),
	};
}

export function noColumns(emptyFieldsNotice: string): ResourceMapperFields {
	return { fields: [], emptyFieldsNotice };
}
