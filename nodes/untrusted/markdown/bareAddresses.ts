import type { ParagraphPiece } from '../document/elements';

/** An address that GitHub Flavored Markdown makes a link. Its host may begin with a bracket, but with no other punctuation. */
const bareAddressPattern = /(?<![a-z])(?:https?:\/\/(?![!-/:-@\\-`{-~])|www\.)[^\s<]+/gi;
/** Characters that mdast-util-to-markdown escapes with a backslash. It escapes no underscore between two letters or digits. */
const escapedCharacterPattern = /[&*~[|`\\]|\]\(|_(?![a-z\d])|(?<![a-z\d])_/i;

/**
 * Makes links of addresses in plain text that a parser would misread: a parser takes the asterisks of `https://agent.example.com**x**`, or
 * an escaping backslash, for a part of the address. @param hasBackslashBreaks whether a line break is a backslash and a newline, as for a `break`
 */
export function linkBareAddresses(
	pieces: readonly ParagraphPiece[],
	hasBackslashBreaks: boolean,
): ParagraphPiece[] {
	const newPieces: ParagraphPiece[] = [];
	for (const [index, piece] of pieces.entries()) {
		const isPlainText = isText(piece) && !piece.marks.code && piece.marks.link === undefined;
		if (!isPlainText) newPieces.push(piece);
		else {
			const nextCharacter = getFirstMarkdownCharacter(pieces[index + 1]);
			newPieces.push(...splitAtAddresses(piece, nextCharacter, hasBackslashBreaks));
		}
	}
	return newPieces;
}

function splitAtAddresses(piece: ParagraphPiece, after: string, hasBackslashBreaks: boolean) {
	const pieces: ParagraphPiece[] = [];
	let start = 0;
	for (const { 0: match, index } of piece.text.matchAll(bareAddressPattern)) {
		const next = piece.text[index + match.length] ?? after;
		const endsAddress = next === '\v' ? !hasBackslashBreaks : next.trim() === '';
		if (endsAddress && !escapedCharacterPattern.test(match)) continue;
		const address = trimAddress(match);
		const link = /^www/i.test(address) ? `http://${address}` : address;
		pieces.push({ ...piece, text: piece.text.slice(start, index) });
		pieces.push({ text: address, marks: { ...piece.marks, link } });
		start = index + address.length;
	}
	pieces.push({ ...piece, text: piece.text.slice(start) });
	return pieces.filter(({ text }) => text !== '');
}

/** Returns the first character of a piece's text. For code, images and footnotes, returns a backtick, which stands for their markup. */
function getFirstMarkdownCharacter(piece: ParagraphPiece | undefined): string {
	if (piece === undefined) return '';
	return isText(piece) && !piece.marks.code ? (piece.text[0] ?? '') : '`';
}

/** Cuts a match after the address. Punctuation at the end of an address does not belong to it. */
function trimAddress(match: string): string {
	const [address = ''] = match.split(/[>|]/, 1);
	const closingPunctuation = address.includes('(') ? '?!.,:;*_~"\'' : '?!.,:;*_~"\')]';
	let end = address.length;
	while (closingPunctuation.includes(address[end - 1] ?? ' ')) end--;
	return address.slice(0, end);
}

const isText = ({ imageUrl, footnoteId }: ParagraphPiece) =>
	imageUrl === undefined && footnoteId === undefined;
