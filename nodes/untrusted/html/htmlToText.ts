import { Tokenizer } from 'htmlparser2';

import { HidingStyles } from './hidingStyles';
import { TextBlock } from './textBlock';

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
const cellElements = ['td', 'th'];
const listElements = ['ol', 'ul'];
/**
 * Elements that shape the text. Any other, such as `b`, only matters if it hides its text or keeps
 * white space: its end tag may be missing hundreds of times, and ends no list or quote that began
 * in it.
 */
const structuralElements = new Set([
	...blankLineElements,
	...lineBreakElements,
	...cellElements,
	'a',
]);
const paragraphEnds = 'blockquote div h1 h2 h3 h4 h5 h6 hr ol p pre table ul'.split(' ');
/** Start tags that end elements whose end tag may be missing, with these elements. */
const impliedEnds = new Map([
	['a', ['a']],
	['li', ['li']],
	['td', cellElements],
	['th', cellElements],
	['tr', ['tr']],
	['tbody', ['tr']],
	['tfoot', ['tr']],
	...paragraphEnds.map((tag): [string, string[]] => [tag, ['p']]),
]);
/** A start tag inside one of these ends no element outside. */
const nestingElements = ['table', ...listElements];
/**
 * Browsers have such a limit, too. The content of deeper elements belongs to the last one that is
 * counted.
 */
const maxOpenElements = 256;
/** Deeper quotes and lists are not indented further, so that no line begins with a long indent. */
const maxIndents = 5;
const horizontalRule = '-'.repeat(20);

/**
 * Converts the displayed part of an HTML email to plain text. Writes addresses of links in brackets
 * after their text, unless it ends with the address, and tabs between cells. Writes the description
 * of an image only in a link.
 */
export const htmlToText = (html: string) => new HtmlReader().convert(html);

/** An element whose end is not reached, or the page. Inner elements inherit from it. */
interface OpenElement {
	readonly tag: string;
	readonly isHidden: boolean;
	/** Whether white space and line breaks are written as they are. */
	readonly isPreformatted: boolean;
	/** The text that the element belongs to. Some elements have one of their own. */
	block: TextBlock;
	/** The number of quotes and lists that indent the block. */
	indentCount: number;
	/** The innermost list. Only an ordered list has numbers. */
	list?: { nextNumber?: number };
	/** The address of the link, and the position of its text in the block. */
	link?: { readonly address: string; readonly start: number };
}

type Callbacks = NonNullable<ConstructorParameters<typeof Tokenizer>[1]>;
const ignore = () => undefined;

