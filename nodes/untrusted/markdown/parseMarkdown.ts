import { randomBytes } from 'node:crypto';
import type { RootContent } from 'mdast';
import { fromMarkdown, type Options } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** In characters. Parsing takes quadratic time. A megabyte of short lists takes 60 s in one piece, and 3 s in pieces of this length. */
const defaultPieceLength = 8_000;

type MicromarkExtension = NonNullable<Options['extensions']>[number];

/** Parses GitHub Flavored Markdown in pieces. @returns the blocks, whose positions count from the start of their piece */
export function parseMarkdown(markdown: string, pieceLength = defaultPieceLength): RootContent[] {
	const pieces = [...splitIntoPieces(assertProportionate(markdown), pieceLength)];
	const nodes = pieces.flatMap((piece) => piece.nodes);
	const definitions = collectDefinitions(nodes);
	if (pieces.length === 1 || Object.values(definitions).flat().length === 0) return nodes;
	// `[a]` is a reference only if some piece defines `a`, so each piece is parsed again with the definitions of all pieces.
	return pieces.flatMap(({ text }) => parsePiece(text, [buildDefinitionsExtension(definitions)]));
}

/** Splits Markdown where the parser begins a new block after a blank line. Later text cannot change the blocks before this line. */
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
		const nextBlockIndex = findLastSeparateBlock(nodes);
		length = nextBlockIndex > 0 ? pieceLength : length * 2;
		if (nextBlockIndex <= 0) continue;
		// The next piece begins with the line break before its first block.
		const end = text.lastIndexOf('\n', nodes[nextBlockIndex]?.position?.start.offset);
		yield { text: text.slice(0, end), nodes: nodes.slice(0, nextBlockIndex) };
		start += end;
	}
}

/** @returns the index of the last block that can be read without the blocks before it; -1 if there is no such block */
function findLastSeparateBlock(nodes: readonly RootContent[]): number {
	return nodes.findLastIndex(({ position }, index) => {
		const previousNode = nodes[index - 1];
		// After indented code, the parser only begins a numbered list if its first number is 1.
		if (previousNode === undefined || endsWithCode(previousNode)) return false;
		return (position?.start.line ?? 0) > (previousNode.position?.end.line ?? 0) + 1;
	});
}

function endsWithCode(node: RootContent): boolean {
	const lastChild = 'children' in node ? node.children.at(-1) : undefined;
	return node.type === 'code' || (lastChild !== undefined && endsWithCode(lastChild));
}

function parsePiece(text: string, extensions: MicromarkExtension[] = []): RootContent[] {
	const options = { extensions: [gfm(), ...extensions], mdastExtensions: [gfmFromMarkdown()] };
	return fromMarkdown(text, options).children;
}

/** Returns the nodes together with all nodes inside them, in the order of the text. */
export function collectNodes(nodes: readonly RootContent[]): RootContent[] {
	const collectedNodes: RootContent[] = [];
	const visit = (node: RootContent) => {
		collectedNodes.push(node);
		if ('children' in node) node.children.forEach(visit);
	};
	nodes.forEach(visit);
	return collectedNodes;
}

/** Collects the identifiers of all definitions, in the properties in which micromark's parser stores them. */
function collectDefinitions(nodes: readonly RootContent[]) {
	const allNodes = collectNodes(nodes);
	const collectIds = (type: 'definition' | 'footnoteDefinition') =>
		allNodes.flatMap((node) => (node.type === type ? node.identifier.toUpperCase() : []));
	return { defined: collectIds('definition'), gfmFootnotes: collectIds('footnoteDefinition') };
}

/** Builds an extension that parses nothing. At each opening bracket, it gives the parser the definitions of all pieces. */
function buildDefinitionsExtension(
	definitions: ReturnType<typeof collectDefinitions>,
): MicromarkExtension {
	const construct: NonNullable<MicromarkExtension['text']>[number] = {
		tokenize(_effects, _ok, nok) {
			Object.assign(this.parser, definitions);
			return nok;
		},
	};
	return { text: { [openingBracket]: construct, [exclamationMark]: construct } };
}

const openingBracket = 91;
/** An exclamation mark and an opening bracket begin an image. */
const exclamationMark = 33;

/** Limits the cells of all tables, because the parser fills up each row to the length of the header. */
const maxCells = 200_000;
/** Limits the addresses of links, because each use of a definition repeats its whole address. */
const maxAddressCharacters = 20_000_000;
/** Each character of the Markdown raises the limit by this much. */
const addressCharactersPerCharacter = 40;
const delimiterRowPattern = /^[\s>]*[-:|][-:|\s]*$/;

/** Refuses Markdown if the parser's result could be many times as long and take much memory. @returns the same text @throws Error */
export function assertProportionate(markdown: string): string {
	let cellCount = 0;
	let columnCount = 0;
	let stretchLength = 0;
	let maxStretchLength = 0;
	for (const line of markdown.split('\n')) {
		const isBlank = line.trim() === '';
		if (isBlank) columnCount = 0;
		else if (delimiterRowPattern.test(line))
			columnCount = Math.max(columnCount, line.split('|').length);
		cellCount += columnCount > 1 ? columnCount : 0;
		stretchLength = isBlank ? 0 : stretchLength + line.length;
		maxStretchLength = Math.max(maxStretchLength, stretchLength);
	}
	// An address is at most as long as a stretch without a blank line, and each closing bracket may repeat it.
	const bracketCount = markdown.includes(']:') ? markdown.split(']').length : 0;
	const addressLimit = maxAddressCharacters + addressCharactersPerCharacter * markdown.length;
	if (cellCount > maxCells || maxStretchLength * bracketCount > addressLimit)
		throw new Error('The result would be many times as long as the text');
	return markdown;
}

/** The beginning of a link or a definition up to the `cid:` of an attached file. */
const attachmentLinkStartPattern = /(\]\(\s*<?|\]:\s*<?)cid:/gi;

/** Keeps the line breaks in code blocks of list items, which micromark would leave out. */
const codeInLists: ReturnType<typeof gfmHtml> = {
	enter: {
		codeFencedFence() {
			this.setData('slurpAllLineEndings');
		},
	},
};

/** Converts GitHub Flavored Markdown to HTML. HTML in the Markdown becomes text. */
export function markdownToHtml(markdown: string): string {
	// Links to attached files (`cid:`) are relative links during the conversion, because micromark would remove their addresses.
	const placeholder = `cid${randomBytes(12).toString('hex')}/`;
	const source = assertProportionate(markdown).replaceAll(
		attachmentLinkStartPattern,
		`$1${placeholder}`,
	);
	const html = micromark(source, {
		extensions: [gfm()],
		htmlExtensions: [gfmHtml(), codeInLists],
	});
	return html.replaceAll(placeholder, 'cid:');
}
