import { unescape } from 'node:querystring';

import { createRefusal } from '../../../../core/errors';
import { escapeHtml } from '../../../../core/text';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { runInWorker } from '../../../../untrusted/runInWorker';
import type { Item } from '../../../operation';
import type { LoadedFile } from './files';
import type { PreparedMail } from './prepareMail';

/**
 * The body in one or two formats, which are sent together. A mail program shows the best format
 * that it supports.
 */
export interface MailBodies {
	readonly text: string;
	readonly html?: string;
}

/**
 * Builds the body in its formats. HTML always comes with a text, which for Markdown is the Markdown
 * itself.
 * @throws NodeError 400 if unreadable
 */
export async function buildBodies(
	{ body, bodyFormat, folder }: PreparedMail,
	item: Item,
): Promise<MailBodies> {
	if (bodyFormat === 'text') {
		// Gmail's page would break the lines of a draft that has only plain text.
		if (folder === 'drafts') return { text: body, html: setDirection(textToHtml(body), body) };
		return { text: body };
	}
	const isHtml = bodyFormat === 'html';
	const source = isHtml ? repairHtml(body) : body;
	const task = isHtml ? 'htmlToText' : 'markdownToHtml';
	const workerResult = await runInWorker(task, source, item.signal);
	if (!('result' in workerResult))
		throw createRefusal(
			`${quoteField('body')} cannot be read: ${workerResult.problem}`,
			`Nothing was sent. Shorten or simplify it, or set ${quoteField('bodyFormat')} to ${mentionChoice('bodyFormat', 'text')}.`,
		);
	const { result } = workerResult;
	if (isHtml) return { text: result, html: source };
	return { text: body, html: setDirection(result, body) };
}

const tagPattern = /<[a-z!/][^<>]*>/i;
/** Matches any tag except those of words within a line. */
const blockTagPattern =
	/<(?!\/?(?:a|b|code|del|em|font|i|img|ins|mark|s|small|span|strong|su[bp]|u)\b)[a-z!/][^<>]*>/i;
/**
 * Matches an end tag or a line break that was escaped, as models sometimes do with the whole HTML.
 */
const escapedTagPattern = /&lt;(?:\/[a-z][a-z0-9]*|br(?:\s*\/)?)\s*&gt;/i;
const escapes: Readonly<Record<string, string>> = {
	'&amp;': '&',
	'&lt;': '<',
	'&gt;': '>',
	'&quot;': '"',
	'&#39;': "'",
	'&apos;': "'",
};

/**
 * Repairs HTML that would be shown in one line or with its tags: text with line breaks, maybe with
 * tags inside its lines, and HTML that was escaped as a whole.
 */
export function repairHtml(body: string): string {
	if (blockTagPattern.test(body)) return body;
	if (tagPattern.test(body) || !escapedTagPattern.test(body)) return breakLines(body);
	return unescapeHtml(body);
}

const unescapeHtml = (html: string) =>
	html.replaceAll(/&[a-z#0-9]+;/g, (escape) => escapes[escape] ?? escape);

/** A line break inside a tag stays. */
const breakLines = (html: string) =>
	html.replaceAll(/<[a-z!/][^<>]*>|\r\n?|\n/gi, (found) =>
		found.startsWith('<') ? found : '<br>\n',
	);

export const textToHtml = (text: string) =>
	breakLines(escapeHtml(text).replaceAll(/^ | (?= )/gm, '&nbsp;'));

/**
 * Makes a text run from right to left if its first letter does, because some mail programs do not
 * find that out themselves.
 */
function setDirection(html: string, text: string): string {
	const [firstLetter = ''] = /\p{L}/u.exec(text) ?? [];
	const isRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
	return isRightToLeft.test(firstLetter) ? `<div dir="rtl">${html}</div>` : html;
}

/** Matches the name in a `cid:` link that is the whole value of an attribute in quotes. */
const linkedNamePattern = /(?<=="cid:)[^"<>]{1,255}(?=")|(?<=='cid:)[^'<>]{1,255}(?=')/gi;

/**
 * Gives a Content-ID to each file that a `cid:` link of the HTML names by its binary field or file
 * name. The link then has the Content-ID.
 * @param uniqueId makes the Content-IDs unique among all emails
 */
export function inlineLinkedFiles(html: string, files: readonly LoadedFile[], uniqueId: string) {
	const shownFiles = files.map((file) => ({ ...file }));
	let shownCount = 0;
	const linkedHtml = html.replaceAll(linkedNamePattern, (link) => {
		const name = unescapeHtml(link).trim();
		// In a link of a Markdown body, spaces are percent signs.
		const names = [name, unescape(name)];
		const file =
			shownFiles.find(({ field = '' }) => names.includes(field)) ??
			shownFiles.find(({ filename }) => names.includes(filename));
		if (!file) return link;
		file.cid ??= `${++shownCount}.${uniqueId}@inline`;
		return file.cid;
	});
	return { html: linkedHtml, files: shownFiles };
}
