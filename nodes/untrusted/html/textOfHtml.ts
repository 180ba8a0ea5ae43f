import { Tokenizer } from 'htmlparser2';

import { HidingStyles } from './hidingStyles';
import { TextWriter } from './textWriter';

/** Elements with a blank line around them; those in the next list have only a line break. */
const apart = new Set('blockquote h1 h2 h3 h4 h5 h6 hr ol p pre ul'.split(' '));
const onOwnLines = new Set(
	'address article aside body caption center dd details div dl dt fieldset figcaption figure footer form header html legend li main nav section summary table tbody tfoot thead tr'.split(
		' ',
	),
);
/** Elements whose content is not displayed. */
const unseen = new Set(['script', 'style', 'title']);
/** Elements that have no content and no end tag. */
const empty = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const attributes = new Set(['alt', 'class', 'hidden', 'href', 'id', 'media', 'start', 'style']);
/** Elements that end where another one begins, without an end tag. */
const endsAt: Readonly<Record<string, RegExp>> = {
	li: /^li$/,
	p: /^(?:p|div|table|ul|ol|h[1-6]|blockquote|pre|hr)$/,
	td: /^(?:td|th|tr|tbody|tfoot)$/,
	th: /^(?:td|th|tr|tbody|tfoot)$/,
	tr: /^(?:tr|tbody|tfoot)$/,
};
/** Elements in which an element of the same name belongs to an inner list or table, and so ends nothing outside. */
const holders = ['table', 'ul', 'ol'];
const isForScreens = /^\s*(?:all|screen|)\s*$/i;
const rule = '-'.repeat(20);

/**
 * Converts the displayed part of an HTML email to plain text: links in brackets after their text, images only as a link's text, tabs between
 * cells. It builds no tree, so the time grows only with the length, however deeply the HTML is nested.
 */
export function textOfHtml(html: string): string {
	return new Reader(html).text();
}

type Callbacks = NonNullable<ConstructorParameters<typeof Tokenizer>[1]>;
const nothing = () => undefined;

class Reader implements Callbacks {
	private readonly html: string;
	private readonly writer = new TextWriter();
	private tag = '';
	/** The current tag's attributes that matter here. */
	private readonly attributes = new Map<string, string>();
	private attribute = '';
	private unseen = '';
	private hidden: HiddenElement | undefined;
	/** Its own text has no size, but what is in it may have one. */
	private sizeless: HiddenElement | undefined;
	/** How senders hide a preview text, or what only a phone shows. */
	private readonly styles = new HidingStyles();
	private sheet: string[] = [];
	private link = '';

	readonly oncdata = nothing;
	readonly oncomment = nothing;
	readonly ondeclaration = nothing;
	readonly onprocessinginstruction = nothing;
	readonly onattribend = nothing;
	readonly onend = nothing;

	constructor(html: string) {
		this.html = html;
	}

	text(): string {
		const tokenizer = new Tokenizer({ decodeEntities: true }, this);
		tokenizer.write(this.html);
		tokenizer.end();
		this.endLink();
		return this.writer.text();
	}

	onopentagname(from: number, to: number): void {
		this.tag = this.name(from, to);
		this.attributes.clear();
	}

	onattribname(from: number, to: number): void {
		this.attribute = this.name(from, to);
		this.addValue('');
	}

	onattribdata(from: number, to: number): void {
		this.addValue(this.html.slice(from, to));
	}

	onattribentity(code: number): void {
		this.addValue(String.fromCodePoint(code));
	}

	ontext(from: number, to: number): void {
		const text = this.html.slice(from, to);
		if (this.unseen === 'style' && isForScreens.test(this.value('media'))) this.sheet.push(text);
		this.writeText(text);
	}

	ontextentity(code: number): void {
		this.writeText(String.fromCodePoint(code));
	}

	private writeText(text: string): void {
		if (!this.sizeless) this.write(text);
	}

	private name(from: number, to: number): string {
		return this.html.slice(from, to).toLowerCase();
	}

	private addValue(text: string): void {
		const { attribute } = this;
		if (attributes.has(attribute)) this.attributes.set(attribute, this.value(attribute) + text);
	}

	private value(attribute: string): string {
		return this.attributes.get(attribute) ?? '';
	}

	private write(text: string): void {
		if (this.unseen === '' && !this.hidden) this.writer.write(text);
	}

