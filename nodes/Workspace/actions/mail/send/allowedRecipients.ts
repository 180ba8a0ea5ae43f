import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { decodeWords } from '../../../../untrusted/mail/charset';
import { findAddresses, toAsciiDomain } from './addresses';

/** Converts only ASCII letters to lower case. Other letters, such as the Kelvin sign, could become ASCII letters. */
const toLowerAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Reads the addresses and domains that emails may go to. An empty set allows everybody. @throws NodeError 400 for an entry that is neither */
export function readAllowedRecipients(entries: readonly string[]): ReadonlySet<string> {
	const read = (entry: string) => {
		const isAddress = /.@/.test(entry);
		const [address] = isAddress ? findAddresses(entry).addresses : [];
		const recipient = isAddress ? address?.address : toAsciiDomain(entry.replace(/^@/, ''));
		if (recipient !== undefined) return toLowerAscii(recipient);
		throw createRefusal(
			`'Allowed Recipients' of the node has an entry that is neither an address nor a domain: ${shorten(entry)}`,
			'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com.',
		);
	};
	return new Set(entries.map(read));
}

/** Refuses an email with a forbidden address. @throws NodeError 400 that names the first one */
export function refuseForbiddenAddresses(addresses: readonly string[], allowed: ReadonlySet<string>): void {
	const isAllowed = (address: string) => {
		const [, local = '', domain = ''] = /^(.*)@([^@]*)$/s.exec(toLowerAscii(address)) ?? [];
		// A domain does not allow an address such as `ann%other.example@example.com`, because its server may forward it to the inner address.
		return allowed.has(`${local}@${domain}`) || (!/[%!@]/.test(local) && allowed.has(domain));
	};
	const forbiddenAddress = allowed.size === 0 ? undefined : addresses.find((address) => !isAllowed(address));
	if (forbiddenAddress === undefined) return;
	throw createRefusal(
		`'Allowed Recipients' of the node does not include ${shorten(forbiddenAddress)}`,
		'Nothing was sent. Whoever owns the workflow decides in the node which addresses and domains an email may go to, replies included.',
	);
}

/** Matches headers from which no mail program or server takes recipients. */
const harmlessHeaders =
	/^(?:from|subject|message-id|in-reply-to|references|date|mime-version|content-.*|x-agent-workspace-id)$/i;
const addressHeaders = /^(?:to|cc|bcc|reply-to)$/i;
/** Matches a word with an address, including quotes. The domain follows its last @. */
const addressInText = /[^\s<>()[\],;:=?&]*@[^\s<>()[\],;:=?&]*/g;

/** Checks the recipients in the bytes of the email, whatever field or header they came from. @throws NodeError 400 */
export function refuseForbiddenRecipients(mail: Buffer, allowed: ReadonlySet<string>): void {
	if (allowed.size === 0) return;
	const headerText = mail.subarray(0, mail.indexOf('\r\n\r\n')).toString();
	for (const line of headerText.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
		const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
		if (harmlessHeaders.test(name)) continue;
		if (addressHeaders.test(name)) {
			const { addresses, otherEntries: others } = findAddresses(value);
			// Refuses an entry that we cannot read, because a mail server may still find an address in it.
			const unreadableEntries = others.map(() => `whoever stands in ${name}`);
			refuseForbiddenAddresses([...addresses.map(({ address }) => address), ...unreadableEntries], allowed);
		} else
			refuseForbiddenAddresses(decodeWords(value).replaceAll('%40', '@').match(addressInText) ?? [], allowed);
	}
}
