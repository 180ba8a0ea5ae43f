import { HeaderFinder, rulerPattern } from './earlierHeader';
import { findInlineIntroduction, findIntroduction, isRuledIntroduction } from './introduction';
import type { QuoteKind } from './introduction';

/** At most this many lines above a quote, or at its beginning, are searched for the introduction. */
const maxCheckedLines = 7;
/** At most this many blank lines are between an introduction and its quote. */
const maxBlankLines = 10;
/** Only so many characters at the end of a line are searched for the beginning of a wrapped address. */
const maxAddressStartCharacters = 300;
/** Longest line that may be the end of a wrapped address, such as `> wrote:`. */
const maxAddressEndCharacters = 60;
/** A line such as `Sent from my iPhone <https://…>` is shorter than this. */
const sentFromCharacterLimit = 300;
const maxSignatureLines = 20;

/** Labels such as `[External]` that organizations put before a subject. */
const subjectLabelsSource = String.raw`^\s*(?:\[[^\]]{1,40}\]\s*)*`;
const replySubjectPattern = new RegExp(
	`${subjectLabelsSource}(?:re|aw|sv|antw|odp|vá|ynt|res|rif|απ|на|回复|回覆|答复|回信|답장|رد|תשובה)(?:\\[\\d+\\])?\\s*[:：]`,
	'iu',
);
const forwardSubjectPattern = new RegExp(
	`${subjectLabelsSource}(?:fwd?|wg|tr|rv|enc|vs|vl|vb|pd|i|doorst|(?:i̇?|İ)lt|πρθ|пер|пересл|转发|轉寄|轉發|転送|전달|הועבר)\\s*[:：]`,
	'iu',
);

/** Unicode characters for the direction of writing, which programs put around addresses. */
const directionMarkPattern = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const devicePattern =
	/iphone|ipad|ipod|android|\bios\b|outlook|samsung|galaxy|blackberry|huawei|xiaomi|pixel|yahoo|gmail|proton|superhuman|nokia|lumia|motorola|verizon|windows|handy|mobil|phone|telefon|tablet|téléphone|móvil|celular|手机|手機/i;
const sentFromPattern =
	/^(?:sent (?:from|via|with|using)|get outlook for|von mein|gesendet (?:von|mit|über)|outlook für|envoyé (?:de|à partir|avec)|télécharg\S+ outlook|enviad[oa] (?:desde|do|de|a partir)|obtene?r? o? ?outlook|inviato da|scarica outlook|verzonden (?:vanaf|met)|verstuurd vanaf|outlook voor|skickat från|hämta outlook|sendt fra|hent outlook|lähetetty|wysłan[eo] z|pobierz \S*\s?outlook|odesláno z|отправлено (?:с|из)|надіслано з|στάλθηκε από|trimis de pe|发自我的|從我的|나의 |내 )|(?:から送信|gönderildi|gönderilmiştir)$/i;

export interface ReplyContext {
	readonly subject: string;
	/** Whether the email has a header that names an earlier message, such as In-Reply-To. */
	readonly hasReplyHeader: boolean;
}

/** Removes quoted earlier messages and a signature. Keeps forwarded messages. @returns the new text; the whole text if it has no new text */
export function keepNewText(text: string, { subject, hasReplyHeader }: ReplyContext): string {
	const isForward = forwardSubjectPattern.test(subject);
	const isReply = !isForward && (hasReplyHeader || replySubjectPattern.test(subject));
	return new NewTextReader(text, { isForward, isReply }).read().trim() || text;
}

type EmailKind = Readonly<Record<'isForward' | 'isReply', boolean>>;

class NewTextReader {
	readonly #rawLines: readonly string[];
	/** The lines without direction marks and without spaces at both ends. */
	readonly #lines: readonly string[];
	readonly #headers: HeaderFinder;
	readonly #kind: EmailKind;
	/** Indexes of the lines that the sender wrote. Below, an `index` counts in all lines, and a `position` in a list of indexes. */
	readonly #ownIndexes: number[] = [];
	/** By line index: 1 for a line of a loose quote, which is a quote without an introduction; 0 for any other line. */
	readonly #looseQuoteFlags: Uint8Array;
	/** By line index: the sender's text in front of an introduction on the same line. */
	readonly #textsBefore = new Map<number, string>();
	/** Whether an earlier message was found. The new text leaves it out. */
	#hasEarlierMessage = false;

	constructor(text: string, kind: EmailKind) {
		this.#rawLines = text.split('\n');
		this.#lines = this.#rawLines.map((line) => cleanLine(line));
		this.#looseQuoteFlags = new Uint8Array(this.#rawLines.length);
		this.#headers = new HeaderFinder(this.#lines);
		this.#kind = kind;
	}

