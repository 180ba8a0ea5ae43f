import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';

/** Lists names in a message. */
export function listNames(names: readonly string[]): string {
	const shown = names.slice(0, 20).map((name) => `'${shorten(name, 60)}'`);
	if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
	return shown.join(', ');
}

/** Whether two titles mean the same tab or named range. */
export const isSameTitle = (title?: string | null, other?: string | null) =>
	title?.toLowerCase() === other?.toLowerCase();

/** A text without what people overlook in it: case and blanks. */
export const foldText = (text: string) => text.toLowerCase().replaceAll(/\s/g, '');

/** The names that differ from missing ones only by case or blanks. */
export function findAlike(names: readonly string[], missing: readonly string[]): string[] {
	const folded = missing.map(foldText);
	return names.filter((name) => folded.includes(foldText(name)));
}

export const otherRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** @param names the columns that the table has: those that the missing ones may mean come first in the advice */
export function createColumnError(
	message: string,
	names: readonly string[],
	missing: readonly string[],
	advice: string,
) {
	const alike = findAlike(names, missing);
	const question = alike.length > 0 ? `Did you mean ${listNames(alike)}? ` : '';
	return createRefusal(message, `${question}Its columns are ${listNames(names)}. ${advice}`);
}
