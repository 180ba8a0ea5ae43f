import { createRefusal } from '../../../core/errors';
import { foldText, shorten, suggestNames } from '../../../core/text';
import { quoteField } from '../../../fields/field';

/** Prints names for a message, in quotes and separated by commas: at most 20 names of 60 characters each. */
export function listNames(names: readonly string[]): string {
	const quotedNames = names.slice(0, 20).map((name) => `'${shorten(name, 60)}'`);
	if (names.length > quotedNames.length) quotedNames.push(`${names.length - quotedNames.length} more`);
	return quotedNames.join(', ');
}

/** Returns whether two titles mean the same tab or named range. Google ignores their case. */
export const isSameTitle = (title?: string | null, otherTitle?: string | null) =>
	title?.toLowerCase() === otherTitle?.toLowerCase();

/** Returns the names that differ from one of the missing names only by case or spaces. */
export function findSimilarNames(names: readonly string[], missingNames: readonly string[]): string[] {
	const foldedNames = missingNames.map(foldText);
	return names.filter((name) => foldedNames.includes(foldText(name)));
}

export const headerRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** Creates a refusal whose advice begins with the columns that a missing name may stand for. @param names the table's columns */
export function createColumnError(
	message: string,
	names: readonly string[],
	missingNames: readonly string[],
	advice: string,
) {
	const suggestion = suggestNames(names, missingNames);
	return createRefusal(message, `${suggestion}Its columns are ${listNames(names)}. ${advice}`);
}