	read(): string {
		const end = this.#collectOwnIndexes();
		// In an email that is no reply, or above an earlier message, the sender made the loose quotes on purpose, so they stay.
		const keepsLooseQuotes =
			this.#kind.isForward || !this.#kind.isReply || this.#hasEarlierMessage;
		const indexes = this.#ownIndexes.filter(
			(index) => keepsLooseQuotes || !this.#looseQuoteFlags[index],
		);
		const forwardedLines = this.#rawLines.slice(end);
		// A forward in which no forwarded message was found keeps its signature, because that message may follow the signature.
		const keepsSignature = this.#kind.isForward && forwardedLines.length === 0;
		const keptIndexes = keepsSignature
			? indexes
			: indexes.slice(0, this.#findSignature(indexes));
		const separator = keptIndexes.length < indexes.length ? [''] : [];
		const keptLines = keptIndexes.map(
			(index) => this.#textsBefore.get(index) ?? this.#rawLines[index] ?? '',
		);
		return [keptLines, separator, forwardedLines].flat().join('\n');
	}

	/** Collects the sender's lines. @returns the index of the line on which a forwarded message begins; the number of lines if none begins */
	#collectOwnIndexes(): number {
		const headers = this.#headers;
		let index = 0;
		while (index < this.#rawLines.length) {
			if (this.#lines[index] === '') {
				this.#ownIndexes.push(index++);
				continue;
			}
			const isMarked = this.#isMarked(index);
			if (isMarked && this.#cutMarkedIntroduction(index)) {
				index = this.#findQuoteEnd(index);
				continue;
			}
			if (
				headers.startsForward(index) ||
				(!this.#kind.isReply && headers.startsHeader(index))
			)
				return index;
			if (!this.#kind.isForward && this.#startsEarlierMessage(index)) {
				this.#hasEarlierMessage = true;
				this.#dropRuler();
				break;
			}
			if (isMarked) index = this.#keepOrDropQuote(index);
			else {
				this.#ownIndexes.push(index);
				if (!this.#kind.isForward && this.#cutUnmarkedIntroduction(index)) break;
				index++;
			}
		}
		return this.#rawLines.length;
	}

	#isMarked(index: number): boolean {
		return this.#rawLines[index]?.startsWith('>') === true && !this.#endsAddress(index);
	}

