import { randomBytes } from 'node:crypto';
import type { RootContent } from 'mdast';
import { fromMarkdown, type Options } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Characters. The parser's time is quadratic: a megabyte of short lists takes 60 s and much memory as a whole, and 3 s in such pieces. */
const defaultPieceLength = 8_000;

type MicromarkExtension = NonNullable<Options['extensions']>[number];

/** Parses GitHub Flavored Markdown in pieces. The position of a block counts from the start of its piece. */
export function parseMarkdown(markdown: string, pieceLength = defaultPieceLength): RootContent[] {
	const pieces = [...splitIntoPieces(assertProportionate(markdown), pieceLength)];
	const nodes = pieces.flatMap((piece) => piece.nodes);
	const defined = collectDefinitions(nodes);
	if (pieces.length === 1 || defined.defined.length + defined.gfmFootnotes.length === 0) return nodes;
	// Whether `[a]` is a reference depends on definitions, which may stand in any piece.
	return pieces.flatMap(({ text }) => parsePiece(text, [buildDefinitionsExtension(defined)]));
}

/** Splits where the parser itself began another block after a blank line, because what follows cannot change the blocks before it. */
function* splitIntoPieces(markdown: string, pieceLength: number) {
	let length = pieceLength;
	for (let start = 0; ;) {
		const lineEnd = markdown.indexOf('\n', start + length);
		const text = markdown.slice(start, lineEnd < 0 ? undefined : lineEnd);
		const nodes = parsePiece(text);
		if (lineEnd < 0) {
			yield { text, nodes };
			return;
		}
		const count = findLastSeparateBlock(nodes);
		length = count > 0 ? pieceLength : length * 2;
		if (count <= 0) continue;
		// The next piece begins with the line break before its first block.
		const end = text.lastIndexOf('\n', nodes[count]?.position?.start.offset);
		yield { text: text.slice(0, end), nodes: nodes.slice(0, count) };
		start += end;
	}
}

/** Finds the last block that can be read without the blocks before it. @returns a negative number if there is none */
function findLastSeparateBlock(nodes: readonly RootContent[]): number {
	return nodes.findLastIndex(({ position }, at) => {
		const before = nodes[at - 1];
		// After indented code, the parser does not begin a list with any number but 1.
		if (before === undefined || endsWithCode(before)) return false;
		return (position?.start.line ?? 0) > (before.position?.end.line ?? 0) + 1;
	});
}

function endsWithCode(node: RootContent): boolean {
	const last = 'children' in node ? node.children.at(-1) : undefined;
	return node.type === 'code' || (last !== undefined && endsWithCode(last));
}

function parsePiece(text: string, extensions: MicromarkExtension[] = []): RootContent[] {
	const options = { extensions: [gfm(), ...extensions], mdastExtensions: [gfmFromMarkdown()] };
	return fromMarkdown(text, options).children;
}

/** Collects these nodes and all nodes inside them. */
export function collectNodes(nodes: readonly RootContent[]): RootContent[] {
	const found: RootContent[] = [];
	const visit = (node: RootContent) => {
		found.push(node);
		if ('children' in node) node.children.forEach(visit);
	};
	nodes.forEach(visit);
	return found;
}

/** Identifiers of definitions, under the names that the parser uses. */
function collectDefinitions(nodes: readonly RootContent[]) {
	const all = collectNodes(nodes);
	const list = (type: 'definition' | 'footnoteDefinition') =>
		all.flatMap((node) => (node.type === type ? node.identifier.toUpperCase() : []));
	return { defined: list('definition'), gfmFootnotes: list('footnoteDefinition') };
}

/** Makes an extension that matches nothing and tells the parser, at every bracket, which definitions other pieces have. */
function buildDefinitionsExtension(defined: ReturnType<typeof collectDefinitions>): MicromarkExtension {
	const text: MicromarkExtension['text'] = {
		[openingBracket]: {
			tokenize(_effects, _ok, nok) {
				Object.assign(this.parser, defined);
				return nok;
			},
		},
	};
	return { text: { ...text, [exclamationMark]: text[openingBracket] } };
}

const openingBracket = 91;
/** Begins an image, together with the bracket after it. */
const exclamationMark = 33;

/** The parser pads short rows, so a header with many columns makes every row below it just as long. */
const maxCells = 200_000;
/** Each use of a link repeats its whole address. */
const maxAddressCharacters = 20_000_000;

const delimiterRow = /^[\s>]*[-:|][-:|\s]*$/;

/** Refuses Markdown whose result would be many times as long, before memory is used for it. @returns the same text. @throws Error */
export function assertProportionate(markdown: string): string {
	const lines = markdown.split('\n');
	let cells = 0;
	let columns = 0;
	let stretch = 0;
	let longest = 0;
	for (const line of lines) {
		const isBlank = line.trim() === '';
		if (isBlank) columns = 0;
		else if (delimiterRow.test(line)) columns = Math.max(columns, line.split('|').length);
		cells += columns > 1 ? columns : 0;
		stretch = isBlank ? 0 : stretch + line.length;
		longest = Math.max(longest, stretch);
	}
	const mentions = markdown.includes(']:') ? markdown.split(']').length : 0;
	if (cells > maxCells || longest * mentions > maxAddressCharacters + 40 * markdown.length)
		throw new Error('The result would be many times as long as the text');
	return markdown;
}

/** The beginning of a link's or a definition's target that names an attached file. */
const attachmentLinkStart = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

/** Keeps the line breaks of code below the text of a list item, which micromark leaves out. */
const codeInLists: ReturnType<typeof gfmHtml> = {
	enter: {
		codeFencedFence() {
			this.setData('slurpAllLineEndings');
		},
	},
};

/**
 * Converts GitHub Flavored Markdown to HTML. HTML in it becomes text. Disguises links to attached files (`cid:`) as relative ones
 * during the conversion, because micromark would remove them.
 */
export function markdownToHtml(markdown: string): string {
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const relative = assertProportionate(markdown).replaceAll(
		attachmentLinkStart,
		(_all, before: string) => before + placeholder,
	);
	const html = micromark(relative, { extensions: [gfm()], htmlExtensions: [gfmHtml(), codeInLists] });
	return html.replaceAll(placeholder, 'cid:');
}
