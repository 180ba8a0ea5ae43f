import { addressPattern, getRuledPhrase } from './earlierHeader';
import words from './replyWords.json';

/**
 * The introduction of a quote, such as `On Monday, Ann <ann@example.com> wrote:`. Programs may wrap
 * it over several lines.
 */
export interface Introduction {
	readonly lineCount: number;
	/** The sender's own text in front of the introduction, on its first line. */
	readonly textBefore: string;
}

/** Some programs put each bracket of the address on a separate line. */
export const maxIntroductionLines = 6;
/** Of a longer line, only so many characters at the end are searched for an introduction. */
const maxCharacters = 500;
const timePattern = /\p{Nd}[:.h]\p{Nd}\p{Nd}/u;
const datePattern = /\p{Nd}\p{Nd}?[:.h]\p{Nd}\p{Nd}|\p{Nd}{4}|\p{Nd}\p{Nd}?[./]\p{Nd}/u;
const bracketedAddressPattern =
	/[<([]\s*(?:mailto:)?[^\s<>()@]{1,100}@[\w-]+\.[\w.-]{1,100}\s*[>)\]]/;
const wordPattern = (stems: readonly string[], end = '') =>
	new RegExp(`(?<!\\p{L})(?:${stems.join('|')})${end}`, 'iu');
const wrotePattern = wordPattern(words.wrote);
/**
 * Words that no program writes into an introduction. `On 5 May at 9:30 I wrote to Ann:` is a
 * sentence of the sender.
 */
const firstPersonPattern = wordPattern(words.firstPerson, '(?!\\p{L})');
/** A word such as `On`, the name of a day, and the first digit of the date. */
const openingPattern = new RegExp(
	`(?<!\\S)(?:${words.openings.join('|')})\\s(?=[^@<\\p{Nd}]{0,40}\\p{Nd})`,
	'gu',
);

/** @returns the last position at which an opening word stands; -1 without one */
const findOpening = (text: string) => Array.from(text.matchAll(openingPattern)).at(-1)?.index ?? -1;

/**
 * Finds the introduction that ends with the last of the trimmed lines, which ends with a colon.
 * @param isMarked whether the lines of the quote begin with `>`. If they do not, a sentence of the
 * sender could look like an introduction.
 */
export function findIntroduction(
	lines: readonly string[],
	isMarked: boolean,
): Introduction | undefined {
	const lastLine = lines.at(-1) ?? '';
	const isIntroduction = isMarked ? looksLikeIntroduction : isClearIntroduction;
	let found: Introduction | undefined;
	let text = '';
	for (const [index, line] of lines.slice(-maxIntroductionLines).reverse().entries()) {
		const lineCount = index + 1;
		const lineEnd = line.slice(-maxCharacters);
		text = `${lineEnd} ${text}`.trimEnd();
		const position = findOpening(lineEnd);
		if (position >= 0 && isIntroduction(text.slice(position))) {
			const textBefore = line.slice(0, line.length - lineEnd.length + position);
			return { lineCount, textBefore };
		}
		if (isIntroduction(text)) found ??= { lineCount, textBefore: '' };
	}
	// Above a marked quote, an address is enough.
	if (isMarked && addressPattern.test(lastLine)) found ??= { lineCount: 1, textBefore: '' };
	return found;
}

/** Whether a line tells what somebody else wrote, such as `Ann Lee wrote:`. */
export const namesWriter = (line: string): boolean =>
	wrotePattern.test(line) && !firstPersonPattern.test(line);

/** Finds an introduction with its quote on the same line. */
export function findInlineIntroduction(line: string): Introduction | undefined {
	for (const { index, 0: ending } of line.matchAll(/[>)],? ?[\p{L} ]{3,40}[:：](?=\s)/gu)) {
		const head = line.slice(0, index + ending.length);
		const isLikely = wrotePattern.test(ending) && findOpening(head.slice(-maxCharacters)) >= 0;
		if (isLikely) return findIntroduction([head], false);
	}
	return undefined;
}

/**
 * Whether a line such as `---- Ann Lee wrote ----`, or `>>> … >>>` with a date, introduces an
 * earlier message.
 */
export function isRuledIntroduction(line: string): boolean {
	const phrase = getRuledPhrase(line);
	const lastWords = phrase.split(' ').slice(-3).join(' ');
	if (wrotePattern.test(lastWords)) return true;
	return datePattern.test(phrase) && addressPattern.test(phrase);
}

const looksLikeIntroduction = (text: string) =>
	datePattern.test(text) && (addressPattern.test(text) || wrotePattern.test(text));

function isClearIntroduction(text: string): boolean {
	const saysWrote = wrotePattern.test(text);
	if (bracketedAddressPattern.test(text)) {
		const endsWithAddress = />[\s,]*[:：]$/.test(text);
		return datePattern.test(text) && (saysWrote || endsWithAddress);
	}
	if (!saysWrote || !timePattern.test(text) || firstPersonPattern.test(text)) return false;
	return /^(?:\p{L}+\.?,?\s)?\p{Nd}/u.test(text) || text.search(openingPattern) === 0;
}
