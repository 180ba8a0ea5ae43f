import { maxBlankLines, startsForward, startsHeader, startsOriginal } from './earlierHeader';
import * as introductions from './introduction';
import words from './replyWords.json';

const maxSignatureLines = 20;
/** Labels such as `[External]` that organizations put before a subject, and a word such as `Re`. */
const subjectPattern = (prefixes: readonly string[]) =>
	new RegExp(
		`^\\s*(?:\\[[^\\]]{1,40}\\]\\s*)*(?:${prefixes.join('|')})(?:\\[\\d+\\])?\\s*[:：]`,
		'iu',
	);
const replyPattern = subjectPattern(words.replySubjects);
const forwardPattern = subjectPattern(words.forwardSubjects);
/** Unicode characters for the direction of writing, which programs put around addresses. */
const directionMarkPattern = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export interface ReplyContext {
	readonly subject: string;
	/** Whether the email has a header that names an earlier message, such as In-Reply-To. */
	readonly hasReplyHeader: boolean;
}

/**
 * Removes quoted earlier messages and a signature. Keeps forwarded messages.
 * @returns the new text; the whole text if it has no new text
 */
export function keepNewText(text: string, { subject, hasReplyHeader }: ReplyContext): string {
	if (forwardPattern.test(subject)) return text;
	const isReply = hasReplyHeader || replyPattern.test(subject);
	return new MailLines(text, isReply).keepNewText() || text;
}

class MailLines {
	/** What is kept of each line; undefined for a line that is dropped. */
	readonly #kept: Array<string | undefined>;
	/** The lines without direction marks and without spaces at both ends. */
	readonly #lines: readonly string[];
	readonly #isReply: boolean;
	#hasDropped = false;

	constructor(text: string, isReply: boolean) {
		this.#kept = text.trim().split('\n');
		this.#lines = this.#kept.map((line = '') =>
			line.replaceAll(directionMarkPattern, '').trim(),
		);
		this.#isReply = isReply;
	}

	keepNewText(): string {
		let index = 0;
		while (index < this.#lines.length && !this.#isForward(index)) index = this.#readLine(index);
		const ownLines = this.#kept.slice(0, index).filter((line) => line !== undefined);
		const ownText = dropSignature(ownLines).join('\n').trimEnd();
		// A forwarded message is kept to its end.
		const forwardedText = this.#kept.slice(index).join('\n');
		return `${ownText}\n\n${forwardedText}`.trim();
	}

	#isForward(index: number): boolean {
		const isHeader = !this.#isReply && startsHeader(this.#lines, index);
		return isHeader || startsForward(this.#lines, index);
	}

	/**
	 * Reads a line, or the quote or earlier message that begins with it.
	 * @returns the index of the next line
	 */
	#readLine(index: number): number {
		if (this.#startsEarlierMessage(index)) return this.#dropFrom(index);
		const end = this.#findQuoteEnd(index);
		if (end > index) {
			const isAnswer = this.#isReply || this.#hasDropped;
			const isEarlier = isAnswer && !this.#isDoublyMarked(index, end);
			return isEarlier ? this.#drop(index, end) : end;
		}
		let next = index + 1;
		while (this.#lines[next] === '' && next <= index + maxBlankLines) next++;
		const line = this.#lines[index] ?? '';
		const endsWithColon = /[:：]$/.test(line);
		const isMarked = endsWithColon && this.#isMarked(next);
		if (isMarked ? this.#isForward(next) : !this.#isReply) return index + 1;
		const introduction = endsWithColon
			? this.#findIntroduction(index, isMarked)
			: introductions.findInlineIntroduction(line);
		const quoteEnd = this.#findQuoteEnd(next);
		if (!introduction) {
			// A quote between two own texts, of which the first ends with a colon, is new text,
			// unless somebody else wrote it.
			const isOwnQuote =
				isMarked && quoteEnd < this.#lines.length && !introductions.namesWriter(line);
			return isOwnQuote ? quoteEnd : index + 1;
		}
		this.#drop(index + 1 - introduction.lineCount, next, introduction.textBefore);
		return isMarked ? this.#drop(next, quoteEnd) : this.#dropFrom(index + 1);
	}

	#findQuoteEnd(start: number): number {
		let end = start;
		while (this.#isMarked(end)) end++;
		return end;
	}

	#findIntroduction(index: number, isMarked: boolean) {
		const end = index + 1;
		let start = end;
		while (
			start > end - introductions.maxIntroductionLines &&
			this.#mayBeIntroduction(start - 1)
		)
			start--;
		return introductions.findIntroduction(this.#lines.slice(start, end), isMarked);
	}

	#isMarked(index: number): boolean {
		if (!this.#kept[index]?.startsWith('>')) return false;
		// The `>` may end an address such as `<ann@example.com>` that was wrapped.
		const mayEndAddress = /^>[\s,.]*(?:[\p{L}(). ]{0,60}[:：])?$/u;
		if (!mayEndAddress.test(this.#lines[index] ?? '')) return true;
		return !/<[^>]{0,200}$/.test(this.#lines.slice(Math.max(0, index - 3), index).join(' '));
	}

	#startsEarlierMessage(index: number): boolean {
		const line = this.#lines[index] ?? '';
		if (this.#isReply && introductions.isRuledIntroduction(line)) return true;
		return startsOriginal(line) || startsHeader(this.#lines, index);
	}

	#mayBeIntroduction(index: number): boolean {
		if (!this.#kept[index]?.trim()) return false;
		// Some programs put each bracket of an address on a separate line.
		return this.#lines[index] === '>' || !this.#isMarked(index);
	}

	/**
	 * Whether all lines begin with `>>`, as commands after Python's prompt `>>>`, or an older quote
	 * that the sender shows.
	 */
	#isDoublyMarked(start: number, end: number): boolean {
		return this.#lines.slice(start, end).every((line) => /^(?:>\s*>|>?$)/.test(line));
	}

	/**
	 * Drops an earlier message, and the line that some programs draw above it.
	 * @returns the number of lines
	 */
	#dropFrom(index: number): number {
		let start = index;
		while (start > 0 && /^[-_=‐‑–—]*$/.test(this.#lines[start - 1] ?? '')) start--;
		return this.#drop(start, this.#lines.length);
	}

	/**
	 * Drops lines of an earlier message. Keeps the sender's text in front of them.
	 * @returns `end`
	 */
	#drop(start: number, end: number, textBefore = ''): number {
		this.#hasDropped = true;
		this.#kept.fill(undefined, start, end);
		if (textBefore.trim() !== '') this.#kept[start] = textBefore.trimEnd();
		return end;
	}
}

/** Drops a signature and a last line such as `Sent from my iPhone`. */
function dropSignature(lines: readonly string[]): readonly string[] {
	const last = lines.findLastIndex((line) => line.trim() !== '');
	const ownLines = isSentFrom(lines[last] ?? '') ? lines.slice(0, last) : lines;
	const start = ownLines.findLastIndex((line) => /^-- ?$/.test(line));
	const signature = ownLines.slice(start).filter((line) => line.trim() !== '');
	const isSignature = start >= 0 && signature.length <= maxSignatureLines + 1;
	return isSignature ? ownLines.slice(0, start) : ownLines;
}

function isSentFrom(line: string): boolean {
	const phrase = line.trim().toLowerCase();
	if (!/^[^,!?]{1,70}$/.test(phrase)) return false;
	const isSent =
		words.sentFrom.some((beginning) => phrase.startsWith(beginning)) ||
		words.sentFromEndings.some((ending) => phrase.endsWith(ending));
	return isSent && words.devices.some((device) => phrase.includes(device));
}
