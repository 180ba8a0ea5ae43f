import { address, getRuledPhrase, time } from './earlierHeader';

/** An introduction such as `On Monday, Ann <ann@example.com> wrote:`, which programs may wrap. */
export interface Introduction {
	readonly lineCount: number;
	/** The sender's own text in front of the introduction, on its first line. */
	readonly textBefore: string;
}

/** Characters that are read at the end of a longer text. */
const maxLength = 500;
const maxLines = 4;
/** Limit for an introduction with an opening word. Some programs put each bracket of its address on a separate line. */
const maxOpenedLines = 6;

const dateOrTime = /\p{Nd}\p{Nd}?[:.h]\p{Nd}\p{Nd}|\p{Nd}{4}|\p{Nd}\p{Nd}?[./]\p{Nd}/u;
const bracketedAddress = /[<([]\s*(?:mailto:)?[^\s<>()@]{1,100}@[\w-]+\.[\w.-]{1,100}\s*[>)\]]/g;
const wrote =
	/(?<!\p{L})(?:wrote|sent(?=\s?[:：])|schrieb|geschrieben|geschreven|écrit|escri|escrev|scritto|schreef|skrev|skrifaði|kirjoitti|kirjutas|napisa|napísal|napsal|pisze|írta|scris|yazdı|rašė|rakstīja|написа|пишет|пише|писал|έγραψε|viết|menulis|missatge de)|כתב|كتب|كتابة|نوشت|เขียน|लिखा|写道|寫道|のメール|書きました|작성|쓴 글/iu;
const firstPerson =
	/(?<!\p{L})(?:I|we|to (?:me|us)|ich|mir|wir|uns|je|j’ai|j'ai|nous|yo|nos|eu|ik|mij|wij|ons|jag|vi|oss|jeg|я|мне|мы|нам)(?!\p{L})/iu;
const openingWord =
	/(?<!\S)(?:On|Am|Le|El|Il|Op|Den|Em|Dne|Dnia|Dňa|Pe|În|På|La|Pada|Vào|W dniu|Στις|На|At|(?<!> )在)\s/gu;
/** What follows the opening word: the name of a day, then the first digit of the date. */
const textUpToDate = /^[^@<\p{Nd}]{0,40}\p{Nd}/u;

/** @returns the last position in the line at which an introduction begins with an opening word; -1 if none begins here */
function findOpening(line: string, isIntroduction: (text: string) => boolean): number {
	const positions = Array.from(line.slice(-maxLength).matchAll(openingWord), ({ index }) => index);
	const offset = Math.max(0, line.length - maxLength);
	const lastPosition = positions.findLast((position) => {
		const text = line.slice(offset + position);
		return textUpToDate.test(text.slice(text.indexOf(' '))) && isIntroduction(text);
	});
	return lastPosition === undefined ? -1 : offset + lastPosition;
}

/**
 * Finds the introduction that ends with the last line.
 * @param lines trimmed lines, none of them blank
 * @param isMarked whether the text after the introduction is marked with `>`
 */
export function findIntroduction(lines: readonly string[], isMarked: boolean): Introduction | undefined {
	if (!/[:：]$/.test(lines.at(-1) ?? '')) return undefined;
	const joinedLines = lines.join(' ');
	if (!address.test(joinedLines) && !wrote.test(joinedLines)) return undefined;
	const isIntroduction = isMarked ? introducesQuote : introducesText;
	for (let lineCount = 1; lineCount <= Math.min(maxOpenedLines, lines.length); lineCount++) {
		const [firstLine = '', ...laterLines] = lines.slice(-lineCount);
		const laterText = ['', ...laterLines].join(' ');
		const position = findOpening(firstLine, (text) => isIntroduction(text + laterText));
		if (position >= 0) return { lineCount, textBefore: firstLine.slice(0, position) };
		if (lineCount > 1 && endsSentence(firstLine)) break;
		if (lineCount > maxLines || !isIntroduction((firstLine + laterText).slice(-maxLength))) continue;
		return includeOpening(lines, lineCount);
	}
	// Above a marked quote, an address on the last line is enough.
	return isMarked && address.test(lines.at(-1) ?? '') ? { lineCount: 1, textBefore: '' } : undefined;
}

/** Adds the lines above that belong to the introduction, because programs also wrap a date. @param lineCount the lines found so far */
function includeOpening(lines: readonly string[], lineCount: number): Introduction {
	for (let count = lineCount + 1; count <= Math.min(lineCount + 2, maxOpenedLines); count++) {
		const line = lines.at(-count) ?? '';
		const position = endsSentence(line) ? -1 : findOpening(line, () => true);
		if (position >= 0) return { lineCount: count, textBefore: line.slice(0, position) };
	}
	const lineAbove = (lines.at(-lineCount - 1) ?? '').slice(-maxLength);
	const text = lines.slice(-lineCount).join(' ');
	const hasDate = dateOrTime.test(text);
	// The line above may hold what the text lacks: an address and then a year, or a time and a year in any order.
	const lacking = hasDate ? /@[^>)\]]*[>)\]].*\p{Nd}{4}/u : /^(?=.*\p{Nd}[:.h]\p{Nd}\p{Nd}).*\p{Nd}{4}/u;
	const isHalfAbove = !endsSentence(lineAbove) && lacking.test(lineAbove) && !(hasDate && address.test(text));
	return { lineCount: isHalfAbove ? lineCount + 1 : lineCount, textBefore: '' };
}

