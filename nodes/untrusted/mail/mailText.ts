import { textOfHtml } from '../html/textOfHtml';
import { decodedText } from './charset';
import { partHeader, type Body, type Part } from './mimeStructure';

/** The text of an email, in its available forms. */
export interface MailText {
	/** Plain text with LF between lines; converted from the HTML if the email has no plain text. */
	readonly text: string;
	/** '' for an email without HTML. */
	readonly html: string;
}

/** @param bytesOf content of a part */
export function mailText(body: Body, bytesOf: (part: Part) => Buffer): MailText {
	const { text, html } = formsOf(body, bytesOf);
	const plain = text ?? (html && converted(html));
	return {
		text: (plain?.pieces.join('\n') ?? '').replaceAll(/\r\n?/g, '\n').trimEnd(),
		html: html?.pieces.join('\n') ?? '',
	};
}

/** One form of a text. Joined only at the end, because parts may be nested deeply. */
interface Form {
	readonly pieces: readonly string[];
	readonly isBlank: boolean;
	/** Some of it was converted from HTML. */
	readonly isMade?: boolean;
}

/** A form is undefined if the part does not have it. */
interface Forms {
	readonly text?: Form;
	readonly html?: Form;
}

function formsOf(body: Body, bytesOf: (part: Part) => Buffer): Forms {
	if ('pieces' in body) {
		const forms = body.pieces.map((piece) => formsOf(piece, bytesOf));
		return body.kind === 'alternative' ? bestOf(forms) : joined(forms);
	}
	const bytes = bytesOf(body.part);
	const content = decodedText(bytes, charsetOf(body.part, body.kind, bytes));
	return { [body.kind]: { pieces: [content], isBlank: content.trim() === '' } };
}

/**
 * The last form of a kind is the best. The sender's own text takes precedence over one converted from HTML,
 * and either over an empty one.
 */
function bestOf(forms: readonly Forms[]): Forms {
	const htmls = forms.flatMap(({ html }) => html ?? []);
	const html = htmls.findLast(({ isBlank }) => !isBlank) ?? htmls.at(-1);
	const texts = forms.flatMap(({ text }) => text ?? []);
	const filled = texts.filter(({ isBlank }) => !isBlank);
	const best = filled.findLast(({ isMade }) => isMade !== true) ?? filled.at(-1);
	if (best) return { text: best, html };
	// Some programs add an empty text next to the HTML.
	return { text: html?.isBlank === false ? undefined : texts[0], html };
}

/** Contents that follow each other, such as a text and its footer. */
function joined(forms: readonly Forms[]): Forms {
	const html = oneOf(forms.flatMap((form) => form.html ?? []));
	if (forms.every(({ text }) => text === undefined)) return { html };
	return {
		text: oneOf(forms.flatMap((form) => form.text ?? (form.html ? [converted(form.html)] : []))),
		html,
	};
}

function oneOf(forms: readonly Form[]): Form | undefined {
	if (forms.length === 0) return undefined;
	return {
		pieces: forms.flatMap(({ pieces }) => pieces),
		isBlank: forms.every(({ isBlank }) => isBlank),
		isMade: forms.some(({ isMade }) => isMade === true),
	};
}

function converted(html: Form): Form {
	const text = textOfHtml(html.pieces.join('\n'));
	return { pieces: [text], isBlank: text === '', isMade: true };
}

/**
 * The charset named by the header, by the type that Gmail gives (openclaw/gogcli#428), or by the HTML itself.
 */
function charsetOf(part: Part, kind: 'text' | 'html', bytes: Buffer): string {
	for (const place of [partHeader(part, 'Content-Type'), part.mimeType ?? '']) {
		const named = /\bcharset\*?\s*=\s*["']?(?:[\w-]*'[\w-]*')?([^\s"';]+)/i.exec(place)?.[1];
		if (named !== undefined) return named;
	}
	if (kind === 'text') return '';
	return (
		/<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(bytes.toString('latin1', 0, 1024))?.[1] ?? ''
	);
}
