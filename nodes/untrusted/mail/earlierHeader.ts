import words from './replyWords.json';

export const addressPattern = /@[\w-]+\.\w/;
/** A text between dashes, such as `--- Original Message ---`, or between `>>>`. */
const ruledPhrasePattern =
	/^(?:[-_=‐‑–—]{2,}|>>>)\s*([^\s\-_=‐‑–—>].{0,150}?)\s*(?:[-_=‐‑–—]{2,}:?|>>>)$/;
const labelPattern = /^[*_]{0,2}(\p{L}[^:：*_]{0,24})[*_]{0,2}\s?[:：](.*)/u;
const maxHeaderLines = 9;
/** At most this many blank lines are between an introduction and its quote. */
export const maxBlankLines = 10;
const headerKinds = ['from', 'date', 'to', 'subject'] as const;

/**
 * Returns the part of a header that a line begins with; undefined for any other line. Lines are
 * trimmed here and below.
 */
function findLabel(line: string) {
	const [, label = '', value = ''] = labelPattern.exec(line) ?? [];
	const name = label.trim().toLowerCase();
	const kind = headerKinds.find((headerKind) => words.labels[headerKind].includes(name));
	const isTime = /^[\s\p{Nd}:.]*\p{Nd}$/u.test(value);
	// A line such as `From: 8:30` belongs to a timetable.
	return kind === 'from' && isTime ? undefined : kind;
}

/**
 * Returns the text between the dashes of a line such as `--- Original Message ---`, in lower case;
 * '' for any other line.
 */
export function getRuledPhrase(line: string): string {
	// With a very long line, the pattern would take long.
	const [, phrase = ''] = ruledPhrasePattern.exec(line.slice(0, 200)) ?? [];
	return phrase.toLowerCase();
}

/**
 * Whether the line announces a message that the sender forwards: between dashes, or in front of the
 * header of that message, which may be marked as a quote.
 */
export function startsForward(lines: readonly string[], index: number): boolean {
	const line = lines[index] ?? '';
	const phrase = getRuledPhrase(line) || /^.{0,100}[:：]$/.exec(line.toLowerCase())?.[0];
	if (!words.forwarding.some((word) => phrase?.includes(word))) return false;
	if (phrase !== line.toLowerCase()) return true;
	const linesBelow = lines.slice(index + 1, index + 1 + maxHeaderLines + maxBlankLines);
	const plainLines = linesBelow.map((text) => text.replace(/^>\s*/, ''));
	return startsHeader(
		plainLines,
		plainLines.findIndex((text) => text !== ''),
	);
}

/**
 * Whether the line announces the message that the sender answers, such as
 * `-----Original Message-----`.
 */
export const startsOriginal = (line: string) => words.original.includes(getRuledPhrase(line));

/**
 * Whether the line begins an email's header. A travel plan also has labels such as `From`, but
 * neither a subject nor an address.
 */
export function startsHeader(lines: readonly string[], index: number): boolean {
	if (!findLabel(lines[index] ?? '')) return false;
	const headerLines: string[] = [];
	for (const line of lines.slice(index, index + maxHeaderLines)) {
		if (!labelPattern.test(line)) break;
		headerLines.push(line);
	}
	const kinds = new Set(headerLines.map(findLabel));
	kinds.delete(undefined);
	if (kinds.size < 3) return false;
	if (kinds.has('from') && kinds.has('subject')) return true;
	return headerLines.some((line) => addressPattern.test(line));
}
