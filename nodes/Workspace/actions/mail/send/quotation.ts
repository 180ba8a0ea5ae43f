import { createRefusal } from '../../../../core/errors';
import { runInWorker } from '../../../../untrusted/runInWorker';
import type { Mail } from '../../../../untrusted/mail/readMail';
import type { Clients, Item } from '../../../operation';
import { contentConcurrency, mapWithConcurrency } from '../mapWithConcurrency';
import { fetchMail, readAttachment } from '../message';
import { findAddresses } from '../addresses';
import type { LoadedFile } from './attachments';
import { escapeHtml, textToHtml } from './bodies';
import type { OutgoingMail } from './compose';
import { readSignature } from './sender';

/** What is added below the body. */
interface Addition {
	readonly text: string;
	readonly html: string;
	readonly files: readonly LoadedFile[];
}

/** Adds the signature and then the original email below the body. */
export async function appendSignatureAndQuote(
	clients: Clients,
	outgoing: OutgoingMail,
	item: Item,
): Promise<OutgoingMail> {
	let mail = outgoing;
	if (outgoing.includeSignature) {
		const signature = await buildSignature(clients, outgoing, item);
		if (signature) mail = append(mail, signature);
	}
	if (outgoing.quoteOriginal) mail = append(mail, await buildQuotation(clients, outgoing, item));
	return mail;
}

function append(mail: OutgoingMail, addition: Addition): OutgoingMail {
	const text = `${mail.bodies.text.trimEnd()}\n\n${addition.text}`;
	const html = mail.bodies.html && insertAtEnd(mail.bodies.html, addition.html);
	return { ...mail, bodies: { text, html }, files: [...mail.files, ...addition.files] };
}

/** Takes the signature from the Gmail settings. If there is none, adds a hint and returns undefined. */
async function buildSignature(
	clients: Clients,
	outgoing: OutgoingMail,
	item: Item,
): Promise<Addition | undefined> {
	const signature = await readSignature(clients, outgoing, item);
	if (signature === '') {
		item.addHint(
			`There is no signature for ${outgoing.fromAlias?.address ?? 'this account'} in the Gmail settings, so the email has none.`,
		);
		return undefined;
	}
	const workerResult = await runInWorker('htmlToText', signature, item.signal);
	if (!('result' in workerResult))
		throw createRefusal(
			`The signature of the account cannot be read: ${workerResult.problem}`,
			'Nothing was sent. Simplify the signature in the Gmail settings.',
		);
	return {
		text: `-- \n${workerResult.result}`,
		html: `<br><br><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature">${signature}</div>`,
		files: [],
	};
}

/** Quotes the original with the same HTML as Gmail, so that mail programs recognize and fold the quotation. */
async function buildQuotation(
	clients: Clients,
	{ replyToMessageId, bodies }: OutgoingMail,
	item: Item,
): Promise<Addition> {
	const mail = await fetchMail(clients, replyToMessageId, item);
	const { text, html, summary } = mail;
	const [sender] = findAddresses(summary.sender).addresses;
	const timePrefix = formatTimePrefix(summary.date);
	const plainSender = sender ? `${sender.name} <${sender.address}>`.trimStart() : summary.sender;
	const address = escapeHtml(sender?.address ?? '');
	const linkedSender = sender
		? `${escapeHtml(sender.name)} &lt;<a href="mailto:${address}">${address}</a>&gt;`.trimStart()
		: escapeHtml(summary.sender);
	const quotedHtml = html === '' ? textToHtml(text) : extractBody(html);
	return {
		text: `${timePrefix}${plainSender} wrote:\n\n${quoteLines(text)}`,
		html: `<br><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${timePrefix}${linkedSender} wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">${quotedHtml}</blockquote></div>`,
		files: bodies.html === undefined ? [] : await fetchPictures(clients, mail),
	};
}

/** Formats a time as in "On Mon, Nov 23, 2026 at 10:15 AM UTC ". Without a date, returns ''. @param date ISO 8601, or '' */
function formatTimePrefix(date: string): string {
	if (date === '') return '';
	const format = (options: Intl.DateTimeFormatOptions) =>
		new Date(date).toLocaleString('en-US', { timeZone: 'UTC', ...options });
	const day = format({ weekday: 'short', month: 'short', day: 'numeric', year: 'numeric' });
	const time = format({ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' });
	// Node puts a narrow no-break space before AM and PM, which not every mail program shows.
	return `On ${day} at ${time.replaceAll('\u202f', ' ')} `;
}

/** Puts > before each line (RFC 3676, 4.5), with a space unless the line is empty or already quoted. */
function quoteLines(text: string): string {
	const quoteLine = (line: string) =>
		line === '' || line.startsWith('>') ? `>${line}` : `> ${line}`;
	return text.split('\n').map(quoteLine).join('\n');
}

/** `(?=(…))\1` is an atomic group: without backtracking, no HTML takes long. */
const bodyStartPattern = /<body\b(?=([^<>]*))\1>/i;
const documentEndPattern = /<\/(?:body|html)\s*>/gi;

function extractBody(html: string): string {
	const startTag = bodyStartPattern.exec(html);
	const contentStart = startTag ? startTag.index + startTag[0].length : 0;
	const [endTag] = html.slice(contentStart).matchAll(documentEndPattern);
	return html.slice(contentStart, endTag ? contentStart + endTag.index : undefined);
}

function insertAtEnd(html: string, addition: string): string {
	const [endTag] = html.matchAll(documentEndPattern);
	return endTag
		? html.slice(0, endTag.index) + addition + html.slice(endTag.index)
		: html + addition;
}

/** Fetches the pictures within the text of the original, under the names by which its HTML shows them. */
async function fetchPictures(clients: Clients, mail: Mail): Promise<LoadedFile[]> {
	const shownNames = findPictureNames(mail.html);
	const shownFiles = mail.files.filter(({ info }) => shownNames.has(info.contentId));
	return await mapWithConcurrency(shownFiles, contentConcurrency, async (file) => {
		const content = await readAttachment(clients, mail.summary.id, file);
		const { contentId: cid, fileName: filename, mimeType: contentType } = file.info;
		return { filename, contentType, size: content.length, content, cid };
	});
}

/** Finds the names after each `cid:` in one pass, because an email may have thousands of pictures and megabytes of HTML. */
export const findPictureNames = (html: string): ReadonlySet<string> =>
	new Set(Array.from(html.matchAll(/cid:([^\s"'<>)]+)/gi), ([, name = '']) => name));