class HtmlReader implements Callbacks {
	#html = '';
	#tagName = '';
	readonly #attributes = new Map<string, string>();
	#attributeName = '';
	/**
	 * The styles of the page. Senders use them to hide a preview text, or a part that only phones
	 * show.
	 */
	readonly #styles = new HidingStyles();
	readonly #page: OpenElement = {
		tag: '',
		isHidden: false,
		isPreformatted: false,
		indentCount: 0,
		block: new TextBlock(),
	};
	/** The elements around the text, the innermost last. */
	readonly #openElements: OpenElement[] = [];

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
		this.#endFrom(0);
		const { block } = this.#page;
		block.endRow();
		return block.getText().trimEnd();
	}

	get #innermost(): OpenElement {
		return this.#openElements.at(-1) ?? this.#page;
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
		this.#write(this.#html.slice(start, end));
	}

	ontextentity(code: number): void {
		this.#write(String.fromCodePoint(code));
	}

	#readName(start: number, end: number): string {
		return this.#html.slice(start, end).toLowerCase();
	}

	#appendToAttribute(text: string): void {
		const name = this.#attributeName;
		this.#attributes.set(name, this.#getAttribute(name) + text);
	}

	#getAttribute(name: string): string {
		return this.#attributes.get(name) ?? '';
	}

	#write(text: string): void {
		const { isPreformatted, block } = this.#innermost;
		if (isPreformatted) block.writePreformatted(text);
		else block.write(text);
	}

	onopentagend(): void {
		const tag = this.#tagName;
		const ended = impliedEnds.get(tag);
		if (ended) this.#endInnermost(ended, nestingElements);
		const outer = this.#innermost;
		const isUndisplayed = undisplayedElements.has(tag);
		const isHidden =
			outer.isHidden || isUndisplayed || this.#styles.isHidden(tag, this.#attributes);
		const isPreformatted = tag !== 'table' && (outer.isPreformatted || this.#keepsSpace(tag));
		const element: OpenElement = {
			tag,
			isHidden,
			isPreformatted,
			block: outer.block,
			indentCount: outer.indentCount,
			list: outer.list,
			link: outer.link,
		};
		// The text of a hidden element is put nowhere.
		if (isHidden) element.block = new TextBlock();
		else this.#start(element, outer);
		const matters = isHidden || isPreformatted || structuralElements.has(tag);
		const hasRoom = isUndisplayed || this.#openElements.length < maxOpenElements;
		if (matters && hasRoom && !voidElements.has(tag)) this.#openElements.push(element);
	}

	readonly onselfclosingtag = this.onopentagend.bind(this);

	#keepsSpace(tag: string): boolean {
		const style = this.#getAttribute('style');
		return tag === 'pre' || /white-space\s*:\s*(?:pre|break-spaces)/i.test(style);
	}

	#start(element: OpenElement, outer: OpenElement): void {
		const { tag } = element;
		this.#ensureBreaks(tag);
		switch (tag) {
			case 'a':
				element.link = this.#readLink(outer.block);
				break;
			case 'blockquote':
				startIndentedBlock(element, '> ');
				break;
			case 'br':
				outer.block.addBreak(outer.isPreformatted);
				break;
			case 'hr':
				outer.block.append(horizontalRule);
				this.#ensureBreaks(tag);
				break;
			case 'img':
				if (outer.link) outer.block.write(` ${this.#getAttribute('alt')} `);
				break;
			case 'li':
				startIndentedBlock(element, '  ', getMarker(outer));
				break;
			case 'ol':
			case 'ul':
				if (listElements.includes(outer.tag)) startIndentedBlock(element, '  ');
				element.list = { nextNumber: tag === 'ol' ? this.#readStart() : undefined };
				break;
			case 'table':
				element.block = new TextBlock();
				break;
			case 'td':
			case 'th':
				element.block = outer.block.addCell();
		}
	}

	#readStart(): number {
		const start = Number.parseInt(this.#getAttribute('start'), 10);
		return Number.isSafeInteger(start) ? start : 1;
	}

	#readLink({ pieceCount }: TextBlock): OpenElement['link'] {
		const href = this.#getAttribute('href').trim();
		const address = href.replace(/^mailto:/i, '');
		const isShown = address !== '' && !address.startsWith('#');
		return isShown ? { address, start: pieceCount } : undefined;
	}

	onclosetag(start: number, end: number): void {
		const tag = this.#readName(start, end);
		const isTablePart = /^t(?:able|body|d|foot|h|head|r)$/.test(tag);
		const barriers = isTablePart ? [] : cellElements;
		const ended = this.#endInnermost([tag], barriers);
		if (ended?.isHidden) return;
		this.#ensureBreaks(tag);
		if (tag === 'br') this.#innermost.block.addBreak(false);
	}

	/**
	 * Ends the innermost open element with one of the tags, and all in it.
	 * @param barriers elements around the text beyond which none is ended
	 */
	#endInnermost(tags: readonly string[], barriers: readonly string[]): OpenElement | undefined {
		const index = this.#openElements.findLastIndex(
			({ tag }) => tags.includes(tag) || barriers.includes(tag),
		);
		const found = this.#openElements[index];
		if (!found || !tags.includes(found.tag)) return undefined;
		this.#endFrom(index);
		return found;
	}

	/** Ends an open element and all in it. */
	#endFrom(index: number): void {
		while (this.#openElements.length > index) {
			const element = this.#innermost;
			this.#openElements.pop();
			this.#end(element, this.#innermost);
		}
	}

	#end(element: OpenElement, outer: OpenElement): void {
		const { tag, block } = element;
		// What is for some media only may hide what other media show.
		if (tag === 'style' && !this.#attributes.has('media'))
			this.#styles.addStyleSheet(block.getText());
		if (element.isHidden) return;
		const hasOwnBlock = block !== outer.block;
		if (hasOwnBlock || tag === 'tr') block.endRow();
		if (tag === 'a') endLink(element);
		if (tag === 'table') block.endTable();
		if (hasOwnBlock && !cellElements.includes(tag)) outer.block.appendBlock(block);
	}

	#ensureBreaks(tag: string): void {
		const { block, list } = this.#innermost;
		const isInnerList = list !== undefined && listElements.includes(tag);
		if (lineBreakElements.has(tag) || isInnerList) block.ensureBreaks(1);
		else if (blankLineElements.has(tag)) block.ensureBreaks(2);
	}
}

function startIndentedBlock(element: OpenElement, indent: string, marker?: string): void {
	element.indentCount++;
	element.block = new TextBlock(element.indentCount <= maxIndents ? indent : '', marker);
}

function getMarker({ list }: OpenElement): string {
	if (list?.nextNumber === undefined) return '* ';
	return `${list.nextNumber++}. `;
}

function endLink({ link, block }: OpenElement): void {
	if (!link) return;
	// Some links are around the cells of a row.
	block.endRow();
	const { address, start } = link;
	const text = ` ${block.getText(start).trim()}`;
	const shownAddress = ` ${address}`;
	const textEnd = text.slice(-shownAddress.length).replaceAll(/\s/g, ' ');
	if (text === ' ') block.write(`${shownAddress} `);
	else if (textEnd !== shownAddress) block.appendToLine(` [${address}]`);
}
