import { unescape } from 'node:querystring';

import { createRefusal } from '../../../../core/errors';
import { escapeHtml } from '../../../../core/text';
import { runInWorker } from '../../../../untrusted/runInWorker';
import type { Mail } from '../../../../untrusted/mail/readMail';
import type { Clients, Item } from '../../../operation';
import { readAttachment } from '../message';
import { type MailBodies, textToHtml } from './bodies';
import type { LoadedFile } from './files';
import type { Sender } from './sender';

/** Adds the signature from the Gmail settings below the body. Without one, adds a hint. */
export async function appendSignature(
	bodies: MailBodies,
	{ from, signature }: Sender,
	item: Item,
): Promise<MailBodies> {
	if (signature === '') {
		item.addHint(
			`There is no signature for ${from?.address ?? 'this account'} in the Gmail settings, so the email has none.`,
		);
		return bodies;
	}
	const workerResult = await runInWorker('htmlToText', signature, item.signal);
	if (!('result' in workerResult))
		throw createRefusal(
			`The signature of the account cannot be read: ${workerResult.problem}`,
			'Nothing was sent. Simplify the signature in the Gmail settings.',
		);
	return appendToBodies(bodies, {
		text: `-- \n${workerResult.result}`,
		html: `<br><br><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature">${signature}</div>`,
	});
}

/**
 * Adds the original email below the body, with the same HTML as Gmail, so that mail programs
 * recognize and fold the quotation.
 * @returns also the pictures that the quotation shows
 */
export async function appendQuotation(
	clients: Clients,
	original: Mail,
	bodies: MailBodies,
): Promise<{ bodies: MailBodies; pictures: LoadedFile[] }> {
	const pictures = bodies.html === undefined ? [] : await fetchPictures(clients, original);
	return { bodies: appendToBodies(bodies, buildQuotation(original)), pictures };
}

/**
 * Matches what stands around the content of a page. The HTML of an email may be several pages, one
 * below the other.
 */
const pagePattern =
	/<!doctype\b[^<>]*>|<head\b[^<>]*>(?:(?!<head\b).)*?<\/head\s*>|<\/?(?:html|body)\b[^<>]*>/gis;

function buildQuotation({ summary, content }: Mail): Required<MailBodies> {
	const { text, html } = content;
	const time = summary.date === '' ? '' : `On ${new Date(summary.date).toUTCString()}, `;
	const introduction = `${time}${summary.sender} wrote:`;
	const quotedHtml = html === '' ? textToHtml(text) : html.replaceAll(pagePattern, '').trim();
	// A space after the mark, unless the line is empty or already quoted (RFC 3676, 4.5).
	const quotedText = text.replaceAll(/^(?=[^>\n])/gm, ' ').replaceAll(/^/gm, '>');
	return {
		text: `${introduction}\n\n${quotedText}`,
		html: `<br><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${escapeHtml(introduction)}<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">${quotedHtml}</blockquote></div>`,
	};
}

function appendToBodies({ text, html }: MailBodies, addition: Required<MailBodies>): MailBodies {
	const longerText = `${text.trimEnd()}\n\n${addition.text}`;
	if (html === undefined) return { text: longerText };
	// An earlier one may stand in a comment.
	const bodyEnd = [...html.matchAll(/<\/body\s*>/gi)].at(-1);
	const end = bodyEnd?.index ?? html.length;
	return { text: longerText, html: html.slice(0, end) + addition.html + html.slice(end) };
}

/**
 * Fetches the pictures within the text of the original, under the names by which its HTML shows
 * them.
 */
async function fetchPictures(clients: Clients, mail: Mail): Promise<LoadedFile[]> {
	// Found in one pass, because an email may have thousands of pictures and megabytes of HTML.
	const links = mail.content.html.matchAll(/cid:([^\s"'<>)]+)/gi);
	const shownNames = new Set(Array.from(links, ([, name = '']) => [name, unescape(name)]).flat());
	const pictures: LoadedFile[] = [];
	for (const file of mail.files) {
		const { fileName: filename, mimeType: contentType, contentId: cid } = file.info;
		if (!shownNames.has(cid)) continue;
		const content = await readAttachment(clients, mail.summary.id, file);
		pictures.push({ filename, contentType, content, cid });
	}
	return pictures;
}
