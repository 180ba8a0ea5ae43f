import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import type { Field, ReadContext } from '../../../../fields/field';
import { readText, splitList } from '../../../../fields/values';
import { type Address, findAddresses, toAsciiDomain } from '../addresses';

/**
 * Converts only ASCII letters to lower case. Other letters, such as the Kelvin sign, could become
 * ASCII letters.
 */
const toLowerAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The addresses and domains that emails may go to, in lower case. Undefined allows everybody. */
type AllowedRecipients = ReadonlySet<string> | undefined;

/**
 * Reads the option Allowed Recipients.
 * @throws NodeError 400 for an entry that is neither an address nor a domain, or if it is set and
 * has no entry
 */
export function readAllowedRecipients(
	raw: unknown,
	field: Field,
	context: ReadContext,
): AllowedRecipients {
	const text = readText(field, raw, context);
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

/**
 * Matches what stands before the @ if a mail server may forward to another address in it:
 * `evil%evil.example`, `evil.example!evil`, `SRS0=…=evil.example=evil`.
 */
const relayPattern = /[%!@#=]/;
/** Matches a header that may name an address, or hide one in an encoded word. */
const addressPattern = /@|%40|=\?/;

type RestrictedMail = Readonly<Record<'to' | 'cc' | 'bcc' | 'replyTo', readonly Address[]>> & {
	readonly allowedRecipients: AllowedRecipients;
	readonly headers: ReadonlyArray<{ readonly key: string; readonly value: string }>;
};

/**
 * Refuses an email that would reach anybody else, or whose other headers have an address.
 * @throws NodeError 400 that names the first one
 */
export function refuseForbiddenRecipients(mail: RestrictedMail): void {
	const { allowedRecipients } = mail;
	if (!allowedRecipients) return;
	for (const { address } of [...mail.to, ...mail.cc, ...mail.bcc, ...mail.replyTo]) {
		const recipient = toLowerAscii(address);
		const domain = recipient.slice(recipient.lastIndexOf('@') + 1);
		const local = recipient.slice(0, -domain.length - 1);
		const isNamed = allowedRecipients.has(recipient);
		const isOfDomain =
			allowedRecipients.has(domain) && !relayPattern.test(local.normalize('NFKC'));
		if (!isNamed && !isOfDomain) throw createForbiddenRefusal(address);
	}
	const header = mail.headers.find(({ value }) => addressPattern.test(value.normalize('NFKC')));
	if (header) throw createForbiddenRefusal(`whoever stands in the header ${header.key}`);
}

const createForbiddenRefusal = (recipient: string) =>
	createRefusal(
		`'Allowed Recipients' of the node does not include ${shorten(recipient)}`,
		'Nothing was sent. Whoever owns the workflow decides in the node which addresses and domains an email may go to, replies included. No other header may have an address.',
	);
