/**
 * Reads addresses strictly: what is not clearly one address is none. Parsers for RFC 5322 were
 * tried, and lost: email-addresses 5.0.0 drops the quotes of `"a b"@x.org`, refuses names such as
 * `Team [HR]` and overflows on 2,000 brackets; nodemailer's reads `a b@x.org` as an address.
 */
import { domainToASCII, domainToUnicode } from 'node:url';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { decodeHeader } from '../../../untrusted/mail/charset';
import { entryPattern } from '../../../untrusted/mail/decodeAddresses';

export interface Address {
	/** '' if the address has no name. */
	readonly name: string;
	readonly address: string;
}

/**
 * The longest line that an email may have, in characters (RFC 5322, 2.1.1). A longer entry is no
 * address.
 */
const maxEntryLength = 998;

/**
 * Parses a list that has only addresses.
 * @param label the field's name, in quotes
 * @throws NodeError 400 that names an entry that is no address
 */
export function requireAddresses(text: string, label: string): Address[] {
	const { addresses, invalidEntries } = findAddresses(text);
	const [wrongEntry] = invalidEntries;
	if (wrongEntry === undefined) return addresses;
	throw createRefusal(
		`${label} has an entry that is not an email address: ${shorten(wrongEntry)}`,
		'An address looks like name@example.com. Separate addresses with commas or new lines, not semicolons. Put a name that contains a comma in quotes, followed by the address in angle brackets.',
	);
}

/**
 * Finds the addresses in a list that is separated by commas or new lines, and the entries that are
 * no addresses.
 */
export function findAddresses(text: string) {
	const addresses: Address[] = [];
	const invalidEntries: string[] = [];
	for (const line of text.split(/[\r\n]+/)) {
		const entries = splitAtCommas(line);
		const lineAddress = parseNameWithComma(entries);
		if (lineAddress) {
			addresses.push(lineAddress);
			continue;
		}
		for (const entry of entries) {
			const address = parseEntry(entry);
			if (address) addresses.push(address);
			else invalidEntries.push(entry);
		}
	}
	return { addresses, invalidEntries };
}

/** Splits a line at the commas outside of quotes. Leaves out blank entries. */
const splitAtCommas = (line: string) =>
	(line.match(entryPattern) ?? []).map((entry) => entry.trim());

/**
 * Parses a line such as `Doe, John <john@example.com>`, as Gmail shows senders. In a line with more
 * entries, commas separate addresses.
 */
function parseNameWithComma(entries: readonly string[]): Address | undefined {
	const [family = '', given = '', ...otherEntries] = entries;
	// With a further @, one of the two entries is an address itself, or has one in its name.
	if (otherEntries.length > 0 || family.includes('@') || given.split('@').length > 2)
		return undefined;
	const address = parseEntry(given);
	const familyName = parseName(family);
	if (!address?.name || !familyName) return undefined;
	return { ...address, name: `${familyName}, ${address.name}` };
}

/**
 * Parses `address`, `<address>` or `name <address>`, each also with a comment in brackets at its
 * end.
 */
function parseEntry(text: string): Address | undefined {
	if (text.length > maxEntryLength || hasControlCharacter(text)) return undefined;
	const entry = text.replace(/\s+\([^()"<>]*\)$/, '');
	const [, rawName = '', inBrackets] = /^(.*?)<([^<>]*)>$/.exec(entry) ?? [];
	const address = parseAddress(inBrackets?.trim() ?? entry);
	const name = parseName(rawName.trim());
	return address === undefined || name === undefined ? undefined : { name, address };
}

/**
 * Parses the name before an address: in quotes, or words of which none can be mistaken for anything
 * else.
 */
function parseName(text: string): string | undefined {
	if (text.length > maxEntryLength) return undefined;
	const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(text) ?? [];
	if (quoted === undefined && /["<>:;\\]/.test(text)) return undefined;
	const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? decodeHeader(text.replaceAll(/\s+/g, ' '));
	return hasControlCharacter(name) ? undefined : name.trim();
}

/**
 * Matches a word of the part before the @. It has letters of any script and, in ASCII, the
 * characters that RFC 5322 calls atext.
 */
const wordPattern = /^(?:[\w!#$%&'*+/=?^`{|}~-]|[^\u0000-\u007f\p{C}\p{Z}])+$/u;

/**
 * Parses an address, with letters of any script (RFC 6532) and at most the lengths of RFC 5321,
 * 4.5.3.1. Nothing is corrected. Local parts in quotes and IP addresses in place of domains are
 * refused, because hardly anybody has such an address, and servers read them differently.
 */
function parseAddress(text: string): string | undefined {
	const [, local = '', domainText = ''] = /^([^@]*)@([^@]*)$/.exec(text) ?? [];
	const domain = toAsciiDomain(domainText);
	// Some servers decode an encoded word (RFC 2047) into another address.
	if (domain === undefined || /=\?[^?]+\?[bq]\?/i.test(local)) return undefined;
	if (!local.split('.').every((word) => wordPattern.test(word))) return undefined;
	const address = `${local}@${domain}`;
	const isShort = Buffer.byteLength(local) <= 64 && Buffer.byteLength(address) <= 254;
	return isShort ? address : undefined;
}

const hostLabelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Converts a domain to lower-case ASCII, as servers use it. Returns undefined for other text. */
export function toAsciiDomain(domain: string): string | undefined {
	if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(domain)) return undefined;
	const lowerCase = domain.normalize('NFC').toLowerCase();
	const ascii = domainToASCII(lowerCase);
	// Refuses a domain with other letters than ASCII if the conversion changes them, because the
	// result is not the domain that the user sees.
	if (ascii !== lowerCase && domainToUnicode(ascii) !== lowerCase) return undefined;
	const labels = ascii.split('.');
	// A domain without a letter in its last label would be an IP address.
	const isDomain = /[a-z]/.test(labels.at(-1) ?? '');
	return isDomain && labels.every((label) => hostLabelPattern.test(label)) ? ascii : undefined;
}

/**
 * Returns whether a text has line breaks of any kind, other control characters than tabs, or half a
 * surrogate pair.
 */
const hasControlCharacter = (text: string) =>
	/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text.replaceAll('\t', ' '));
