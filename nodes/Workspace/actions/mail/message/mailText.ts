import type { Patience } from '../../../../untrusted/runInWorker';
import type { Clients, Item } from '../../../operation';
import { partHeader, type Body, type Part } from '../../../../untrusted/mail/mimeStructure';
import { decodedText } from '../../../../untrusted/mail/charset';
import { partBytes } from './partBytes';

/** The text of an email, in its available forms. */
export interface MessageText {
	/** Plain text with LF between lines; converted from the HTML if the email has no plain text. */
	readonly text: string;
	/** '' for an email without HTML. */
	readonly html: string;
}

/** The text of an email with any nesting and charset. Attached texts and emails are not part of it. */
export async function messageText(
	client: Clients,
	messageId: string,
	body: Body,
	item: Item,
): Promise<MessageText> {
	const plainOf = async (source: string | undefined) => await textOf(source, messageId, item);
	const { text, html } = await formsOf(client, messageId, body, plainOf);
	const plain = text ?? (await plainOf(html));
	return { text: plain.replaceAll(/\r\n?/g, '\n').trimEnd(), html: html ?? '' };
}

/** A form is undefined if the part does not have it. */
interface Forms {
	readonly text?: string;
	readonly html?: string;
	/** Some of the text was converted from HTML. */
	readonly made?: boolean;
}

type PlainOf = (html: string | undefined) => Promise<string>;

async function formsOf(client: Clients, messageId: string, body: Body, plainOf: PlainOf): Promise<Forms> {
	if ('pieces' in body) {
		const forms = await Promise.all(body.pieces.map((piece) => formsOf(client, messageId, piece, plainOf)));
		return body.kind === 'alternative' ? bestOf(forms) : await joined(forms, plainOf);
	}
	const bytes = await partBytes(client, messageId, body.part);
	const content = decodedText(bytes, charsetOf(body.part, body.kind, bytes));
	return { [body.kind]: content };
}

/**
 * The last form of a kind is the best. The sender's own text takes precedence over one converted from HTML,
 * and either over an empty one.
 */
function bestOf(forms: readonly Forms[]): Forms {
	const html = bestHtml(forms);
	const filled = forms.filter(({ text }) => !isBlank(text));
	const best = filled.findLast(({ made }) => made !== true) ?? filled.at(-1);
	if (best) return { text: best.text, html, made: best.made };
	// Some programs add an empty text next to the HTML.
	return { text: isBlank(html) ? forms.find(({ text }) => text !== undefined)?.text : undefined, html };
}

function bestHtml(forms: readonly Forms[]): string | undefined {
	const htmls = forms.flatMap(({ html }) => html ?? []);
	return htmls.findLast((html) => !isBlank(html)) ?? htmls.at(-1);
}

function isBlank(text: string | undefined): boolean {
	return text === undefined || text.trim() === '';
}

/** Joins contents that follow each other, such as a text and its footer. */
async function joined(forms: readonly Forms[], plainOf: PlainOf): Promise<Forms> {
	const htmls = forms.flatMap(({ html }) => html ?? []);
	const html = htmls.length > 0 ? htmls.join('\n') : undefined;
	if (forms.every(({ text }) => text === undefined)) return { html };
	const texts: string[] = [];
	let made = false;
	for (const form of forms) {
		made ||= form.made === true || form.text === undefined;
		texts.push(form.text ?? (await plainOf(form.html)));
	}
	return { text: texts.join('\n'), html, made };
}

/** Shared by all emails of one list. */
const patienceOf = new WeakMap<Item, Patience>();

async function textOf(html: string | undefined, messageId: string, item: Item): Promise<string> {
	if (html === undefined) return '';
	const { Patience, runInWorker } = await import('../../../../untrusted/runInWorker');
	const patience = patienceOf.get(item) ?? new Patience();
	patienceOf.set(item, patience);
	const answer = await runInWorker('textOfHtml', html, item.signal, patience);
	if ('text' in answer) return answer.text;
	item.hint(`The HTML of the message ${messageId} could not be converted to text: ${answer.trouble}.`);
	return '';
}

/**
 * The charset named by the header, by the type that Gmail gives (openclaw/gogcli#428), or by the HTML itself.
 */
export function charsetOf(part: Part, kind: 'text' | 'html', bytes: Buffer): string {
	for (const place of [partHeader(part, 'Content-Type'), part.mimeType ?? '']) {
		const named = /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(place)?.[1];
		if (named !== undefined) return named;
	}
	if (kind === 'text') return '';
	return (
		/<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(bytes.toString('latin1', 0, 1024))?.[1] ?? ''
	);
}
