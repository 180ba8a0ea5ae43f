import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, type Failure } from '../../../items/failure';
import type { Item } from '../../operation';
import { list } from './names';
import { parseRange, type TabRange } from './range';

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
	{
		spreadsheetId,
		range,
		item,
	}: { readonly spreadsheetId: string; readonly range: string; readonly item: Item },
	ask: () => Promise<T>,
): Promise<T> {
	return await ask().catch(async (error: unknown) => {
		const isAboutTabs = isFailure(error) && error.code === 400 && error.message.includes(unknownRange);
		if (!isAboutTabs) throw error;
		const titles = await item.once(`tabs ${spreadsheetId}`, () => titlesOf(sheets, spreadsheetId));
		throw naming(error, parseRange(range), titles);
	});
}

/** Says so where the tab is missing: Google speaks of the range, also of what the node made of it. */
function naming(failure: Failure, { tab, cells }: TabRange, titles: readonly string[]): Failure {
	if (titles.length === 0) return failure;
	const has = `The spreadsheet has the ${titles.length === 1 ? 'tab' : 'tabs'} ${list(titles)}.`;
	if (tab === undefined || titles.includes(tab)) {
		return failure.with({ description: [has, failure.description].filter(Boolean).join(' ') });
	}
	const missing = cells === undefined ? 'tab or named range' : 'tab';
	return failure.with({
		message: `Google Sheets: the spreadsheet has no ${missing} ${list([tab])}`,
		description: has,
	});
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