	/** Whether the `>` ends an address such as `<ann@example.com>` that was wrapped, and so marks no quote. */
	#endsAddress(index: number): boolean {
		const line = this.#lines[index] ?? '';
		const isEnd =
			line.length <= maxAddressEndCharacters &&
			/^>[\s,.]*(?:[\p{L}(). ]*[:：])?$/u.test(line);
		if (!isEnd) return false;
		const linesAbove = this.#lines.slice(Math.max(0, index - 3), index);
		const adjacentLines = linesAbove.slice(linesAbove.lastIndexOf('') + 1);
		const textAbove = adjacentLines
			.map((text) => text.slice(-maxAddressStartCharacters))
			.join(' ');
		return textAbove.includes('@') && textAbove.split('<').length > textAbove.split('>').length;
	}

	/** Finds the line after a quote. A quote may contain single blank lines. */
	#findQuoteEnd(start: number): number {
		const isInnerBlank = (index: number) =>
			this.#lines[index] === '' && this.#isMarked(index + 1);
		let index = start;
		while (this.#isMarked(index) || (index > start && isInnerBlank(index))) index++;
		return index;
	}

	/** Keeps a quote without an introduction above it, or drops it as an earlier message. @returns the index of the line after the quote */
	#keepOrDropQuote(start: number): number {
		const end = this.#findQuoteEnd(start);
		const quoteLines = this.#lines.slice(start, end);
		const firstLines = quoteLines
			.slice(0, maxCheckedLines)
			.map((line) => line.replace(/^>\s*/, ''));
		const filledLines = firstLines.slice(firstLines.findIndex((text) => text !== ''));
		// The introduction may itself be quoted. Then it ends with one of the first lines.
		const findUpTo = (index: number) =>
			findIntroduction(filledLines.slice(0, index + 1), 'marked');
		if (!this.#kind.isForward && filledLines.slice(0, -1).some((_, index) => findUpTo(index))) {
			this.#hasEarlierMessage = true;
			return end;
		}
		// Programs quote the earlier message with a single `>`. Lines that all begin with `>>` are commands, as after Python's prompt `>>>`,
		// or an older quote that the sender shows on purpose.
		const quotesEarlierMessage = !quoteLines.every(
			(line) => line.startsWith('>>') || line === '',
		);
		if (this.#hasEarlierMessage && quotesEarlierMessage) return end;
		if (quotesEarlierMessage) this.#looseQuoteFlags.fill(1, start, end);
		for (let index = start; index < end; index++) this.#ownIndexes.push(index);
		return end;
	}

	/** Whether an earlier message begins on this line, with its header or with its sender's name between dashes. */
	#startsEarlierMessage(index: number): boolean {
		if (this.#headers.startsOriginal(index)) return true;
		if (!this.#kind.isReply) return false;
		return this.#headers.startsHeader(index) || isRuledIntroduction(this.#lines[index] ?? '');
	}

	/** Drops the last blank lines and the line that some programs draw above the header of an earlier message. */
	#dropRuler(): void {
		const isOwn = (line: string) => line !== '' && !rulerPattern.test(line);
		this.#ownIndexes.length =
			this.#ownIndexes.findLastIndex((index) => isOwn(this.#lines[index] ?? '')) + 1;
	}

	/** Cuts off the introduction above a quote whose lines are marked with `>`. @returns whether there was an introduction */
	#cutMarkedIntroduction(quoteIndex: number): boolean {
		if (this.#kind.isForward) return false;
		// The introduction ends with the last line that is not blank, unless this line is too far above.
		const minIndex = quoteIndex - maxBlankLines;
		const end =
			this.#ownIndexes.findLastIndex(
				(index) => this.#lines[index] !== '' || index < minIndex,
			) + 1;
		return (
			(this.#ownIndexes[end - 1] ?? -1) >= minIndex - 1 &&
			this.#cutIntroduction(end, 'marked')
		);
	}

	/** Cuts off an introduction that ends on this line, above text without marks. @returns whether there was an introduction */
	#cutUnmarkedIntroduction(index: number): boolean {
		const line = this.#lines[index] ?? '';
		if (/[:：]$/.test(line)) {
			let nextIndex = index + 1;
			while (nextIndex < index + 1 + maxBlankLines && this.#lines[nextIndex] === '')
				nextIndex++;
			// `#cutMarkedIntroduction` cuts off an introduction above a marked quote, once the quote is reached.
			if (this.#isMarked(nextIndex)) return false;
			if (this.#cutIntroduction(this.#ownIndexes.length, 'unmarked')) return true;
		}
		const introduction = findInlineIntroduction(line);
		if (!introduction) return false;
		this.#dropFrom(this.#ownIndexes.length - 1, introduction.textBefore);
		return true;
	}

	/** Cuts off the introduction that ends before the position `end` of the sender's lines. @returns whether there was an introduction */
	#cutIntroduction(end: number, quoteKind: QuoteKind): boolean {
		const lines: string[] = [];
		for (let position = end - 1; position >= 0 && lines.length < maxCheckedLines; position--) {
			const index = this.#ownIndexes[position] ?? 0;
			const line = this.#lines[index] ?? '';
			const isAdjacent = index + lines.length === this.#ownIndexes[end - 1];
			if (this.#looseQuoteFlags[index] === 1 || line === '' || !isAdjacent) break;
			lines.unshift(line);
		}
		const isLikely =
			quoteKind === 'marked' ||
			this.#kind.isReply ||
			lines.some((line) => line.includes('@'));
		const introduction = isLikely ? findIntroduction(lines, quoteKind) : undefined;
		if (!introduction) return false;
		this.#dropFrom(end - introduction.lineCount, introduction.textBefore);
		return true;
	}

	/** Drops the sender's lines from a position on. Keeps the text in front of the introduction that begins on the first of them. */
	#dropFrom(position: number, textBefore: string): void {
		this.#textsBefore.set(this.#ownIndexes[position] ?? 0, textBefore.trimEnd());
		this.#ownIndexes.length = textBefore.trim() === '' ? position : position + 1;
		this.#hasEarlierMessage = true;
	}

	/** @returns the position at which a final signature or `Sent from my iPhone` begins; the number of indexes if there is neither */
	#findSignature(indexes: readonly number[]): number {
		let end = this.#findSentFromLine(indexes, indexes.length);
		let lineCount = 0;
		for (let position = end - 1; position >= 0 && lineCount <= maxSignatureLines; position--) {
			const index = indexes[position] ?? 0;
			if (this.#looseQuoteFlags[index] === 1 || this.#headers.startsHeader(index)) break;
			if (/^-- ?$/.test(this.#rawLines[index] ?? '')) {
				end = position;
				lineCount = 0;
			} else if (this.#lines[index] !== '') lineCount++;
		}
		return this.#findSentFromLine(indexes, end);
	}

	/** @returns the position of a last line such as `Sent from my iPhone`; `end` if the last line is another one */
	#findSentFromLine(indexes: readonly number[], end: number): number {
		const position = indexes.findLastIndex(
			(index, current) => current < end && this.#lines[index] !== '',
		);
		const line = this.#lines[indexes[position] ?? -1] ?? '';
		if (line.length >= sentFromCharacterLimit) return end;
		const words = line.replace(/\s*[[<]http[^\s\]>]*[\]>]$/, '');
		const isPhrase = /^[^,!?]{1,70}$/.test(words);
		return isPhrase && sentFromPattern.test(words) && devicePattern.test(words)
			? position
			: end;
	}
}

const cleanLine = (line: string) =>
	/^[ -~]*$/.test(line)
		? line.trim()
		: line.replaceAll(directionMarkPattern, '').normalize().trim();
