import { Tokenizer } from 'htmlparser2';

import { HidingStyles } from './hidingStyles';
import { TextWriter } from './textWriter';

/** Elements with a blank line around them; those in the next list have only a line break. */
const blankLineElements = new Set('blockquote h1 h2 h3 h4 h5 h6 hr ol p pre ul'.split(' '));
const lineBreakElements = new Set(
	'address article aside body caption center dd details div dl dt fieldset figcaption figure footer form header html legend li main nav section summary table tbody tfoot thead tr'.split(
		' ',
	),
);
/** Elements whose content is not displayed. */
const undisplayedElements = new Set(['script', 'style', 'title']);
/** Elements that have no content and no end tag. */
const voidElements = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const neededAttributes = new Set(['alt', 'class', 'hidden', 'href', 'id', 'media', 'start', 'style']);
/** Elements that end where another one begins, without an end tag. */
const impliedEnds: Readonly<Record<string, RegExp>> = {
	li: /^li$/,
	p: /^(?:p|div|table|ul|ol|h[1-6]|blockquote|pre|hr)$/,
	td: /^(?:td|th|tr|tbody|tfoot)$/,
	th: /^(?:td|th|tr|tbody|tfoot)$/,
	tr: /^(?:tr|tbody|tfoot)$/,
};
/** Elements in which an element of the same name belongs to an inner list or table, and so ends nothing outside. */
const nestingElements = ['table', 'ul', 'ol'];
const isForScreens = /^\s*(?:all|screen|)\s*$/i;
const horizontalRule = '-'.repeat(20);

/**
 * Converts the displayed part of an HTML email to plain text: links in brackets after their text, images only as a link's text, tabs
 * between cells. Builds no tree, so the time grows only with the length, however deeply the HTML is nested.
 */
export const htmlToText = (html: string) => new HtmlReader().convert(html);

type Callbacks = NonNullable<ConstructorParameters<typeof Tokenizer>[1]>;
const ignore = () => undefined;

class HtmlReader implements Callbacks {
	#html = '';
	readonly #writer = new TextWriter();
	#tagName = '';
	/** The current tag's attributes that matter here. */
	readonly #attributes = new Map<string, string>();
	#attributeName = '';
	#undisplayedTag = '';
	#hidden: HiddenElement | undefined;
	/** The element whose own text has no size, although elements inside may have one. */
	#sizeless: HiddenElement | undefined;
	/** The page's styles, with which senders hide a preview text, or what only a phone shows. */
	readonly #styles = new HidingStyles();
	#sheet: string[] = [];
	#link = '';

	readonly oncdata = ignore;
	readonly oncomment = ignore;
	readonly ondeclaration = ignore;
	readonly onprocessinginstruction = ignore;
	readonly onattribend = ignore;
	readonly onend = ignore;

	convert(html: string): string {
		this.#html = html;
		const tokenizer = new Tokenizer({ decodeEntities: true }, this);
		tokenizer.write(html);
		tokenizer.end();
		this.#endLink();
		return this.#writer.finish();
	}

	onopentagname(from: number, to: number): void {
		this.#tagName = this.#readName(from, to);
		this.#attributes.clear();
	}

	onattribname(from: number, to: number): void {
		this.#attributeName = this.#readName(from, to);
		this.#appendToAttribute('');
	}

	onattribdata(from: number, to: number): void {
		this.#appendToAttribute(this.#html.slice(from, to));
	}

	onattribentity(code: number): void {
		this.#appendToAttribute(String.fromCodePoint(code));
	}

	ontext(from: number, to: number): void {
		const text = this.#html.slice(from, to);
		if (this.#undisplayedTag === 'style' && isForScreens.test(this.#get('media'))) this.#sheet.push(text);
		this.#write(text);
	}

	ontextentity(code: number): void {
		this.#write(String.fromCodePoint(code));
	}

	#readName(from: number, to: number): string {
		return this.#html.slice(from, to).toLowerCase();
	}

