/** Characters. The parser's time grows with the square of a text with many lists: 60 s for a megabyte, 3 s in pieces. */
const pieceLength = 8_000;

const fence = /^(`{3,}|~{3,})/;
/** Raw HTML may go on over blank lines. */
const html = /^ {0,3}<(?:[!?]|pre|script|style|textarea)/im;
/** Not indented, no item of a list, no quote: nothing above it can go on here. */
const newBlock = /^[^\s>*+\-\d]/;
const definition = /^ {0,3}\[(?!\^)[^\]]+\]:\s*\S.*$/gm;

/** A long text in pieces that can be parsed apart: each ends with a blank line outside code, and knows every link definition. */
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

/** The fence that is open after a line; empty: none. */
function afterFence(line: string, open: string): string {
	const mark = fence.exec(line)?.[1] ?? '';
	if (open === '') return mark;
	const closes = mark.startsWith(open) && line.slice(mark.length).trim() === '';
	return closes ? '' : open;
}
