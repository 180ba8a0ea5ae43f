import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import type { Field, ReadContext } from '../../../../fields/field';
import { readText, splitList } from '../../../../fields/values';
import { decodeHeader } from '../../../../untrusted/mail/charset';
import { type Address, findAddresses, toAsciiDomain } from '../addresses';

/** Converts only ASCII letters to lower case. Other letters, such as the Kelvin sign, could become ASCII letters. */
const toLowerAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The addresses and domains that emails may go to, in lower case. Undefined allows everybody. */
export type AllowedRecipients = ReadonlySet<string> | undefined;

/** Reads the option Allowed Recipients. @throws NodeError 400 for an entry that is neither an address nor a domain, or if it is set and has no entry */
export function readAllowedRecipients(
	raw: unknown,
	field: Field,
	context: ReadContext,
): AllowedRecipients {
	const text = readText(field, raw, context);
	if (text === '' && !context.hasUserOption?.(field.name)) return undefined;
	const entries = splitList(text);
	if (entries.length === 0)
		throw createRefusal(
			"'Allowed Recipients' of the node names nobody",
			'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com, or remove the option to allow everybody.',
		);
	return new Set(entries.map(readEntry));
}

function readEntry(entry: string): string {
	// `@example.com` is a domain.
	const isAddress = /.@/.test(entry);
	const [address] = isAddress ? findAddresses(entry).addresses : [];
	const recipient = isAddress ? address?.address : toAsciiDomain(entry.replace(/^@/, ''));
	if (recipient !== undefined) return toLowerAscii(recipient);
	throw createRefusal(
		`'Allowed Recipients' of the node has an entry that is neither an address nor a domain: ${shorten(entry)}`,
		'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com.',
	);
}

/** Matches what stands before the @ if a mail server may forward to another address in it: `evil%evil.example`, `evil.example!evil`, `SRS0=…=evil.example=evil`. */
const relayPattern = /[%!@#=]/;

/** Refuses an email if one of its addresses is forbidden. @throws NodeError 400 that names the first forbidden one */
export function refuseForbiddenAddresses(
	addresses: ReadonlyArray<Pick<Address, 'address'>>,
	allowed: AllowedRecipients,
): void {
	if (!allowed) return;
	for (const { address } of addresses) {
		const [, local = '', domain = ''] = /^(.*)@([^@]*)$/s.exec(toLowerAscii(address)) ?? [];
		const isNamed = allowed.has(`${local}@${domain}`);
		const isOfDomain = allowed.has(domain) && !relayPattern.test(local);
		if (!isNamed && !isOfDomain) throw createForbiddenRefusal(address);
	}
}

const createForbiddenRefusal = (recipient: string) =>
	createRefusal(
		`'Allowed Recipients' of the node does not include ${shorten(recipient)}`,
		'Nothing was sent. Whoever owns the workflow decides in the node which addresses and domains an email may go to, replies included.',
	);

/** Matches headers from which no mail program or server takes recipients. */
const harmlessHeaderPattern =
	/^(?:from|subject|message-id|in-reply-to|references|date|mime-version|content-.*|x-agent-workspace-id)$/i;
const addressHeaderPattern = /^(?:to|cc|bcc|reply-to)$/i;
/** Matches a word with an @, including quotes. A quoted local part may have an @ of its own, so the domain follows the last @. */
const addressInTextPattern = /[^\s<>()[\],;:=?&]*@[^\s<>()[\],;:=?&]*/g;

/** Checks all possible recipients in the headers of a composed email, whatever field or original email they came from. @throws NodeError 400 */
export function refuseForbiddenHeaders(mail: Buffer, allowed: AllowedRecipients): void {
	if (!allowed) return;
	const headerText = mail.subarray(0, mail.indexOf('\r\n\r\n')).toString();
	for (const line of headerText.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
		const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
		if (harmlessHeaderPattern.test(name)) continue;
		if (addressHeaderPattern.test(name)) {
			const { addresses, invalidEntries } = findAddresses(value);
			refuseForbiddenAddresses(addresses, allowed);
			// A mail server may find an address in an entry that we cannot read.
			if (invalidEntries.length > 0)
				throw createForbiddenRefusal(`whoever stands in ${name}`);
			continue;
		}
		const text = decodeWords(value, name).replaceAll('%40', '@');
		const words = text.match(addressInTextPattern) ?? [];
		refuseForbiddenAddresses(
			words.map((address) => ({ address })),
			allowed,
		);
	}
}

/** Matches the beginning of an encoded word in a charset that mail programs may decode in different ways. */
const unclearWordPattern = /=\?(?!(?:utf-8|us-ascii|iso-8859-\d+|windows-125\d)(?:\*[^?]*)?\?)/i;

/** Decodes the encoded words of a whole header. @throws NodeError 400 if one of them is unclear or not decoded, because it may hide an address */
function decodeWords(value: string, name: string): string {
	const text = decodeHeader(value);
	if (!unclearWordPattern.test(value) && !text.includes('=?')) return text;
	throw createForbiddenRefusal(`whoever stands in ${name}`);
}
