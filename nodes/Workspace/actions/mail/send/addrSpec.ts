import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

import { tokensOf, type Token } from './addressTokens';

/** Bytes, without the angle brackets (RFC 5321, 4.5.3.1.3). */
const longest = 254;

/**
 * The address formed by the tokens between two commas or in angle brackets: RFC 5322's addr-spec with letters
 * of any script (RFC 6532), within the lengths of RFC 5321. White space and comments are allowed around it
 * and around its @.
 * @returns undefined for anything else; nothing is corrected
 */
export function addrSpecOf(tokens: readonly Token[]): string | undefined {
	const joined = joinedParts(tokens);
	if (joined === undefined || joined.length > longest) return undefined;
	const [, local = '', rest = ''] = /^("(?:[^"\\]|\\.)*"|[^@]*)@([^@]*)$/.exec(joined) ?? [];
	const domain = asciiDomain(rest);
	if (domain === undefined || !isLocalPart(local)) return undefined;
	const address = `${local}@${domain}`;
	return Buffer.byteLength(address) > longest ? undefined : address;
}

/** The address in angle brackets, including the brackets. */
export function angleAddress(angle: string): string | undefined {
	return addrSpecOf(tokensOf(angle.slice(1, -1)));
}

function joinedParts(tokens: readonly Token[]): string | undefined {
	let joined = '';
	let gap = false;
	for (const { kind, raw } of tokens) {
		if (kind === 'space' || kind === 'comment') {
			gap = joined !== '';
			continue;
		}
		const fits = kind === 'word' || (kind === 'quoted' && joined === '');
		const apart = gap && !joined.endsWith('@') && !raw.startsWith('@');
		if (!fits || apart) return undefined;
		joined += raw;
		gap = false;
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

/** A domain as it is sent over the wire, in lower case. */
function asciiDomain(domain: string): string | undefined {
	const literal = /^\[(?:(IPv6:)(.*)|(.*))\]$/i.exec(domain);
	if (literal) return isIP(literal[2] ?? literal[3] ?? '') === (literal[1] ? 6 : 4) ? domain : undefined;
	if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(domain)) return undefined;
	const lower = domain.normalize('NFC').toLowerCase();
	const ascii = lower.includes('_') ? lower : domainToASCII(lower);
	// A domain whose letters are converted to others is not the one that the user sees.
	const isItself =
		domainToUnicode(ascii) === domainToUnicode(lower) &&
		(ascii === lower || domainToUnicode(ascii) === lower);
	return isItself && isHostName(ascii) ? ascii : undefined;
}

function isHostName(ascii: string): boolean {
	return (
		ascii.length <= 253 &&
		ascii.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
	);
}
