import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import { insideOf, notCells, parseRange, printRange, type TabRange } from './range';

/** The target of an operation, as the user gave it. */
export interface Targeted {
	readonly spreadsheetId: string;
	/** Title of a tab; empty where the range names it. */
	readonly tab: string;
	readonly range: string;
}

/** The part of the spreadsheet that the fields Tab and Range name together. @throws Failure 400 */
export function targetOf({ tab: title, range }: Pick<Targeted, 'tab' | 'range'>): TabRange {
	const [tab, text] = [title.trim(), range.trim()];
	if (tab === '') {
		if (text !== '') return parseRange(text);
		throw refusal(
			`${named('tab')} or ${named('range')} is required`,
			'Choose the tab, or enter a range such as Sheet1!A:D. If one of them is an expression, check that the input item contains the data.',
		);
	}
	if (text === '') return { tab, cells: undefined, name: undefined };
	const inside = text.includes('!') ? undefined : insideOf(tab, text);
	if (inside) return inside;
	if (!text.includes('!')) throw notCells(text);
	throw refusal(
		`${named('range')} contains a tab name, but ${named('tab')} is also set`,
		`Leave ${named('tab')} empty, or enter only cells, such as A:D.`,
	);
}

/** The target as Google reads it. @throws Failure 400 */
export function sentTarget(target: Pick<Targeted, 'tab' | 'range'>): string {
	return printRange(targetOf(target));
}
