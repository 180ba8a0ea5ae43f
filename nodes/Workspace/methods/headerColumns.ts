import type { INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import { readHeaderRow } from '../actions/spreadsheet/headerRow';
import { rowNumberKey } from '../actions/spreadsheet/cells';
import { targetOf } from '../actions/spreadsheet/range';
import type { ChosenSpreadsheet } from './spreadsheetParts';

/** The columns that values can be mapped to: those of the header row, in its order. */
export async function headerColumns(chosen: ChosenSpreadsheet): Promise<ResourceMapperFields> {
	const names = await headersOf(chosen);
	if (names === undefined) return noColumns('Choose the tab first.');
	if (names.length === 0) {
		return noColumns(
			`Row ${headerRowOf(chosen)} of the tab has no column names. Enter them there, or change Header Row.`,
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

/** The columns that rows can be found by, and the number of the row. */
export async function matchColumns(chosen: ChosenSpreadsheet): Promise<INodePropertyOptions[]> {
	const names = (await headersOf(chosen)) ?? [];
	const rowNumber = { name: 'Row Number', value: rowNumberKey, description: 'As Read gives it' };
	return [...names.map((name) => ({ name, value: name })), rowNumber];
}

function headerRowOf({ text }: ChosenSpreadsheet): number {
	return Number(text('options.headerRow') || 1);
}

/** Undefined while no tab is chosen. */
async function headersOf(chosen: ChosenSpreadsheet): Promise<readonly string[] | undefined> {
	const { sheets, spreadsheetId, text } = chosen;
	const [tab, range] = [text('tab'), text('range')];
	if (tab === '' && range === '') return undefined;
	const asked = { spreadsheetId, target: targetOf({ tab, range }), headerRow: headerRowOf(chosen) };
	return (await readHeaderRow(sheets, asked)).names;
}

export function noColumns(emptyFieldsNotice: string): ResourceMapperFields {
	return { fields: [], emptyFieldsNotice };
}
