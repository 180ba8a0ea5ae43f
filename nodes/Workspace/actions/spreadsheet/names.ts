import { createRefusal } from '../../../core/errors';
import { foldText, shorten, suggestNames } from '../../../core/text';
import { quoteField } from '../../../fields/field';

/** Lists names in a message. */
export function listNames(names: readonly string[]): string {
	const quotedNames = names.slice(0, 20).map((name) => `'${shorten(name, 60)}'`);
	if (names.length > quotedNames.length) quotedNames.push(`${names.length - quotedNames.length} more`);
	return quotedNames.join(', ');
}

/** Whether two titles mean the same tab or named range. */
export const isSameTitle = (title?: string | null, other?: string | null) =>
	title?.toLowerCase() === other?.toLowerCase();

/** The names that differ from missing ones only by case or spaces. */
export function findSimilarNames(names: readonly string[], missingNames: readonly string[]): string[] {
	const foldedNames = missingNames.map(foldText);
	return names.filter((name) => foldedNames.includes(foldText(name)));
}

export const headerRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** The advice begins with those of the table's names that the missing ones may mean. */
export function createColumnError(
	message: string,
	names: readonly string[],
	missingNames: readonly string[],
	advice: string,
) {
	return createRefusal(
		message,
		`${suggestNames(names, missingNames)}Its columns are ${listNames(names)}. ${advice}`,
	);
}
