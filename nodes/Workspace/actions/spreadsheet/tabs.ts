import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, type Failure } from '../../../items/failure';
import { list } from './names';

/** Google's answer to a range in a tab that is not there, and to one that is no range at all. */
const unknownRange = 'Unable to parse range';

/**
 * Asks Google about a range; where Google knows no such range, the failure says which tabs there are.
 * @throws Failure
 */
export async function inTabs<T>(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	ask: () => Promise<T>,
): Promise<T> {
	try {
		return await ask();
	} catch (error) {
		const isAboutTabs = isFailure(error) && error.code === 400 && error.message.includes(unknownRange);
		throw isAboutTabs ? await namingTabs(sheets, spreadsheetId, error) : error;
	}
}

async function namingTabs(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	failure: Failure,
): Promise<Failure> {
	const fields = 'sheets.properties.title';
	const answer = await sheets.spreadsheets.get({ spreadsheetId, fields }).catch((error: unknown) => {
		// The failure that there was already says more than this one.
		if (isFailure(error)) return undefined;
		throw error;
	});
	const titles = answer?.data.sheets?.flatMap(({ properties }) => properties?.title ?? []) ?? [];
	if (titles.length === 0) return failure;
	const description = `The spreadsheet has the tabs ${list(titles)}.`;
	return failure.with({ description: [failure.description, description].filter(Boolean).join(' ') });
}
