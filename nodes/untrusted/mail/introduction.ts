import { addressPattern, getRuledPhrase, timePattern } from './earlierHeader';

/** The introduction of a quote, such as `On Monday, Ann <ann@example.com> wrote:`. Programs may wrap it over several lines. */
export interface Introduction {
	readonly lineCount: number;
	/** The sender's own text in front of the introduction, on its first line. */
	readonly textBefore: string;
}

/** Whether the lines of the quote below an introduction begin with `>`. */
export type QuoteKind = 'marked' | 'unmarked';

/** Of a longer text, only so many characters at the end are searched for an introduction. */
const maxScanLength = 500;
const maxLinesWithoutOpening = 4;
/** An opening is a word such as `On`. Some programs put each bracket of the address on a separate line. */
const maxLinesWithOpening = 6;
const dateOrTimePattern = /\p{Nd}\p{Nd}?[:.h]\p{Nd}\p{Nd}|\p{Nd}{4}|\p{Nd}\p{Nd}?[./]\p{Nd}/u;
const yearPattern = /\p{Nd}{4}/u;
const addressThenYearPattern = /@[^>)\]]*[>)\]].*\p{Nd}{4}/u;
const bracketedAddressPattern =
	/[<([]\s*(?:mailto:)?[^\s<>()@]{1,100}@[\w-]+\.[\w.-]{1,100}\s*[>)\]]/g;
const wrotePattern =
	/(?<!\p{L})(?:wrote|sent(?=\s?[:：])|schrieb|geschrieben|geschreven|écrit|escri|escrev|scritto|schreef|skrev|skrifaði|kirjoitti|kirjutas|napisa|napísal|napsal|pisze|írta|scris|yazdı|rašė|rakstīja|написа|пишет|пише|писал|έγραψε|viết|menulis|missatge de)|כתב|كتب|كتابة|نوشت|เขียน|लिखा|写道|寫道|のメール|書きました|작성|쓴 글/iu;
