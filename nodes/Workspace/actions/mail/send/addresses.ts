import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

import { createRefusal } from '../../../../core/errors';
import { isSameIgnoringCase, shorten } from '../../../../core/text';
import { decodeHeader } from '../../../../untrusted/mail/charset';

const quotedPattern = /"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"/;
/** Matches a comment, which may contain other comments, but only one level deep. */
const commentPattern =
	/\([^()\\\r\n]*(?:(?:\\[^\r\n]|\([^()\\\r\n]*(?:\\[^\r\n][^()\\\r\n]*)*\))[^()\\\r\n]*)*\)/;
const anglePattern = new RegExp(`<[^<>"\r\n]*(?:${quotedPattern.source}[^<>"\r\n]*)*>`);
/** The tokens of an address list (RFC 5322). The loops of a pattern match each character in one way only, so no text takes long. */
const kinds = [
	['quoted', quotedPattern],
	['comment', commentPattern],
	['angle', anglePattern],
	['comma', /,/],
	['lineBreak', /[\r\n]+/],
	['space', /[ \t]+/],
	['word', /[^"(<,\r\n \t]+/],
	/** Quotes or brackets that are never closed, up to the end of the line. */
	['broken', /["(<][^\r\n]*/],
] as const;
const tokenPattern = new RegExp(
	kinds.map(([kind, { source }]) => `(?<${kind}>${source})`).join('|'),
	'g',
);

interface AddressToken {
	readonly kind: (typeof kinds)[number][0];
	/** The source text, including quotes or brackets. */
	readonly raw: string;
}

function splitIntoTokens(text: string): AddressToken[] {
	return Array.from(text.matchAll(tokenPattern), (match) => ({
		kind: kinds.find(([kind]) => match.groups?.[kind] !== undefined)?.[0] ?? 'broken',
		raw: match[0],
	}));
}

/** The limit of RFC 5321, 4.5.3.1.3, without the angle brackets. */
const maxAddressBytes = 254;

/**
 * Parses RFC 5322's addr-spec. Allows letters of any script (RFC 6532), and white space and comments around the address and its @.
 * @returns undefined if the tokens are anything else, or longer than RFC 5321 allows; nothing is corrected
 */
function parseAddrSpec(tokens: readonly AddressToken[]): string | undefined {
	const spec = joinAddrSpec(tokens);
	if (spec === undefined) return undefined;
	const [, local = '', domainText = ''] = /^("(?:[^"\\]|\\.)*"|[^@]*)@([^@]*)$/.exec(spec) ?? [];
	const domain = toAsciiDomain(domainText);
	if (domain === undefined || !isLocalPart(local)) return undefined;
	const address = `${local}@${domain}`;
	return Buffer.byteLength(address) > maxAddressBytes ? undefined : address;
}

/** Joins the tokens without comments and spaces. Returns undefined if a token or a space cannot be part of an addr-spec. */
function joinAddrSpec(tokens: readonly AddressToken[]): string | undefined {
	let spec = '';
	let hasSpace = false;
	for (const { kind, raw } of tokens) {
		if (kind === 'space' || kind === 'comment') {
			hasSpace = spec !== '';
			continue;
		}
		const isAllowed = kind === 'word' || (kind === 'quoted' && spec === '');
		const isSeparateWord = hasSpace && !spec.endsWith('@') && !raw.startsWith('@');
		if (!isAllowed || isSeparateWord) return undefined;
		spec += raw;
		hasSpace = false;
	}
	return spec;
}

/** Matches words with single dots between them. A word has letters of any script and, in ASCII, the characters that RFC 5322 calls atext. */
const dotAtomPattern =
	/^(?:[\w!#$%&'*+/=?^`{|}~-]|[^\u0000-\u007f\p{C}\p{Z}])+(?:\.(?:[\w!#$%&'*+/=?^`{|}~-]|[^\u0000-\u007f\p{C}\p{Z}])+)*$/u;
/** Matches a quoted local part without angle brackets. Other programs may take even escaped ones for the bounds of the address. */
const quotedStringPattern = /^"(?:[^"\\<>\p{C}\u2028\u2029]|\\[ -;=?-~])*"$/u;

function isLocalPart(local: string): boolean {
	// Some servers decode an encoded word (RFC 2047) into another address. RFC 5321, 4.5.3.1.1, sets the limit of 64 bytes.
	if (/=\?[^?]+\?[bq]\?/i.test(local) || Buffer.byteLength(local) > 64) return false;
	return dotAtomPattern.test(local) || quotedStringPattern.test(local);
}

const hostLabelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Converts a domain to lower-case ASCII, as servers use it. An IP address in brackets stays as it is. Returns undefined for other text. */
export function toAsciiDomain(domain: string): string | undefined {
	const { ipv4, ipv6 } = /^\[(?:IPv6:(?<ipv6>.*)|(?<ipv4>.*))\]$/i.exec(domain)?.groups ?? {};
	if (ipv6 !== undefined) return isIPv6(ipv6) ? domain : undefined;
	if (ipv4 !== undefined) return isIPv4(ipv4) ? domain : undefined;
	if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(domain)) return undefined;
	const lowerCase = domain.normalize('NFC').toLowerCase();
	const ascii = lowerCase.includes('_') ? lowerCase : domainToASCII(lowerCase);
	// Refuses a domain if the conversion changes its letters, because the result is not the domain that the user sees.
	const isUnchanged = ascii === lowerCase || domainToUnicode(ascii) === lowerCase;
	return isUnchanged && ascii.split('.').every((label) => hostLabelPattern.test(label))
		? ascii
		: undefined;
}

export interface Address {
	/** '' if the address has no name. */
	readonly name: string;
	readonly address: string;
}

/** The longest line that an email may have, in characters (RFC 5322, 2.1.1). A longer entry is no address. */
const maxEntryLength = 998;

/** Finds the addresses in a list that is separated by commas or new lines, and the entries that are no addresses. */
export function findAddresses(text: string) {
	const lines = splitAtTokens(splitIntoTokens(text), 'lineBreak');
	const addressesAndTexts = lines.flatMap((line) => {
		const entries = splitAtTokens(line, 'comma');
		const nameWithComma = parseNameWithComma(entries);
		if (nameWithComma) return [nameWithComma];
		return entries.map((entry) => parseEntry(entry) ?? getSource(entry).trim());
	});
	return {
		addresses: addressesAndTexts.filter((entry) => typeof entry !== 'string'),
		invalidEntries: addressesAndTexts.filter((entry) => typeof entry === 'string'),
	};
}

/** Finds an address such as `ann@example,com`. Looks only at the text next to each comma, so that no text takes long. */
function findAddressWithComma(text: string): string | undefined {
	const parts = text.split(',');
	for (const [index, part] of parts.entries()) {
		const [address] = /[^\s<>"@]{1,64}@[^\s<>"@.]{1,63}$/.exec(part.slice(-128)) ?? [];
		const [ending] =
			/^[a-z]{2,63}(?![^\s>])/i.exec((parts[index + 1] ?? '').slice(0, 64)) ?? [];
		if (address !== undefined && ending !== undefined) return `${address},${ending}`;
	}
	return undefined;
}

/** Parses a list that has only addresses. @param label the field's name, in quotes @throws NodeError 400 that names an entry that is no address */
export function requireAddresses(text: string, label: string): Address[] {
	const { addresses, invalidEntries } = findAddresses(text);
	const [wrongEntry] = invalidEntries;
	if (wrongEntry === undefined) return addresses;
	const addressWithComma = findAddressWithComma(text);
	throw createRefusal(
		`${label} has an entry that is not an email address: ${shorten(addressWithComma ?? wrongEntry)}`,
		addressWithComma === undefined
			? 'An address looks like name@example.com. Separate addresses with commas or new lines, not semicolons. Put a name that contains a comma in quotes, followed by the address in angle brackets.'
			: 'It has a comma where a dot should be.',
	);
}

/** Splits a list at the tokens of one kind. Leaves out parts without a token or with only spaces. */
function splitAtTokens(
	tokens: readonly AddressToken[],
	kind: AddressToken['kind'],
): AddressToken[][] {
	const parts: AddressToken[][] = [[]];
	for (const token of tokens) {
		if (token.kind === kind) parts.push([]);
		else parts.at(-1)?.push(token);
	}
	return parts.filter((part) => part.some((token) => token.kind !== 'space'));
}

/** Parses a line such as `Doe, John <john@example.com>`, as Gmail shows senders. In a line with more entries, commas separate addresses. */
function parseNameWithComma(entries: ReadonlyArray<readonly AddressToken[]>): Address | undefined {
	const [familyEntry, givenEntry, ...otherEntries] = entries;
	if (!familyEntry || !givenEntry || otherEntries.length > 0) return undefined;
	const familySource = getSource(familyEntry);
	const hasSeveralAddresses =
		familySource.includes('@') || getSource(givenEntry).split('@').length > 2;
	if (familySource.length > maxEntryLength || hasSeveralAddresses) return undefined;
	const given = parseEntry(givenEntry);
	const familyName = parseName(familyEntry);
	if (!given?.name || !familyName) return undefined;
	return { ...given, name: `${familyName}, ${given.name}` };
}

function parseEntry(entry: readonly AddressToken[]): Address | undefined {
	const raw = getSource(entry);
	if (raw.length > maxEntryLength || hasControlCharacter(raw.replaceAll('\t', ' ')))
		return undefined;
	const angleIndex = entry.findIndex(({ kind }) => kind === 'angle');
	const angleToken = entry[angleIndex];
	if (!angleToken) {
		const bareAddress = parseAddrSpec(entry);
		return bareAddress === undefined ? undefined : { name: '', address: bareAddress };
	}
	const address = parseAddrSpec(splitIntoTokens(angleToken.raw.slice(1, -1)));
	const name = parseName(entry.slice(0, angleIndex));
	const isAngleLast = entry
		.slice(angleIndex + 1)
		.every(({ kind }) => kind === 'space' || kind === 'comment');
	if (address === undefined || name === undefined || !isAngleLast) return undefined;
	const isQuoted = entry.some(({ kind }) => kind === 'quoted');
	return !isQuoted && consistsOfOtherAddresses(name, address) ? undefined : { name, address };
}

/** Parses the name before an address. Accepts more than RFC 5322 allows, because real names need more. Returns undefined if the name is ambiguous. */
function parseName(tokens: readonly AddressToken[]): string | undefined {
	let name = '';
	let words = '';
	for (const { kind, raw } of tokens) {
		if (kind === 'word' || kind === 'space') {
			// These characters show a group of addresses, a list with semicolons, or a bracket that was never opened.
			if (/[:;>)\\]/.test(raw)) return undefined;
			words += kind === 'space' ? ' ' : raw;
			continue;
		}
		if (kind !== 'quoted' && kind !== 'comment') return undefined;
		const shownText = kind === 'quoted' ? raw.slice(1, -1).replaceAll(/\\(.)/g, '$1') : raw;
		name += decodeHeader(words) + shownText;
		words = '';
	}
	name = (name + decodeHeader(words)).trim();
	return hasControlCharacter(name) ? undefined : name;
}

/** Returns whether a name consists of other addresses. Then perhaps a comma is missing, and all of them are meant. */
function consistsOfOtherAddresses(name: string, address: string): boolean {
	const words = name.split(' ');
	const isAddress = (word: string) => parseAddrSpec(splitIntoTokens(word)) !== undefined;
	return words.every(isAddress) && words.some((word) => !isSameIgnoringCase(word, address));
}

/** Returns whether a text has control characters, any kind of line break, or half a surrogate pair. */
const hasControlCharacter = (text: string) => /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);

const getSource = (tokens: readonly AddressToken[]) => tokens.map(({ raw }) => raw).join('');
