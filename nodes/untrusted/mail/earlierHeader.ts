import words from './replyWords.json';

export const addressPattern = /@[\w-]+\.\w/;
export const timePattern = /\p{Nd}[:.h]\p{Nd}\p{Nd}/u;
/** A text between dashes, such as `--- Original Message ---`, or between `>>>`. */
const ruledPhrasePattern =
	/^(?:[-_=‐‑–—]{2,}|>>>)\s*([^\s\-_=‐‑–—>].{0,150}?)\s*(?:[-_=‐‑–—]{2,}:?|>>>)$/;
const labelPattern = /^[*_]{0,2}(\p{L}[^:：*_]{0,24})[*_]{0,2}\s?[:：](.*)/u;
const maxHeaderLines = 9;
/** Most lines over which a header is wrapped. */
const maxWrappedHeaderLines = 30;
const headerKinds = ['from', 'date', 'to', 'subject'] as const;
const kindsByLabel = new Map(
	headerKinds.flatMap((kind) => words.labels[kind].map((label) => [label, kind] as const)),
);

/** Returns the part of a header that a line begins with; 'other' for another label; undefined for a line without a label. */
function findLabel(line: string) {
	const [, label, value = ''] = labelPattern.exec(line) ?? [];
	if (label === undefined) return undefined;
	const kind = kindsByLabel.get(label.trim().toLowerCase()) ?? 'other';
	// A line such as `From: 8:30` belongs to a timetable.
	return kind === 'from' && /^[\s\p{Nd}:.]*\p{Nd}$/u.test(value) ? 'other' : kind;
}

const isHeaderLine = (line: string) => (findLabel(line) ?? 'other') !== 'other';
const stripMarks = (line: string) => line.replace(/^(?:>\s?)+/, '');

/** Whether at least so many of the next four lines, which may be quoted, have a label of a header. */
const precedesHeader = (lines: readonly string[], index: number, minCount: number) =>
	lines.slice(index + 1, index + 5).filter((line) => isHeaderLine(stripMarks(line))).length >=
	minCount;

/** Returns the text between the dashes of a line such as `--- Original Message ---`; '' for any other line. */
export const getRuledPhrase = (line: string) =>
	(line.length <= 200 ? ruledPhrasePattern.exec(line)?.[1] : undefined) ?? '';

/** Whether the line announces a message that the sender forwards. Lines are trimmed here and below. */
export function startsForward(lines: readonly string[], index: number): boolean {
	const line = stripMarks(lines[index] ?? '').slice(0, 200);
	const phrase = getRuledPhrase(line);
	const announcement = (phrase || line).toLowerCase();
	if (phrase === '' && !/^.{0,100}[:：]$/.test(line)) return false;
	if (!words.forwarding.some((word) => announcement.includes(word))) return false;
	return phrase !== '' || precedesHeader(lines, index, 1);
}

/** Whether the line announces the message that the sender answers, such as `-----Original Message-----`. */
export function startsOriginal(lines: readonly string[], index: number): boolean {
	const phrase = getRuledPhrase(lines[index] ?? '').toLowerCase();
	return words.original.includes(phrase) || (phrase !== '' && precedesHeader(lines, index, 2));
}

/** Whether the line begins an email's header. A travel plan also has labels such as `From`, but neither a subject nor an address. */
export function startsHeader(lines: readonly string[], index: number): boolean {
	if (!isHeaderLine(lines[index] ?? '')) return false;
	const header = collectHeaderLines(lines, index);
	const kinds = new Set(header.map((line) => findLabel(line)));
	kinds.delete('other');
	const hasAddress = addressPattern.test(header.join('\n'));
	if (kinds.size >= 3) return hasAddress || (kinds.has('from') && kinds.has('subject'));
	const isBelowRuler = lines.slice(Math.max(0, index - 2), index).some(isRuler);
	return kinds.size === 2 && hasAddress && (isBelowRuler || timePattern.test(header.join('\n')));
}

/** Whether the line has nothing but dashes. */
export const isRuler = (line: string) => /^[-_=‐‑–—]{5,}$/.test(line);

/** Collects the labeled lines of the header that begins at `start`. */
function collectHeaderLines(lines: readonly string[], start: number): string[] {
	const header: string[] = [];
	for (const [offset, line] of lines.slice(start, start + maxWrappedHeaderLines).entries()) {
		// A header from HTML may have blank lines, because each of its lines was a paragraph.
		const isGap = line === '' && isHeaderLine(lines[start + offset + 1] ?? '');
		if (findLabel(line)) header.push(line);
		// A list of recipients may be wrapped.
		else if (!isGap && !addressPattern.test(line)) break;
	}
	return header.slice(0, maxHeaderLines);
}
