import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, type Failure } from '../../../items/failure';
import type { Item } from '../../operation';
import { list } from './names';

/** Google's answer to a range in a tab that is not there, and to one that is no range at all. */
const unknownRange = 'Unable to parse range';

/** The failure there is says enough without them: nobody waits long for the tabs. */
const briefly = { retryConfig: { retry: 0 }, timeout: 5000 };

/**
 * Asks Google about a range; where Google knows no such range, the failure says which tabs there are.
 * @throws Failure
 */
export async function inTabs<T>(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, item }: { readonly spreadsheetId: string; readonly item: Item },
	ask: () => Promise<T>,
): Promise<T> {
	return await ask().catch(async (error: unknown) => {
		const isAboutTabs = isFailure(error) && error.code === 400 && error.message.includes(unknownRange);
		if (!isAboutTabs) throw error;
		throw naming(error, await item.once(`tabs ${spreadsheetId}`, () => titlesOf(sheets, spreadsheetId)));
	});
}

function naming(failure: Failure, titles: readonly string[]): Failure {
	if (titles.length === 0) return failure;
	const description = `The spreadsheet has the tabs ${list(titles)}.`;
	return failure.with({ description: [failure.description, description].filter(Boolean).join(' ') });
}

/** @returns none where they cannot be read */
async function titlesOf(sheets: sheets_v4.Sheets, spreadsheetId: string): Promise<string[]> {
	const fields = 'sheets.properties.title';
	const answer = await sheets.spreadsheets.get({ spreadsheetId, fields }, briefly).catch((error: unknown) => {
		// The failure that there was already says more than this one.
		if (isFailure(error)) return undefined;
		throw error;
	});
	return answer?.data.sheets?.flatMap(({ properties }) => properties?.title ?? []) ?? [];
}
