import { Tokenizer } from 'htmlparser2';

import { HidingStyles } from './hidingStyles';
import { TextWriter } from './textWriter';

const blankLineElements = new Set('blockquote h1 h2 h3 h4 h5 h6 hr ol p pre ul'.split(' '));
const lineBreakTags =
	'address article aside body caption center dd details div dl dt fieldset figcaption figure footer form header html legend li main nav section summary table tbody tfoot thead tr';
/** Elements with a line break around them, but no blank line. */
const lineBreakElements = new Set(lineBreakTags.split(' '));
const undisplayedElements = new Set(['script', 'style', 'title']);
/** Elements that have no content and no end tag. */
const voidElements = new Set(
	'area base br col embed hr img input link meta source track wbr'.split(' '),
);
const neededAttributes = new Set([
	'alt',
	'class',
	'hidden',
	'href',
	'id',
	'media',
	'start',
	'style',
]);
/** Elements whose end tag may be missing, with the start tags that end them. */
const impliedEndPatterns: Readonly<Record<string, RegExp>> = {
	li: /^li$/,
	p: /^(?:p|div|table|ul|ol|h[1-6]|blockquote|pre|hr)$/,
	td: /^(?:td|th|tr|tbody|tfoot)$/,
	th: /^(?:td|th|tr|tbody|tfoot)$/,
	tr: /^(?:tr|tbody|tfoot)$/,
};
/**
 * A start tag inside one of these belongs to an inner list or table, so it ends no element outside.
 */
const nestingElements = ['table', 'ul', 'ol'];
const horizontalRule = '-'.repeat(20);

/**
 * Converts the displayed part of an HTML email to plain text. Writes addresses of links in brackets
 * after their text, unless it ends with the address, and tabs between cells. Writes the description
 * of an image only in a link. Builds no tree, so deeply nested HTML takes no more time than flat
 * HTML.
 */
export const htmlToText = (html: string) => new HtmlReader().convert(html);

type Callbacks = NonNullable<ConstructorParameters<typeof Tokenizer>[1]>;
const ignore = () => undefined;