	onopentagend(): void {
		const { tag } = this;
		if (this.hidden?.endsWithOpening(tag)) this.hidden = undefined;
		if (this.sizeless?.endsWithOpening(tag)) this.sizeless = undefined;
		if (this.unseen === '' && unseen.has(tag)) this.unseen = tag;
		if (this.hidden) return;
		const look = this.styles.find(tag, this.value('id'), this.value('class'), this.value('style'));
		const isHidden = this.attributes.has('hidden') || look.isHidden;
		if (look.size === 'some') this.sizeless = undefined;
		else if (look.size === 'none' && !empty.has(tag)) this.sizeless ??= new HiddenElement(tag);
		if (isHidden && !empty.has(tag)) this.hidden = new HiddenElement(tag);
		else if (!isHidden) this.openSeen(tag);
	}

	onselfclosingtag(): void {
		this.onopentagend();
	}

	private openSeen(tag: string): void {
		const { writer } = this;
		this.breakAround(tag);
		if (tag === 'a') this.openLink();
		else if (tag === 'br') writer.newLine();
		else if (tag === 'hr') {
			writer.write(rule);
			writer.atLeast(2);
		} else if (tag === 'img' && this.link !== '') this.write(` ${this.value('alt')} `);
		else if (tag === 'table') writer.openTable();
		else if (tag === 'tr') writer.row();
		else if (tag === 'td' || tag === 'th') writer.cell();
		else if (tag === 'li') writer.item();
		else if (tag === 'ul') writer.lists.push(NaN);
		else if (tag === 'ol') {
			const start = Number.parseInt(this.value('start'), 10);
			writer.lists.push(Number.isSafeInteger(start) ? start : 1);
		} else if (tag === 'blockquote') writer.quoteDepth++;
		else if (tag === 'pre') writer.preDepth++;
	}

	onclosetag(from: number, to: number): void {
		const { writer } = this;
		const tag = this.name(from, to);
		if (tag === this.unseen) this.unseen = '';
		if (tag === 'style') this.styles.add(this.sheet.splice(0).join(''));
		if (this.sizeless && !this.sizeless.holdsEnd(tag)) this.sizeless = undefined;
		if (this.hidden?.holdsEnd(tag)) return;
		const isOwnEnd = this.hidden?.tag === tag;
		this.hidden = undefined;
		if (isOwnEnd) return;
		if (tag === 'table') writer.closeTable();
		else if (tag === 'tr') writer.endRow();
		else if (tag === 'ul' || tag === 'ol') writer.closeList();
		this.breakAround(tag);
		if (tag === 'a') this.endLink();
		else if (tag === 'blockquote') writer.quoteDepth = Math.max(0, writer.quoteDepth - 1);
		else if (tag === 'pre') writer.preDepth = Math.max(0, writer.preDepth - 1);
	}

	private breakAround(tag: string): void {
		const isInnerList = this.writer.lists.length > 0 && (tag === 'ul' || tag === 'ol');
		if (apart.has(tag) && !isInnerList) this.writer.atLeast(2);
		else if (onOwnLines.has(tag) || isInnerList) this.writer.atLeast(1);
	}

	private openLink(): void {
		this.endLink();
		const href = this.value('href')
			.trim()
			.replace(/^mailto:/i, '');
		if (href.startsWith('#')) return;
		this.link = href;
		this.writer.startRecord(href.length);
	}

	private endLink(): void {
		const { link, writer } = this;
		if (link === '') return;
		this.link = '';
		const text = writer.recorded.trim();
		if (text === '') writer.write(` ${link} `);
		else if (text !== link) writer.append(` [${link}]`);
	}
}

/** An element that is not displayed. It counts the elements inside to find its own end. */
class HiddenElement {
	readonly tag: string;
	/** How many elements of each name are open inside. */
	private readonly inner = new Map<string, number>();

	constructor(tag: string) {
		this.tag = tag;
	}

	/** Counts a start tag. @returns whether it ends this element */
	endsWithOpening(tag: string): boolean {
		const ends = endsAt[this.tag]?.test(tag) === true && !holders.some((holder) => this.inner.get(holder));
		if (!ends && !empty.has(tag)) this.inner.set(tag, (this.inner.get(tag) ?? 0) + 1);
		return ends;
	}

	/** Counts an end tag. @returns whether it belongs to an element inside, not to this one or one around it */
	holdsEnd(tag: string): boolean {
		const count = this.inner.get(tag);
		if (count) this.inner.set(tag, count - 1);
		// An end tag without a start tag means a new paragraph or line.
		return Boolean(count) || (tag !== this.tag && (tag === 'p' || empty.has(tag)));
	}
}
