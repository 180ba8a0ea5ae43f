import { findRuledPhrase } from './earlierHeader';

/** An introduction such as `On Monday, Ann <ann@example.com> wrote:`, which programs may wrap. */
export interface Introduction {
	/** Number of lines that it takes. */
	readonly lines: number;
	/** What the sender wrote before it on its first line. */
	readonly before: string;
}

/** A longer introduction counts as text. */
const maxCharacters = 500;
const maxLines = 4;
/** Limit if the introduction's opening is known: some programs put each bracket around an address on a line of its own. */
const maxOpenedLines = 6;

const time = /\p{Nd}\p{Nd}?[:.h]\p{Nd}\p{Nd}/u;
const dateOrTime = /\p{Nd}\p{Nd}?[:.h]\p{Nd}\p{Nd}|\p{Nd}{4}|\p{Nd}\p{Nd}?[./]\p{Nd}/u;
const address = /@[\w-]+\.\w/;
const bracketed = /[<([]\s*(?:mailto:)?[^\s<>()@]{1,100}@[\w-]+\.[\w.-]{1,100}\s*[>)\]]/g;
const writing =
	/(?<!\p{L})(?:wrote|sent(?=\s?[:：])|schrieb|geschrieben|geschreven|écrit|escri|escrev|scritto|schreef|skrev|skrifaði|kirjoitti|kirjutas|napisa|napísal|napsal|pisze|írta|scris|yazdı|rašė|rakstīja|написа|пишет|пише|писал|έγραψε|viết|menulis|missatge de)|כתב|كتب|كتابة|نوشت|เขียน|लिखा|写道|寫道|のメール|書きました|작성|쓴 글/iu;
const firstPerson =
	/(?<!\p{L})(?:I|we|to (?:me|us)|ich|mir|wir|uns|je|j’ai|j'ai|nous|yo|nos|eu|ik|mij|wij|ons|jag|vi|oss|jeg|я|мне|мы|нам)(?!\p{L})/iu;
const opening =
	/(?<!\S)(?:On|Am|Le|El|Il|Op|Den|Em|Dne|Dnia|Dňa|Pe|În|På|La|Pada|Vào|W dniu|Στις|На|At|(?<!> )在)\s/gu;
/** Between such a word and the first figure of the date stands the name of a day. */
const beforeDate = /^[^@<\p{Nd}]{0,40}\p{Nd}/u;

/** The place where an introduction opens; what stands before it is the sender's. -1 for none. */
function findOpening(line: string, isIntroduction: (text: string) => boolean): number {
	const places = Array.from(line.slice(-maxCharacters).matchAll(opening), ({ index }) => index);
	const offset = Math.max(0, line.length - maxCharacters);
	const at = places.findLast((place) => {
		const text = line.slice(offset + place);
		return beforeDate.test(text.slice(text.indexOf(' '))) && isIntroduction(text);
	});
	return at === undefined ? -1 : offset + at;
}

/** Finds the introduction that ends with the last line. @param lines trimmed, without blank ones @param isMarked whether a `>` follows */
export function findIntroduction(lines: readonly string[], isMarked: boolean): Introduction | undefined {
	if (!/[:：]$/.test(lines.at(-1) ?? '')) return undefined;
	const all = lines.join(' ');
	if (!address.test(all) && !writing.test(all)) return undefined;
	const isIntroduction = isMarked ? introducesQuote : introducesText;
	for (let count = 1; count <= Math.min(maxOpenedLines, lines.length); count++) {
		const [first = '', ...rest] = lines.slice(-count);
		const tail = ['', ...rest].join(' ');
		const at = findOpening(first, (text) => isIntroduction(text + tail));
		if (at >= 0) return { lines: count, before: first.slice(0, at) };
		if (count > 1 && endsSentence(first)) break;
		if (count > maxLines || !isIntroduction((first + tail).slice(-maxCharacters))) continue;
		return includeOpening(lines, count);
	}
	return isMarked && address.test(lines.at(-1) ?? '') ? { lines: 1, before: '' } : undefined;
}

/** Includes the lines above that begin the introduction, because its date may be wrapped, too. */
function includeOpening(lines: readonly string[], count: number): Introduction {
	for (let more = count + 1; more <= Math.min(count + 2, maxOpenedLines); more++) {
		const line = lines.at(-more) ?? '';
		const at = endsSentence(line) ? -1 : findOpening(line, () => true);
		if (at >= 0) return { lines: more, before: line.slice(0, at) };
	}
	const [above, rest] = [(lines.at(-count - 1) ?? '').slice(-maxCharacters), lines.slice(-count).join(' ')];
	const hasDate = dateOrTime.test(rest);
	// The date, or the address before it, may stand above the rest.
	const half = hasDate ? /@[^>)\]]*[>)\]].*\p{Nd}{4}/u : /^(?=.*\p{Nd}[:.h]\p{Nd}\p{Nd}).*\p{Nd}{4}/u;
	const lacksHalf = !endsSentence(above) && half.test(above) && !(hasDate && address.test(rest));
	return { lines: lacksHalf ? count + 1 : count, before: '' };
}

/** A date in the middle of an introduction may end a line with a dot, too. */
function endsSentence(line: string): boolean {
	return /[.!?]$/.test(line) && !(address.test(line) && /\p{Nd}\.$/u.test(line));
}

function introducesQuote(text: string): boolean {
	return dateOrTime.test(text) && (address.test(text) || writing.test(text));
}

/** Checks more than for a marked quote, because a sentence of the sender must not be taken for an introduction. */
function introducesText(text: string): boolean {
	const found = Array.from(text.matchAll(bracketed)).at(-1);
	if (found) {
		const after = text.slice(found.index + found[0].length);
		if (writing.test(after) && after.length <= 40) return true;
		if (!dateOrTime.test(text)) return false;
		return writing.test(text) || (found[0].startsWith('<') && /^[\s,]*[:：]$/.test(after));
	}
	const starts = /^(?:\p{L}+\.?,?\s)?\p{Nd}/u.test(text) || text.search(opening) === 0;
	return starts && dateOrTime.test(text) && time.test(text) && writing.test(text) && !firstPerson.test(text);
}

/** Finds an introduction with its quote on the same line. @returns what the sender wrote before it; undefined if there is none */
export function findIntroductionWithin(line: string): string | undefined {
	for (const { index, 0: end } of line.matchAll(/[>)],? ?[\p{L} ]{3,40}[:：](?=\s)/gu)) {
		const from = Math.max(0, index - maxCharacters);
		const head = line.slice(from, index + end.length);
		const at = writing.test(end) ? findOpening(head, introducesText) : -1;
		if (at >= 0) return line.slice(0, from + at);
	}
	return undefined;
}

/** Whether a line such as `---- Ann Lee wrote ----` introduces what follows. */
export function isRuledIntroduction(line: string): boolean {
	const [, sender = ''] = /^>>> (.{3,200}) >>>$/.exec(line) ?? [];
	if (dateOrTime.test(sender)) return true;
	const phrase = findRuledPhrase(line);
	if (phrase === '' || firstPerson.test(phrase)) return false;
	const isLast = phrase
		.split(' ')
		.slice(-3)
		.some((word) => writing.test(word));
	return isLast || (dateOrTime.test(phrase) && address.test(phrase));
}
