import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { decodeWords } from '../../../../untrusted/mail/charset';

/** Parts of an address list, as defined by RFC 5322. The loops in each pattern are unrolled, so that no text takes long. */
const quoted = /"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"/;
/** A comment may have comments within it, one level deep. */
const comment = /\([^()\\\r\n]*(?:(?:\\[^\r\n]|\([^()\\\r\n]*(?:\\[^\r\n][^()\\\r\n]*)*\))[^()\\\r\n]*)*\)/;
const angle = new RegExp(`<[^<>"\r\n]*(?:${quoted.source}[^<>"\r\n]*)*>`);
const kinds = [
	['quoted', quoted],
	['comment', comment],
	['angle', angle],
	['comma', /,/],
	['line', /[\r\n]+/],
	['space', /[ \t]+/],
	['word', /[^"(<,\r\n \t]+/],
	/** Quotes or brackets that are never closed, up to the end of the line. */
	['broken', /["(<][^\r\n]*/],
] as const;
const anyKind = new RegExp(kinds.map(([kind, { source }]) => `(?<${kind}>${source})`).join('|'), 'g');

interface AddressToken {
	readonly kind: (typeof kinds)[number][0];
	/** The source text, including quotes or brackets. */
	readonly raw: string;
}

function splitIntoTokens(text: string): AddressToken[] {
	return Array.from(text.matchAll(anyKind), ({ 0: raw, groups = {} }) => ({
		kind: kinds.find(([kind]) => groups[kind] !== undefined)?.[0] ?? 'broken',
		raw,
	}));
}

/** Bytes of the longest address, without the angle brackets (RFC 5321, 4.5.3.1.3). */
const maxAddressBytes = 254;

/**
 * The address formed by the tokens: RFC 5322's addr-spec with letters of any script (RFC 6532), within the lengths of RFC 5321, with white
 * space and comments around it and its @.
 * @returns undefined for anything else; nothing is corrected
 */
function parseAddrSpec(tokens: readonly AddressToken[]): string | undefined {
	const joined = joinTokens(tokens);
	if (joined === undefined) return undefined;
	const [, local = '', rest = ''] = /^("(?:[^"\\]|\\.)*"|[^@]*)@([^@]*)$/.exec(joined) ?? [];
	const domain = toAsciiDomain(rest);
	if (domain === undefined || !isLocalPart(local)) return undefined;
	const address = `${local}@${domain}`;
	return Buffer.byteLength(address) > maxAddressBytes ? undefined : address;
}

function joinTokens(tokens: readonly AddressToken[]): string | undefined {
	let joined = '';
	let hasGap = false;
	for (const { kind, raw } of tokens) {
		if (kind === 'space' || kind === 'comment') {
			hasGap = joined !== '';
			continue;
		}
		const isAllowed = kind === 'word' || (kind === 'quoted' && joined === '');
		const isApart = hasGap && !joined.endsWith('@') && !raw.startsWith('@');
		if (!isAllowed || isApart) return undefined;
		joined += raw;
		hasGap = false;
	}
	return joined;
}

/** Letters of any script; in ASCII, the characters that RFC 5322 calls atext. */
const dotAtom =
	/^(?:[\w!#$%&'*+/=?^`{|}~-]|[^\u0000-\u007f\p{C}\p{Z}])+(?:\.(?:[\w!#$%&'*+/=?^`{|}~-]|[^\u0000-\u007f\p{C}\p{Z}])+)*$/u;
const quotedString = /^"(?:[^"\\<>\p{C}\u2028\u2029]|\\[ -;=?-~])*"$/u;

function isLocalPart(local: string): boolean {
	// An encoded word, which some servers decode into another address.
	if (/=\?[^?]+\?[bq]\?/i.test(local) || Buffer.byteLength(local) > 64) return false;
	return dotAtom.test(local) || quotedString.test(local);
}

const hostLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A domain as it is sent over the wire, in lower case. */
export function toAsciiDomain(domain: string): string | undefined {
	const literal = /^\[(?:(IPv6:)(.*)|(.*))\]$/i.exec(domain);
	if (literal) return isIP(literal[2] ?? literal[3] ?? '') === (literal[1] ? 6 : 4) ? domain : undefined;
	if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(domain)) return undefined;
	const lower = domain.normalize('NFC').toLowerCase();
	const ascii = lower.includes('_') ? lower : domainToASCII(lower);
	// Refuses a domain whose letters are converted to others, because it is not the one that the user sees.
	const isItself = ascii === lower || domainToUnicode(ascii) === lower;
	return isItself && ascii.split('.').every((label) => hostLabel.test(label)) ? ascii : undefined;
}

export interface Address {
	/** '' if there is none. */
	readonly name: string;
	readonly address: string;
}

/** Characters of the longest entry: one line of an email (RFC 5322, 2.1.1). */
const maxEntryLength = 998;

/** The addresses in a list separated by commas or new lines, in RFC 5322 form, and its other entries. */
export function findAddresses(text: string) {
	const addresses: Address[] = [];
	const others: string[] = [];
	for (const line of splitAtTokens(splitIntoTokens(text), 'line')) {
		const entries = splitAtTokens(line, 'comma');
		const whole = parseNameWithComma(entries);
		if (whole) addresses.push(whole);
		for (const entry of whole ? [] : entries) {
			const mailbox = parseMailbox(entry);
			if (mailbox) addresses.push(mailbox);
			else others.push(joinRaw(entry).trim());
		}
	}
	return { addresses, others };
}

/** Finds an address such as `ann@example,com`. Each part between commas is looked at for itself, and only at its ends. */
function findCommaForDot(text: string): string | undefined {
	const parts = text.split(',');
	for (const [at, part] of parts.entries()) {
		const [address] = /[^\s<>"@]{1,64}@[^\s<>"@.]{1,63}$/.exec(part.slice(-128)) ?? [];
		const [ending] = /^[a-z]{2,63}(?![^\s>])/i.exec((parts[at + 1] ?? '').slice(0, 64)) ?? [];
		if (address !== undefined && ending !== undefined) return `${address},${ending}`;
	}
	return undefined;
}

/** The addresses in a list. @param label the field's name, in quotes @throws NodeError 400 naming the first entry that is no address */
export function parseAddresses(text: string, label: string): Address[] {
	const { addresses, others } = findAddresses(text);
	const [first] = others;
	if (first === undefined) return addresses;
	const mistyped = findCommaForDot(text);
	throw createRefusal(
		`${label} has an entry that is not an email address: ${shorten(mistyped ?? first)}`,
		mistyped === undefined
			? 'An address looks like name@example.com. Separate addresses with commas or new lines, not semicolons. Put a name that contains a comma in quotes, followed by the address in angle brackets.'
			: 'It has a comma where a dot should be.',
	);
}

/** Splits at tokens of a kind; empty parts are left out. */
function splitAtTokens(tokens: readonly AddressToken[], kind: AddressToken['kind']): AddressToken[][] {
	const pieces: AddressToken[][] = [[]];
	for (const token of tokens) {
		if (token.kind === kind) pieces.push([]);
		else pieces.at(-1)?.push(token);
	}
	return pieces.filter((piece) => piece.some((token) => token.kind !== 'space'));
}

/** `Doe, John <john@example.com>`, as Gmail shows senders, is one address if nothing else is on its line. */
function parseNameWithComma([family, given, ...more]: ReadonlyArray<readonly AddressToken[]>):
	Address | undefined {
	if (!family || !given || more.length > 0) return undefined;
	const [first, second] = [joinRaw(family), joinRaw(given)];
	if (first.length > maxEntryLength || first.includes('@') || second.split('@').length > 2) return undefined;
	const mailbox = parseMailbox(given);
	const name = parseName(family);
	if (!mailbox?.name || !name) return undefined;
	return { ...mailbox, name: `${name}, ${mailbox.name}` };
}

function parseMailbox(entry: readonly AddressToken[]): Address | undefined {
	const raw = joinRaw(entry);
	if (raw.length > maxEntryLength || hasControlCharacter(raw.replaceAll('\t', ' '))) return undefined;
	const at = entry.findIndex(({ kind }) => kind === 'angle');
	const angle = entry[at];
	if (!angle) {
		const bare = parseAddrSpec(entry);
		return bare === undefined ? undefined : { name: '', address: bare };
	}
	const address = parseAddrSpec(splitIntoTokens(angle.raw.slice(1, -1)));
	const name = parseName(entry.slice(0, at));
	const isLast = entry.slice(at + 1).every(({ kind }) => kind === 'space' || kind === 'comment');
	if (address === undefined || name === undefined || !isLast) return undefined;
	const isQuoted = entry.some(({ kind }) => kind === 'quoted');
	return !isQuoted && isOtherAddress(name, address) ? undefined : { name, address };
}

/** The name before an address. Accepts more than RFC 5322, because senders write more; undefined if it is ambiguous. */
function parseName(tokens: readonly AddressToken[]): string | undefined {
	let name = '';
	let words = '';
	for (const { kind, raw } of tokens) {
		if (kind === 'word' || kind === 'space') {
			// Belongs to a group, to another list, or to a bracket that was never opened.
			if (/[:;>)\\]/.test(raw)) return undefined;
			words += kind === 'space' ? ' ' : raw;
			continue;
		}
		if (kind !== 'quoted' && kind !== 'comment') return undefined;
		name += decodeWords(words) + (kind === 'quoted' ? raw.slice(1, -1).replaceAll(/\\(.)/g, '$1') : raw);
		words = '';
	}
	name = (name + decodeWords(words)).trim();
	return hasControlCharacter(name) ? undefined : name;
}

/** Whether a name consists only of addresses: perhaps a comma is missing and both were meant. */
function isOtherAddress(name: string, address: string): boolean {
	const words = name.split(' ');
	const others = words.filter((word) => parseAddrSpec(splitIntoTokens(word)) !== undefined);
	return (
		others.length === words.length && others.some((other) => other.toLowerCase() !== address.toLowerCase())
	);
}

/** Whether a text has control characters, any kind of line break, or half a surrogate pair. */
function hasControlCharacter(text: string): boolean {
	return /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

function joinRaw(tokens: readonly AddressToken[]): string {
	return tokens.map(({ raw }) => raw).join('');
}
