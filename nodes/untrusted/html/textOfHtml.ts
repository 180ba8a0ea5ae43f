import { Tokenizer } from 'htmlparser2';

import { TextWriter } from './textWriter';

/** Elements with a blank line around them. Those in `onOwnLines` have only a line break around them. */
const apart = new Set('blockquote h1 h2 h3 h4 h5 h6 hr ol p pre ul'.split(' '));
const onOwnLines = new Set(
	'address article aside body caption center dd details div dl dt fieldset figcaption figure footer form header html legend li main nav section summary table tbody tfoot thead tr'.split(
		' ',
	),
);
/** Elements whose content is not displayed. */
const unseen = new Set(['script', 'style', 'title']);
const rule = '-'.repeat(20);

/**
 * An HTML email as plain text: links in brackets after their text, no images, table cells separated by tabs,
 * and lines that are not wrapped. Works from tag to tag without a tree, so the cost grows only with the
 * length of the email, however it is nested.
 */
export function textOfHtml(html: string): string {
	return new Reader(html).text();
}

class Reader {
	private readonly html: string;
	private readonly writer = new TextWriter();
	/** The current tag and those of its attributes that matter. */
	private tag = '';
	private attribute = '';
	private href = '';
	private start = '';
	private unseen = '';
	private link = '';

	constructor(html: string) {
		this.html = html;
	}

	text(): string {
		const tokenizer = new Tokenizer({ decodeEntities: true }, this.callbacks());
		tokenizer.write(this.html);
		tokenizer.end();
		this.endLink();
		return this.writer.text();
	}

	private callbacks(): ConstructorParameters<typeof Tokenizer>[1] {
		const { html } = this;
		const nothing = () => undefined;
		const value = (text: string) => {
			if (this.attribute === 'href') this.href += text;
			else if (this.attribute === 'start') this.start += text;
		};
		return {
			onopentagname: (from, to) => {
				this.tag = html.slice(from, to).toLowerCase();
				this.href = '';
				this.start = '';
			},
			onattribname: (from, to) => (this.attribute = html.slice(from, to).toLowerCase()),
			onattribdata: (from, to) => {
				value(html.slice(from, to));
			},
			onattribentity: (code) => {
				value(String.fromCodePoint(code));
			},
			onattribend: () => (this.attribute = ''),
			onopentagend: () => {
				this.open(this.tag);
			},
			onselfclosingtag: () => {
				this.open(this.tag);
			},
			onclosetag: (from, to) => {
				this.close(html.slice(from, to).toLowerCase());
			},
			ontext: (from, to) => {
				this.write(html.slice(from, to));
			},
			ontextentity: (code) => {
				this.write(String.fromCodePoint(code));
			},
			oncdata: nothing,
			oncomment: nothing,
			ondeclaration: nothing,
			onprocessinginstruction: nothing,
			onend: nothing,
		};
	}

	private write(text: string): void {
		if (this.unseen === '') this.writer.write(text);
	}

	private open(tag: string): void {
		const { writer } = this;
		if (this.unseen === '' && unseen.has(tag)) this.unseen = tag;
		this.breakAround(tag);
		if (tag === 'a') {
			this.endLink();
			const href = this.href.trim().replace(/^mailto:/i, '');
			if (href.startsWith('#')) return;
			this.link = href;
			writer.startRecord(href.length + 1);
		} else if (tag === 'br') writer.newLine();
		else if (tag === 'hr') {
			writer.write(rule);
			writer.atLeast(2);
		} else if (tag === 'td' || tag === 'th') writer.nextCell();
		else if (tag === 'li') writer.item();
		else if (tag === 'ul') writer.openList(undefined);
		else if (tag === 'ol') writer.openList(Number.parseInt(this.start, 10));
		else if (tag === 'blockquote') writer.quoteDepth++;
		else if (tag === 'pre') writer.preDepth++;
	}

	private close(tag: string): void {
		const { writer } = this;
		if (tag === this.unseen) this.unseen = '';
		if (tag === 'ul' || tag === 'ol') writer.closeList();
		this.breakAround(tag);
		if (tag === 'a') this.endLink();
		else if (tag === 'blockquote') writer.quoteDepth = Math.max(0, writer.quoteDepth - 1);
		else if (tag === 'pre') writer.preDepth = Math.max(0, writer.preDepth - 1);
	}

	private breakAround(tag: string): void {
		const isInnerList = this.writer.isInList && (tag === 'ul' || tag === 'ol');
		if (apart.has(tag) && !isInnerList) this.writer.atLeast(2);
		else if (onOwnLines.has(tag) || isInnerList) this.writer.atLeast(1);
	}

	private endLink(): void {
		const { link, writer } = this;
		if (link === '') return;
		this.link = '';
		const text = writer.record().trim();
		if (text === '') writer.write(link);
		else if (text !== link) writer.write(` [${link}]`);
	}
}
