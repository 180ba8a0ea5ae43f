import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { decodeWords } from '../../../../untrusted/mail/charset';
import { findAddresses, toAsciiDomain } from './addresses';

/** Lower-cases only ASCII letters: some others, such as the Kelvin sign, would become ASCII letters. */
const toLowerLetters = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Reads the addresses and domains that emails may go to; none means everybody. @throws NodeError 400 for an entry that is neither */
export function readAllowedRecipients(entries: readonly string[]): ReadonlySet<string> {
	const read = (entry: string) => {
		const isAddress = /.@/.test(entry);
		const [address] = isAddress ? findAddresses(entry).addresses : [];
		const known = isAddress ? address?.address : toAsciiDomain(entry.replace(/^@/, ''));
		if (known !== undefined) return toLowerLetters(known);
		throw createRefusal(
			`'Allowed Recipients' of the node has an entry that is neither an address nor a domain: ${shorten(entry)}`,
			'Nothing was sent. Enter addresses such as ann@example.com and domains such as example.com.',
		);
	};
	return new Set(entries.map(read));
}

/** @throws NodeError 400 for the first address that is not allowed */
export function refuseOthers(addresses: readonly string[], allowed: ReadonlySet<string>): void {
	const isAllowed = (address: string) => {
		const [, local = '', domain = ''] = /^(.*)@([^@]*)$/s.exec(toLowerLetters(address)) ?? [];
		// A domain does not allow `ann%other.example@example.com` and the like: its server may pass the email on to the address inside.
		return allowed.has(`${local}@${domain}`) || (!/[%!@]/.test(local) && allowed.has(domain));
	};
	const other = allowed.size === 0 ? undefined : addresses.find((address) => !isAllowed(address));
	if (other === undefined) return;
	throw createRefusal(
		`'Allowed Recipients' of the node does not include ${shorten(other)}`,
		'Nothing was sent. Whoever owns the workflow decides in the node which addresses and domains an email may go to, replies included.',
	);
}

/** Headers that mail programs and servers take no recipients from. */
const harmlessHeaders =
	/^(?:from|subject|message-id|in-reply-to|references|date|mime-version|content-.*|x-agent-workspace-id)$/i;
const addressHeaders = /^(?:to|cc|bcc|reply-to)$/i;
/** A word with an address, quotes included: what stands behind its last @ is the domain. */
const addressInText = /[^\s<>()[\],;:=?&]*@[^\s<>()[\],;:=?&]*/g;

/** Checks the recipients in the composed email itself, wherever they came from. @throws NodeError 400 */
export function refuseOtherRecipients(mail: Buffer, allowed: ReadonlySet<string>): void {
	if (allowed.size === 0) return;
	const head = mail.subarray(0, mail.indexOf('\r\n\r\n')).toString();
	for (const line of head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')) {
		const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
		if (harmlessHeaders.test(name)) continue;
		if (addressHeaders.test(name)) {
			const { addresses, others } = findAddresses(value);
			// Refuses what we cannot read, because a mail server may read an address in it.
			const unreadable = others.map(() => `whoever stands in ${name}`);
			refuseOthers([...addresses.map(({ address }) => address), ...unreadable], allowed);
		} else refuseOthers(decodeWords(value).replaceAll('%40', '@').match(addressInText) ?? [], allowed);
	}
}
