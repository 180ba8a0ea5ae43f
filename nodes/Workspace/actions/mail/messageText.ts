import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import type { Clients } from '../../operation';
import { isFile, partBytes, partHeader } from './attachments';
import { decodedText } from './charset';

type Part = gmail_v1.Schema$MessagePart;

/** What a mail says, in the forms that it has. */
export interface MessageText {
	/** Plain text, with \n between lines; made from the HTML where the mail has no other. */
	readonly text: string;
	/** '' for a mail without HTML. */
	readonly html: string;
}

/** The text of a mail of any nesting and charset; attached texts and mails do not belong to it. */
export async function messageText(client: Clients, message: gmail_v1.Schema$Message): Promise<MessageText> {
	const { id, payload } = message;
	if (!payload) return { text: '', html: '' };
	const { text, html } = await textOf(client, id ?? '', payload);
	const plain = text ?? (await plainOf(html));
	return { text: plain.replaceAll(/\r\n?/g, '\n').trimEnd(), html: html ?? '' };
}

/** Undefined for a form that a part does not have. */
interface Forms {
	readonly text?: string;
	readonly html?: string;
}

async function textOf(client: Clients, id: string, part: Part): Promise<Forms> {
	if (isFile(part)) return {};
	const { mimeType, parts } = part;
	if (!parts || parts.length === 0) {
		const content = decodedText(await partBytes(client, id, part), charsetOf(part));
		return mimeType === 'text/html' ? { html: content } : { text: content };
	}
	const inner = await Promise.all(parts.map((each) => textOf(client, id, each)));
	return mimeType === 'multipart/alternative' ? bestOf(inner) : await joined(inner);
}

/** The same content in several forms: the last of a kind is the best (RFC 2046, 5.1.4). */
function bestOf(forms: readonly Forms[]): Forms {
	return {
		text: forms.findLast(({ text }) => text !== undefined)?.text,
		html: forms.findLast(({ html }) => html !== undefined)?.html,
	};
}

/** Contents one after another, such as a text with a footer. */
async function joined(forms: readonly Forms[]): Promise<Forms> {
	const texts: string[] = [];
	for (const { text, html } of forms) {
		if (text === undefined && html === undefined) continue;
		texts.push(text ?? (await plainOf(html)));
	}
	const htmls = forms.flatMap(({ html }) => html ?? []);
	return {
		text: texts.length > 0 ? texts.join('\n') : undefined,
		html: htmls.length > 0 ? htmls.join('\n') : undefined,
	};
}

async function plainOf(html: string | undefined): Promise<string> {
	if (html === undefined) return '';
	const { textOfHtml } = await import('./htmlText');
	return textOfHtml(html);
}

function charsetOf(part: Part): string {
	return /\bcharset\s*=\s*"?([^\s";]+)/i.exec(partHeader(part, 'Content-Type'))?.[1] ?? '';
}
