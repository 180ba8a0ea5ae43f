import { refusal } from '../../../../core/failure';
import { shortened } from '../../../../core/shortened';
import { decodedWords } from '../../../../untrusted/mail/headers';
import { addrSpecOf, angleAddress } from './addrSpec';
import { tokensOf, type Token } from './addressTokens';

export interface Address {
	/** '' if there is none. */
	readonly name: string;
	readonly address: string;
}

/** Characters of one line of an email (RFC 5322, 2.1.1). */
const longestEntry = 998;

/**
 * The addresses in a list separated by commas or new lines, in RFC 5322 form.
 * @param label the user's name for the field, in quotes
 * @throws Failure 400 naming the first entry that is not an address
 */
export function addressesOf(text: string, label: string): Address[] {
	return separated(tokensOf(text), 'line').flatMap((line) => {
		const entries = separated(line, 'comma');
		const whole = oneWithComma(entries);
		return whole ? [whole] : entries.map((entry) => mailboxOf(entry) ?? refused(entry, label));
	});
}

/** Splits at tokens of a kind; empty parts are left out. */
function separated(tokens: readonly Token[], kind: Token['kind']): Token[][] {
	const pieces: Token[][] = [[]];
	for (const token of tokens) {
		if (token.kind === kind) pieces.push([]);
		else pieces.at(-1)?.push(token);
	}
	return pieces.filter((piece) => piece.some((token) => token.kind !== 'space'));
}

/** `Doe, John <john@example.com>`, as Gmail shows senders, is one address if nothing else is on its line. */
function oneWithComma([family, given, ...more]: ReadonlyArray<readonly Token[]>): Address | undefined {
	if (!family || !given || more.length > 0) return undefined;
	const [first, second] = [rawOf(family), rawOf(given)];
	if (first.length > longestEntry || first.includes('@') || second.split('@').length > 2) return undefined;
	const mailbox = mailboxOf(given);
	const name = nameOf(family);
	if (!mailbox?.name || !name) return undefined;
	return { ...mailbox, name: `${name}, ${mailbox.name}` };
}

function mailboxOf(entry: readonly Token[]): Address | undefined {
	const raw = rawOf(entry);
	if (raw.length > longestEntry || hasControl(raw.replaceAll('\t', ' '))) return undefined;
	const at = entry.findIndex(({ kind }) => kind === 'angle');
	const angle = entry[at];
	if (!angle) {
		const bare = addrSpecOf(entry);
		return bare === undefined ? undefined : { name: '', address: bare };
	}
	const address = angleAddress(angle.raw);
	const name = nameOf(entry.slice(0, at));
	const isLast = entry.slice(at + 1).every(({ kind }) => kind === 'space' || kind === 'comment');
	if (address === undefined || name === undefined || !isLast) return undefined;
	const isQuoted = entry.some(({ kind }) => kind === 'quoted');
	return !isQuoted && isOtherAddress(name, address) ? undefined : { name, address };
}

/**
 * The name before an address. Accepts more than RFC 5322, because senders write more; undefined if it is
 * ambiguous.
 */
function nameOf(tokens: readonly Token[]): string | undefined {
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
		name += decodedWords(words) + (kind === 'quoted' ? unquoted(raw) : raw);
		words = '';
	}
	name = (name + decodedWords(words)).trim();
	return hasControl(name) ? undefined : name;
}

/** Whether a name consists only of addresses: perhaps a comma is missing and both were meant. */
function isOtherAddress(name: string, address: string): boolean {
	const words = name.split(' ');
	const others = words.filter((word) => addrSpecOf(tokensOf(word)) !== undefined);
	return (
		others.length === words.length && others.some((other) => other.toLowerCase() !== address.toLowerCase())
	);
}

function unquoted(raw: string): string {
	return raw.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

/** Whether a text has control characters, any kind of line break, or half a surrogate pair. */
function hasControl(text: string): boolean {
	return /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

function rawOf(tokens: readonly Token[]): string {
	return tokens.map(({ raw }) => raw).join('');
}

function refused(entry: readonly Token[], label: string): never {
	throw refusal(
		`${label} has an entry that is not an email address: ${shortened(rawOf(entry).trim())}`,
		'Separate addresses with commas or new lines, not semicolons. Put a name that contains a comma in quotes, followed by the address in angle brackets.',
	);
}