class HtmlReader implements Callbacks {
	#html = '';
	readonly #writer = new TextWriter();
	#tagName = '';
	readonly #attributes = new Map<string, string>();
	#attributeName = '';
	/** The open `script`, `style` or `title`; '' outside of them. */
	#undisplayedTag = '';
	#hiddenElement: TrackedElement | undefined;
	/**
	 * The styles of the page. Senders use them to hide a preview text, or a part that only phones
	 * show.
	 */
	readonly #styles = new HidingStyles();
	#styleSheetPieces: string[] = [];
	#linkAddress = '';
	/** The number of pieces before the link. */
	#linkStart = 0;
	/** The outermost element whose style keeps white space. */
	#preformatted: TrackedElement | undefined;

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
		this.#closeLink();
		return this.#writer.finish();
	}

	onopentagname(start: number, end: number): void {
		this.#tagName = this.#readName(start, end);
		this.#attributes.clear();
	}

	onattribname(start: number, end: number): void {
		this.#attributeName = this.#readName(start, end);
		this.#appendToAttribute('');
	}

	onattribdata(start: number, end: number): void {
		this.#appendToAttribute(this.#html.slice(start, end));
	}

	onattribentity(code: number): void {
		this.#appendToAttribute(String.fromCodePoint(code));
	}

	ontext(start: number, end: number): void {
		const text = this.#html.slice(start, end);
		// What is for some media only may hide what other media show.
		if (this.#undisplayedTag === 'style' && !this.#attributes.has('media'))
			this.#styleSheetPieces.push(text);
		this.#write(text);
	}

	ontextentity(code: number): void {
		this.#write(String.fromCodePoint(code));
	}

	#readName(start: number, end: number): string {
		return this.#html.slice(start, end).toLowerCase();
	}

	#appendToAttribute(text: string): void {
		const name = this.#attributeName;
		if (neededAttributes.has(name)) this.#attributes.set(name, this.#getAttribute(name) + text);
	}

	#getAttribute(attribute: string): string {
		return this.#attributes.get(attribute) ?? '';
	}

	#write(text: string): void {
		if (this.#undisplayedTag === '' && !this.#hiddenElement) this.#writer.write(text);
	}

	onopentagend(): void {
		const tag = this.#tagName;
		if (this.#hiddenElement?.trackStartTag(tag)) this.#hiddenElement = undefined;
		if (this.#undisplayedTag === '' && undisplayedElements.has(tag)) this.#undisplayedTag = tag;
		if (this.#hiddenElement) return;
		if (!this.#styles.isHidden(tag, this.#attributes)) this.#openDisplayed(tag);
		else if (!voidElements.has(tag)) this.#hiddenElement = new TrackedElement(tag);
	}

	readonly onselfclosingtag = this.onopentagend.bind(this);

	#openDisplayed(tag: string): void {
		const writer = this.#writer;
		const ends = this.#preformatted?.trackStartTag(tag);
		// Between cells, white space is never shown.
		if (ends || (this.#preformatted && tag === 'table')) this.#endPreformatted();
		this.#ensureBreaksAround(tag);
		if (!this.#preformatted && this.#keepsWhiteSpace(tag)) {
			this.#preformatted = new TrackedElement(tag);
			writer.openPreCount++;
		}
		if (tag === 'a') this.#openLink();
		else if (tag === 'br') writer.addLineBreak();
		else if (tag === 'hr') {
			writer.write(horizontalRule);
			writer.ensureLineBreaks(2);
		} else if (tag === 'img' && this.#linkAddress !== '' && this.#undisplayedTag === '')
			writer.write(` ${this.#getAttribute('alt')} `);
		else if (tag === 'table') writer.openTable();
		else if (tag === 'tr') writer.startRow();
		else if (tag === 'td' || tag === 'th') writer.startCell();
		else if (tag === 'li') writer.startItem();
		else if (tag === 'ul') writer.openList();
		else if (tag === 'ol') {
			const start = Number.parseInt(this.#getAttribute('start'), 10);
			writer.openList(Number.isSafeInteger(start) ? start : 1);
		} else if (tag === 'blockquote') writer.quoteDepth++;
		else if (tag === 'pre') writer.openPreCount++;
	}

	onclosetag(start: number, end: number): void {
		const writer = this.#writer;
		const tag = this.#readName(start, end);
		if (tag === this.#undisplayedTag) this.#undisplayedTag = '';
		if (tag === 'style') this.#styles.addStyleSheet(this.#styleSheetPieces.splice(0).join(''));
		if (this.#hiddenElement && !this.#hiddenElement.trackEndTag(tag)) return;
		const endsHiddenElement = this.#hiddenElement?.tag === tag;
		this.#hiddenElement = undefined;
		if (endsHiddenElement) return;
		if (this.#preformatted?.trackEndTag(tag)) this.#endPreformatted();
		if (tag === 'table') writer.closeTable();
		else if (tag === 'tr') writer.endRow();
		else if (tag === 'ul' || tag === 'ol') writer.closeList();
		else if (tag === 'br') writer.addLineBreak();
		this.#ensureBreaksAround(tag);
		if (tag === 'a') this.#closeLink();
		else if (tag === 'blockquote') writer.quoteDepth = Math.max(0, writer.quoteDepth - 1);
		else if (tag === 'pre') writer.openPreCount = Math.max(0, writer.openPreCount - 1);
	}

	#keepsWhiteSpace(tag: string): boolean {
		const style = this.#getAttribute('style');
		return !voidElements.has(tag) && /white-space\s*:\s*(?:pre|break-spaces)/i.test(style);
	}

	#endPreformatted(): void {
		this.#preformatted = undefined;
		this.#writer.openPreCount--;
	}

	#ensureBreaksAround(tag: string): void {
		const isInnerList =
			this.#writer.nextItemNumbers.length > 0 && (tag === 'ul' || tag === 'ol');
		if (blankLineElements.has(tag) && !isInnerList) this.#writer.ensureLineBreaks(2);
		else if (lineBreakElements.has(tag) || isInnerList) this.#writer.ensureLineBreaks(1);
	}

	#openLink(): void {
		this.#closeLink();
		const href = this.#getAttribute('href').trim();
		const address = href.replace(/^mailto:/i, '');
		if (address.startsWith('#')) return;
		this.#linkAddress = address;
		this.#linkStart = this.#writer.pieceCount;
	}

	#closeLink(): void {
		const address = this.#linkAddress;
		if (address === '') return;
		this.#linkAddress = '';
		const text = this.#writer.getTextFrom(this.#linkStart).trim();
		if (text === '') this.#writer.write(` ${address} `);
		else if (!` ${text.replaceAll(/\s/g, ' ')}`.endsWith(` ${address}`))
			this.#writer.appendToLine(` [${address}]`);
	}
}

/**
 * An element whose text is displayed in its own way, or not at all. Counts the elements inside, so
 * that it finds its own end.
 */
class TrackedElement {
	readonly tag: string;
	/** Numbers of open elements inside, by tag name. */
	readonly #openElements = new Map<string, number>();

	constructor(tag: string) {
		this.tag = tag;
	}

	/** Counts a start tag. @returns whether it ends this element */
	trackStartTag(tag: string): boolean {
		const isEnd =
			impliedEndPatterns[this.tag]?.test(tag) === true &&
			!nestingElements.some((holder) => this.#openElements.get(holder));
		if (!isEnd && !voidElements.has(tag))
			this.#openElements.set(tag, (this.#openElements.get(tag) ?? 0) + 1);
		return isEnd;
	}

	/**
	 * Counts an end tag.
	 * @returns whether it ends this element, because it belongs to this element or to one around it
	 */
	trackEndTag(tag: string): boolean {
		const count = this.#openElements.get(tag);
		if (count) this.#openElements.set(tag, count - 1);
		// Browsers display `</p>` without a start tag as an empty paragraph, and `</br>` as a line
		// break.
		const isStray = tag !== this.tag && (tag === 'p' || voidElements.has(tag));
		return !count && !isStray;
	}
}
