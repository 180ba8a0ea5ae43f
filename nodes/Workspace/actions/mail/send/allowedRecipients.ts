import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { decodeHeader } from '../../../../untrusted/mail/charset';
import { findAddresses, toAsciiDomain } from './addresses';

/** Converts only ASCII letters to lower case. Other letters, such as the Kelvin sign, could become ASCII letters. */
const toLowerAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Reads the addresses and domains that emails may go to. An empty set allows everybody. @throws NodeError 400 for an entry that is neither */
export function readAllowedRecipients(entries: readonly string[]): ReadonlySet<string> {
	const readEntry = (entry: string) => {
		// `@example.com` is a domain.
		const isAddress = /.@/.test(entry);
		const [address] = isAddress ? findAddresses(entry).addresses : [];
		const recipient = isAddress ? address?.address : toAsciiDomain(entry.replace(/^@/, ''));
		if (recipient !== undefined) return toLowerAscii(recipient);
		throw createRefusal(
			`'Allowed Recipients' of the node has an entry that is neither an address nor a domain: ${shorten(entry)}`,
			'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com.',
		);
	};
	return new Set(entries.map(readEntry));
}

/** Refuses an email if one of its addresses is forbidden. @throws NodeError 400 that names the first forbidden one */
export function refuseForbiddenAddresses(
	addresses: readonly string[],
	allowed: ReadonlySet<string>,
): void {
	const isAllowed = (address: string) => {
		const [, local = '', domain = ''] = /^(.*)@([^@]*)$/s.exec(toLowerAscii(address)) ?? [];
		// An allowed domain does not allow `ann%other.example@example.com`, because the domain's server may forward to the inner address.
		return allowed.has(`${local}@${domain}`) || (!/[%!@]/.test(local) && allowed.has(domain));
	};
	const forbiddenAddress =
		allowed.size === 0 ? undefined : addresses.find((address) => !isAllowed(address));
	if (forbiddenAddress !== undefined) throw createForbiddenRefusal(forbiddenAddress);
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
export function refuseForbiddenHeaders(mail: Buffer, allowed: ReadonlySet<string>): void {
	if (allowed.size === 0) return;
	const headerText = mail.subarray(0, mail.indexOf('\r\n\r\n')).toString();
	for (const line of headerText.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
		const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
		if (harmlessHeaderPattern.test(name)) continue;
		if (addressHeaderPattern.test(name)) {
			const { addresses, invalidEntries } = findAddresses(value);
			const recipients = addresses.map(({ address }) => address);
			refuseForbiddenAddresses(recipients, allowed);
			// A mail server may find an address in an entry that we cannot read.
			if (invalidEntries.length > 0)
				throw createForbiddenRefusal(`whoever stands in ${name}`);
		} else {
			const text = decodeHeader(value).replaceAll('%40', '@');
			refuseForbiddenAddresses(text.match(addressInTextPattern) ?? [], allowed);
		}
	}
}