	#appendToAttribute(text: string): void {
		const name = this.#attributeName;
		if (neededAttributes.has(name)) this.#attributes.set(name, this.#get(name) + text);
	}

	#get(attribute: string): string {
		return this.#attributes.get(attribute) ?? '';
	}

	#write(text: string): void {
		if (this.#undisplayedTag === '' && !this.#hidden && !this.#sizeless) this.#writer.write(text);
	}

	onopentagend(): void {
		const tag = this.#tagName;
		if (this.#hidden?.trackStartTag(tag)) this.#hidden = undefined;
		if (this.#sizeless?.trackStartTag(tag)) this.#sizeless = undefined;
		if (this.#undisplayedTag === '' && undisplayedElements.has(tag)) this.#undisplayedTag = tag;
		if (this.#hidden) return;
		const look = this.#styles.find(tag, this.#get('id'), this.#get('class'), this.#get('style'));
		const isHidden = this.#attributes.has('hidden') || look.isHidden;
		if (look.isSizeless === false) this.#sizeless = undefined;
		else if (look.isSizeless && !voidElements.has(tag)) this.#sizeless ??= new HiddenElement(tag);
		if (isHidden && !voidElements.has(tag)) this.#hidden = new HiddenElement(tag);
		else if (!isHidden) this.#openDisplayed(tag);
	}

	readonly onselfclosingtag = this.onopentagend.bind(this);

	#openDisplayed(tag: string): void {
		const writer = this.#writer;
		this.#breakAround(tag);
		if (tag === 'a') this.#openLink();
		else if (tag === 'br') writer.addLineBreak();
		else if (tag === 'hr') {
			writer.write(horizontalRule);
			writer.ensureLineBreaks(2);
		} else if (tag === 'img' && this.#link !== '' && this.#undisplayedTag === '')
			writer.write(` ${this.#get('alt')} `);
		else if (tag === 'table') writer.openTable();
		else if (tag === 'tr') writer.startRow();
		else if (tag === 'td' || tag === 'th') writer.startCell();
		else if (tag === 'li') writer.startItem();
		else if (tag === 'ul') writer.nextItemNumbers.push(NaN);
		else if (tag === 'ol') {
			const start = Number.parseInt(this.#get('start'), 10);
			writer.nextItemNumbers.push(Number.isSafeInteger(start) ? start : 1);
		} else if (tag === 'blockquote') writer.quoteDepth++;
		else if (tag === 'pre') writer.preDepth++;
	}

	onclosetag(from: number, to: number): void {
		const writer = this.#writer;
		const tag = this.#readName(from, to);
		if (tag === this.#undisplayedTag) this.#undisplayedTag = '';
		if (tag === 'style') this.#styles.add(this.#sheet.splice(0).join(''));
		if (this.#sizeless && !this.#sizeless.trackEndTag(tag)) this.#sizeless = undefined;
		if (this.#hidden?.trackEndTag(tag)) return;
		const isOwnEnd = this.#hidden?.tag === tag;
		this.#hidden = undefined;
		if (isOwnEnd) return;
		if (tag === 'table') writer.closeTable();
		else if (tag === 'tr') writer.endRow();
		else if (tag === 'ul' || tag === 'ol') writer.closeList();
		this.#breakAround(tag);
		if (tag === 'a') this.#endLink();
		else if (tag === 'blockquote') writer.quoteDepth = Math.max(0, writer.quoteDepth - 1);
		else if (tag === 'pre') writer.preDepth = Math.max(0, writer.preDepth - 1);
	}

	#breakAround(tag: string): void {
		const isInnerList = this.#writer.nextItemNumbers.length > 0 && (tag === 'ul' || tag === 'ol');
		if (blankLineElements.has(tag) && !isInnerList) this.#writer.ensureLineBreaks(2);
		else if (lineBreakElements.has(tag) || isInnerList) this.#writer.ensureLineBreaks(1);
	}

	#openLink(): void {
		this.#endLink();
		const given = this.#get('href').trim();
		const href = given.replace(/^mailto:/i, '');
		if (href.startsWith('#')) return;
		this.#link = href;
		this.#writer.startRecording(href.length);
	}

	#endLink(): void {
		const link = this.#link;
		const writer = this.#writer;
		if (link === '') return;
		this.#link = '';
		const text = writer.recordedText.trim();
		if (text === '') writer.write(` ${link} `);
		else if (text !== link) writer.appendToLine(` [${link}]`);
	}
}

/** An element that is not displayed. It counts the elements inside to find its own end. */
class HiddenElement {
	readonly tag: string;
	/** How many elements of each name are open inside. */
	readonly #openElements = new Map<string, number>();

	constructor(tag: string) {
		this.tag = tag;
	}

	/** Counts a start tag. @returns whether it ends this element */
	trackStartTag(tag: string): boolean {
		const ends =
			impliedEnds[this.tag]?.test(tag) === true &&
			!nestingElements.some((holder) => this.#openElements.get(holder));
		if (!ends && !voidElements.has(tag)) this.#openElements.set(tag, (this.#openElements.get(tag) ?? 0) + 1);
		return ends;
	}

	/** Counts an end tag. @returns whether it belongs to an element inside, not to this one or one around it */
	trackEndTag(tag: string): boolean {
		const count = this.#openElements.get(tag);
		if (count) this.#openElements.set(tag, count - 1);
		// An end tag without a start tag means a new paragraph or line.
		return Boolean(count) || (tag !== this.tag && (tag === 'p' || voidElements.has(tag)));
	}
}
