/**
 * Characters. The parser's time grows quadratically for a text with many lists: 60 s for a megabyte, 3 s in
 * pieces.
 */
const pieceLength = 8_000;

const fence = /^(`{3,}|~{3,})/;
/** Raw HTML may continue after blank lines. */
const html = /^ {0,3}<(?:[!?]|pre|script|style|textarea)/im;
/** A line that is not indented, not a list item and not a quote cannot continue anything above it. */
const newBlock = /^[^\s>*+\-\d]/;
const definition = /^ {0,3}\[(?!\^)[^\]]+\]:\s*\S.*$/gm;

/**
 * Splits a long text into pieces that can be parsed separately. Each ends with a blank line outside code and
 * has all link definitions.
 */
export function piecesOf(markdown: string): string[] {
	if (markdown.length <= pieceLength || html.test(markdown)) return [markdown];
	const pieces: string[] = [];
	let start = 0;
	let at = 0;
	let open = '';
	let afterBlank = false;
	for (const line of markdown.split('\n')) {
		const apart = open === '' && afterBlank && newBlock.test(line);
		if (apart && at - start >= pieceLength) {
			pieces.push(markdown.slice(start, at));
			start = at;
		}
		open = afterFence(line, open);
		afterBlank = line.trim() === '';
		at += line.length + 1;
	}
	pieces.push(markdown.slice(start));
	const definitions = pieces.length > 1 ? (markdown.match(definition) ?? []).join('\n') : '';
	return definitions === '' ? pieces : pieces.map((piece) => `${piece}\n\n${definitions}`);
}

/** The fence that is open after a line; empty if there is none. */
function afterFence(line: string, open: string): string {
	const mark = fence.exec(line)?.[1] ?? '';
	if (open === '') return mark;
	const closes = mark.startsWith(open) && line.slice(mark.length).trim() === '';
	return closes ? '' : open;
}