/** Words that no program writes into an introduction. `On 5 May at 9:30 I wrote to Ann:` is a sentence of the sender. */
const firstPersonPattern =
	/(?<!\p{L})(?:I|we|to (?:me|us)|ich|mir|wir|uns|je|j’ai|j'ai|nous|yo|nos|eu|ik|mij|wij|ons|jag|vi|oss|jeg|я|мне|мы|нам)(?!\p{L})/iu;
const openingWordPattern =
	/(?<!\S)(?:On|Am|Le|El|Il|Op|Den|Em|Dne|Dnia|Dňa|Pe|În|På|La|Pada|Vào|W dniu|Στις|На|At|(?<!> )在)\s/gu;
/** What follows the opening word: the name of a day, then the first digit of the date. */
const textUpToDatePattern = /^[^@<\p{Nd}]{0,40}\p{Nd}/u;

/** @returns the last position in the line at which an introduction begins with an opening word; -1 if none begins here */
function findOpening(line: string, isIntroduction: (text: string) => boolean): number {
	const positions = Array.from(
		line.slice(-maxScanLength).matchAll(openingWordPattern),
		({ index }) => index,
	);
	const offset = Math.max(0, line.length - maxScanLength);
	const lastPosition = positions.findLast((position) => {
		const text = line.slice(offset + position);
		return textUpToDatePattern.test(text.slice(text.indexOf(' '))) && isIntroduction(text);
	});
	return lastPosition === undefined ? -1 : offset + lastPosition;
}

/** Finds the introduction that ends with the last line. @param lines trimmed lines, none of them blank */
export function findIntroduction(
	lines: readonly string[],
	quoteKind: QuoteKind,
): Introduction | undefined {
	if (!/[:：]$/.test(lines.at(-1) ?? '')) return undefined;
	const joinedLines = lines.join(' ');
	if (!addressPattern.test(joinedLines) && !wrotePattern.test(joinedLines)) return undefined;
	const isMarked = quoteKind === 'marked';
	const isIntroduction = isMarked ? looksLikeIntroduction : isClearIntroduction;
	for (let lineCount = 1; lineCount <= Math.min(maxLinesWithOpening, lines.length); lineCount++) {
		const [firstLine = '', ...laterLines] = lines.slice(-lineCount);
		const laterText = ['', ...laterLines].join(' ');
		const position = findOpening(firstLine, (text) => isIntroduction(text + laterText));
		if (position >= 0) return { lineCount, textBefore: firstLine.slice(0, position) };
		if (lineCount > 1 && endsSentence(firstLine)) break;
		if (
			lineCount <= maxLinesWithoutOpening &&
			isIntroduction((firstLine + laterText).slice(-maxScanLength))
		)
			return includeLinesAbove(lines, lineCount);
	}
	// Above a marked quote, an address on the last line is enough.
	return isMarked && addressPattern.test(lines.at(-1) ?? '')
		? { lineCount: 1, textBefore: '' }
		: undefined;
}

/** Adds lines above that belong to the introduction, because programs also wrap a date. @param lineCount number of lines found so far */
function includeLinesAbove(lines: readonly string[], lineCount: number): Introduction {
	for (
		let count = lineCount + 1;
		count <= Math.min(lineCount + 2, maxLinesWithOpening);
		count++
	) {
		const line = lines.at(-count) ?? '';
		const position = endsSentence(line) ? -1 : findOpening(line, () => true);
		if (position >= 0) return { lineCount: count, textBefore: line.slice(0, position) };
	}
	const lineAbove = (lines.at(-lineCount - 1) ?? '').slice(-maxScanLength);
	const text = lines.slice(-lineCount).join(' ');
	const hasDate = dateOrTimePattern.test(text);
	const isComplete = hasDate && addressPattern.test(text);
	// `at 9:30 wrote:` may lack `Ann <ann@example.com>, 5 May 2026`. `Ann <ann@example.com> wrote:` may lack `5 May 2026 at 9:30`.
	const missingPatterns = hasDate ? [addressThenYearPattern] : [timePattern, yearPattern];
	const isOtherHalf =
		!endsSentence(lineAbove) && missingPatterns.every((pattern) => pattern.test(lineAbove));
	return { lineCount: isOtherHalf && !isComplete ? lineCount + 1 : lineCount, textBefore: '' };
}

/** Whether a line ends a sentence. In a line with an address, a dot after a number may belong to a date. */
const endsSentence = (line: string) =>
	/[.!?]$/.test(line) && !(addressPattern.test(line) && /\p{Nd}\.$/u.test(line));

/** The lenient test, for a quote with marks below. */
const looksLikeIntroduction = (text: string) =>
	dateOrTimePattern.test(text) && (addressPattern.test(text) || wrotePattern.test(text));

/** The strict test, for text without marks below: a sentence that the sender wrote could look like an introduction. */
function isClearIntroduction(text: string): boolean {
	const lastAddress = Array.from(text.matchAll(bracketedAddressPattern)).at(-1);
	if (lastAddress) {
		const textAfter = text.slice(lastAddress.index + lastAddress[0].length);
		if (wrotePattern.test(textAfter) && textAfter.length <= 40) return true;
		if (!dateOrTimePattern.test(text)) return false;
		return (
			wrotePattern.test(text) ||
			(lastAddress[0].startsWith('<') && /^[\s,]*[:：]$/.test(textAfter))
		);
	}
	const hasOpening =
		/^(?:\p{L}+\.?,?\s)?\p{Nd}/u.test(text) || text.search(openingWordPattern) === 0;
	if (!hasOpening || firstPersonPattern.test(text)) return false;
	return dateOrTimePattern.test(text) && timePattern.test(text) && wrotePattern.test(text);
}

/** Finds an introduction with its quote on the same line. */
export function findInlineIntroduction(line: string): Introduction | undefined {
	for (const { index, 0: ending } of line.matchAll(/[>)],? ?[\p{L} ]{3,40}[:：](?=\s)/gu)) {
		const start = Math.max(0, index - maxScanLength);
		const head = line.slice(start, index + ending.length);
		const position = wrotePattern.test(ending) ? findOpening(head, isClearIntroduction) : -1;
		if (position >= 0) return { lineCount: 1, textBefore: line.slice(0, start + position) };
	}
	return undefined;
}

/** Whether a line such as `---- Ann Lee wrote ----`, or `>>> … >>>` with a date or time, introduces an earlier message. */
export function isRuledIntroduction(line: string): boolean {
	const [, sender = ''] = /^>>> (.{3,200}) >>>$/.exec(line) ?? [];
	if (dateOrTimePattern.test(sender)) return true;
	const phrase = getRuledPhrase(line);
	if (phrase === '' || firstPersonPattern.test(phrase)) return false;
	const lastWords = phrase.split(' ').slice(-3);
	if (lastWords.some((word) => wrotePattern.test(word))) return true;
	return dateOrTimePattern.test(phrase) && addressPattern.test(phrase);
}
