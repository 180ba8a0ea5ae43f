import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';

type Names = readonly string[];

/** Prints names for a message, in quotes and separated by commas: at most 20 names of 60 characters each. */
export function listNames(names: Names): string {
	const quotedNames = names.slice(0, 20).map((name) => `'${shorten(name, 60)}'`);
	if (names.length > quotedNames.length)
		quotedNames.push(`${names.length - quotedNames.length} more`);
	return quotedNames.join(', ');
}

export const headerRowAdvice = `If the column names are in another row, change ${quoteField('headerRow')}.`;

/** Creates a refusal that lists all columns. @param names the names of the table's columns */
export const createColumnError = (message: string, names: Names, advice: string) =>
	createRefusal(message, `Its columns are ${listNames(names)}. ${advice}`);
