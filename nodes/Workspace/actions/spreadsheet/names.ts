import { createRefusal } from '../../../core/errors';
import { foldText, shorten, suggestNames } from '../../../core/text';
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

/** The names that differ from missing ones only by case or spaces. */
export function findAlike(names: readonly string[], missing: readonly string[]): string[] {
	const folded = missing.map(foldText);
	return names.filter((name) => folded.includes(foldText(name)));
}

export const otherRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** The advice begins with those of the table's names that the missing ones may mean. */
export function createColumnError(
	message: string,
	names: readonly string[],
	missing: readonly string[],
	advice: string,
) {
	return createRefusal(
		message,
		`${suggestNames(names, missing)}Its columns are ${listNames(names)}. ${advice}`,
	);
}
