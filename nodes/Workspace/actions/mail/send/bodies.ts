import { createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import { runInWorker } from '../../../../untrusted/runInWorker';
import type { Item } from '../../../operation';
import type { PreparedMail } from './prepareMail';

/** The body in one or two formats, which are sent together. A mail program shows the best format that it supports. */
export interface MailBodies {
	readonly text: string;
	readonly html: string | undefined;
}

/** Builds the body in its formats. HTML always comes with a text, which for Markdown is the Markdown itself. @throws NodeError 400 if unreadable */
export async function buildBodies(
	{ body, bodyFormat, folder }: PreparedMail,
	{ signal }: Item,
): Promise<MailBodies> {
	if (bodyFormat === 'text') {
		// Gmail's page would break the lines of a draft that has only plain text.
		const html = folder === 'drafts' ? setDirection(textToHtml(body), body) : undefined;
		return { text: body, html };
	}
	if (bodyFormat === 'markdown') {
		const workerResult = await runInWorker('markdownToHtml', body, signal);
		if ('result' in workerResult)
			return { text: body, html: setDirection(workerResult.result, body) };
		throw createUnreadableRefusal('Markdown', workerResult.problem);
	}
	const html = repairHtml(body);
	const workerResult = await runInWorker('htmlToText', html, signal);
	if ('result' in workerResult) return { text: workerResult.result, html };
	throw createUnreadableRefusal('HTML', workerResult.problem);
}

const createUnreadableRefusal = (format: string, problem: string) =>
	createRefusal(
		`${quoteField('body')} cannot be read as ${format}: ${problem}`,
		`Nothing was sent. Shorten or simplify it, or set ${quoteField('bodyFormat')} to ${mentionChoice('bodyFormat', 'text')}.`,
	);

const tagPattern = /<[a-z!/][^<>]*>/i;
/** Matches an end tag or a line break that was escaped, as models sometimes do with the whole HTML. */
const escapedTagPattern = /&lt;(?:\/[a-z][a-z0-9]*|br\s*\/?)\s*&gt;/i;
const escapes: ReadonlyArray<readonly [RegExp, string]> = [
	[/&lt;/g, '<'],
	[/&gt;/g, '>'],
	[/&quot;/g, '"'],
	[/&#0?39;|&apos;/g, "'"],
	[/&amp;/g, '&'],
];

/** Repairs HTML that would be shown in one line or with its tags: text with line breaks, and HTML that was escaped as a whole. */
function repairHtml(body: string): string {
	if (tagPattern.test(body)) return body;
	if (!escapedTagPattern.test(body)) return breakLines(body);
	return escapes.reduce((html, [escape, character]) => html.replaceAll(escape, character), body);
}

const breakLines = (html: string) => html.replaceAll(/\r\n?|\n/g, '<br>\n');

const entities: Readonly<Record<string, string>> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
};

export const escapeHtml = (text: string) =>
	text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);

export const textToHtml = (text: string) =>
	breakLines(escapeHtml(text).replaceAll(/^ | (?= )/gm, '&nbsp;'));

/** Makes a text run from right to left if its first letter does, because some mail programs do not find that out themselves. */
function setDirection(html: string, text: string): string {
	const [firstLetter = ''] = /\p{L}/u.exec(text) ?? [];
	const isRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
	return isRightToLeft.test(firstLetter) ? `<div dir="rtl">${html}</div>` : html;
}
