import { parseOneAddress } from 'email-addresses';

import { refusal } from '../../../items/failure';

export interface Address {
	/** '' when there is none. */
	readonly name: string;
	readonly address: string;
}

/** Of a line in a mail, RFC 5322, 2.1.1; the parser runs out of stack far above it. */
const maxLength = 998;

/**
 * The addresses of a list that is separated by commas or new lines, in RFC 5322 form.
 * @param label what the user calls the field, in quotes
 * @throws Failure 400 that names the first entry that is no address
 */
export function addressesOf(text: string, label: string): Address[] {
	return entriesOf(text).map((entry) => addressOf(entry, label));
}

/** Apart at commas and line breaks outside quotes, comments and angle brackets. */
function entriesOf(text: string): string[] {
	const pieces =
		text.match(/(?:"(?:\\.|[^"\\\r\n])*"|\((?:\\.|[^()\\\r\n])*\)|<[^<>\r\n]*>|[^,\r\n])+/g) ?? [];
	return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

function addressOf(entry: string, label: string): Address {
	// RFC 6532: names and addresses may have any letters.
	const parsed = entry.length > maxLength ? null : parseOneAddress({ input: entry, rfc6532: true });
	if (parsed?.type !== 'mailbox' || hasControl(entry)) {
		throw refusal(
			`${label} has an entry that is not an email address: ${shown(entry)}`,
			'Separate addresses by commas or new lines, not by semicolons. A name that has a comma stands in quotes, with the address in angle brackets behind it.',
		);
	}
	// The parser takes brackets in a name for a comment and leaves them out, and the quotes off a local part.
	const [, name = '', address = entry] = /^([^]*)<([^<>]*)>$/.exec(entry) ?? [];
	return { name: unquoted(name.trim()), address: address.trim() };
}

function unquoted(name: string): string {
	return /^"[^]*"$/.test(name) ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1') : name;
}

function hasControl(text: string): boolean {
	return /[\u0000-\u001f\u007f]/.test(text);
}

function shown(entry: string): string {
	return entry.length > 100 ? `${entry.slice(0, 100)}…` : entry;
}
