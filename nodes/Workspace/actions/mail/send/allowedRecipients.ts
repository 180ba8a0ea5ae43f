import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import type { Field, ReadContext } from '../../../../fields/field';
import { readText, splitList } from '../../../../fields/values';
import { findAddresses, toAsciiDomain } from '../addresses';

/**
 * Converts only ASCII letters to lower case. Other letters, such as the Kelvin sign, could become
 * ASCII letters.
 */
export const toLowerAscii = (text: string) =>
	text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * Reads the option Allowed Recipients: the addresses and domains that emails may go to, in lower
 * case. Undefined allows everybody.
 * @throws NodeError 400 for an entry that is neither an address nor a domain, or if it is set and
 * has no entry
 */
export function readAllowedRecipients(
	raw: unknown,
	field: Field,
	context: ReadContext,
): ReadonlySet<string> | undefined {
	const text = readText(raw, field, context);
	// In JSON mode, the node always has the field. In the form, an option that was added and left
	// empty allows nobody.
	const isAdded = context.mode === 'fields' && context.findSavedValue?.(field) !== undefined;
	if (text === '' && !isAdded) return undefined;
	const entries = splitList(text);
	if (entries.length === 0) throw createEntryRefusal('an empty list');
	return new Set(entries.map(readEntry));
}

function readEntry(entry: string): string {
	// `@example.com` is a domain.
	const recipient = /.@/.test(entry)
		? findAddresses(entry).addresses[0]?.address
		: toAsciiDomain(entry.replace(/^@/, ''));
	if (recipient === undefined) throw createEntryRefusal(shorten(entry));
	return toLowerAscii(recipient);
}

const createEntryRefusal = (entry: string) =>
	createRefusal(
		`'Allowed Recipients' of the node must name addresses or domains, not ${entry}`,
		'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com, or remove the option to allow everybody.',
	);