/** Whether a line ends a sentence. A dot after a number next to an address may belong to a date. */
function endsSentence(line: string): boolean {
	return /[.!?]$/.test(line) && !(address.test(line) && /\p{Nd}\.$/u.test(line));
}

function introducesQuote(text: string): boolean {
	return dateOrTime.test(text) && (address.test(text) || wrote.test(text));
}

/** Checks more than `introducesQuote`: without marks below, a sentence that the sender wrote could look like an introduction. */
function introducesText(text: string): boolean {
	const lastAddress = Array.from(text.matchAll(bracketedAddress)).at(-1);
	if (lastAddress) {
		const textAfter = text.slice(lastAddress.index + lastAddress[0].length);
		if (wrote.test(textAfter) && textAfter.length <= 40) return true;
		if (!dateOrTime.test(text)) return false;
		return wrote.test(text) || (lastAddress[0].startsWith('<') && /^[\s,]*[:：]$/.test(textAfter));
	}
	const hasStart = /^(?:\p{L}+\.?,?\s)?\p{Nd}/u.test(text) || text.search(openingWord) === 0;
	return hasStart && dateOrTime.test(text) && time.test(text) && wrote.test(text) && !firstPerson.test(text);
}

/** Looks for an introduction with its quote on the same line. @returns the text in front of the introduction; undefined if there is none */
export function findIntroductionWithin(line: string): string | undefined {
	for (const { index, 0: ending } of line.matchAll(/[>)],? ?[\p{L} ]{3,40}[:：](?=\s)/gu)) {
		const start = Math.max(0, index - maxLength);
		const head = line.slice(start, index + ending.length);
		const position = wrote.test(ending) ? findOpening(head, introducesText) : -1;
		if (position >= 0) return line.slice(0, start + position);
	}
	return undefined;
}

/** Whether a line such as `---- Ann Lee wrote ----`, or `>>> … >>>` with a date or time, introduces an earlier message. */
export function isRuledIntroduction(line: string): boolean {
	const [, sender = ''] = /^>>> (.{3,200}) >>>$/.exec(line) ?? [];
	if (dateOrTime.test(sender)) return true;
	const phrase = getRuledPhrase(line);
	if (phrase === '' || firstPerson.test(phrase)) return false;
	const lastWords = phrase.split(' ').slice(-3);
	return lastWords.some((word) => wrote.test(word)) || (dateOrTime.test(phrase) && address.test(phrase));
}
