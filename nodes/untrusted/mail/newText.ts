import { HeaderFinder, rulerLine } from './earlierHeader';
import { findIntroduction, findIntroductionWithin, isRuledIntroduction } from './introduction';

/** Lines above a quote that are searched for its introduction, which programs may wrap. */
const maxCheckedLines = 7;
/** Most blank lines between an introduction and its quote. */
const maxBlankLines = 10;
/** Limits for a wrapped address: characters that are read of each line above its end, and length of the line with its end. */
const maxLineLength = 300;
const maxEndLength = 60;
const maxSignatureLines = 20;

/** Labels such as `[External]` that organizations put before a subject. */
const subjectLabels = String.raw`^\s*(?:\[[^\]]{1,40}\]\s*)*`;
const subjectOfReply = new RegExp(
	`${subjectLabels}(?:re|aw|sv|antw|odp|vá|ynt|res|rif|απ|на|回复|回覆|答复|回信|답장|رد|תשובה)(?:\\[\\d+\\])?\\s*[:：]`,
	'iu',
);
const subjectOfForward = new RegExp(
	`${subjectLabels}(?:fwd?|wg|tr|rv|enc|vs|vl|vb|pd|i|doorst|(?:i̇?|İ)lt|πρθ|пер|пересл|转发|轉寄|轉發|転送|전달|הועבר)\\s*[:：]`,
	'iu',
);

/** Unicode characters for the direction of writing, which programs put around addresses. */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const device =
	/iphone|ipad|ipod|android|\bios\b|outlook|samsung|galaxy|blackberry|huawei|xiaomi|pixel|yahoo|gmail|proton|superhuman|nokia|lumia|motorola|verizon|windows|handy|mobil|phone|telefon|tablet|téléphone|móvil|celular|手机|手機/i;
const sentFrom =
	/^(?:sent (?:from|via|with|using)|get outlook for|von mein|gesendet (?:von|mit|über)|outlook für|envoyé (?:de|à partir|avec)|télécharg\S+ outlook|enviad[oa] (?:desde|do|de|a partir)|obtene?r? o? ?outlook|inviato da|scarica outlook|verzonden (?:vanaf|met)|verstuurd vanaf|outlook voor|skickat från|hämta outlook|sendt fra|hent outlook|lähetetty|wysłan[eo] z|pobierz \S*\s?outlook|odesláno z|отправлено (?:с|из)|надіслано з|στάλθηκε από|trimis de pe|发自我的|從我的|나의 |내 )|(?:から送信|gönderildi|gönderilmiştir)$/i;

export interface ReplyContext {
	readonly subject: string;
	/** Whether the email has a header that names an earlier message, such as In-Reply-To. */
	readonly hasReplyHeader: boolean;
}

/**
 * Removes quoted earlier messages with their introductions, and a signature. Keeps forwarded messages.
 * @returns the new text, or the whole text if it has no new text
 */
export function keepNewText(text: string, { subject, hasReplyHeader }: ReplyContext): string {
	const isForward = subjectOfForward.test(subject);
	const isAnswer = !isForward && (hasReplyHeader || subjectOfReply.test(subject));
	return new NewTextReader(text, isForward, isAnswer).read().trim() || text;
}

class NewTextReader {
	readonly #lines: readonly string[];
	/** The lines in the form in which they are compared: trimmed and without direction marks. */
	readonly #texts: readonly string[];
	readonly #headers: HeaderFinder;
	readonly #isForward: boolean;
	readonly #isAnswer: boolean;
	/** Indexes of the lines that the sender wrote. A `position` below counts in this list, an `index` in all lines. */
	readonly #ownLines: number[] = [];
	/** By line: 1 for a line of a quote without an introduction, 0 for any other line. */
	readonly #isLooseQuote: Uint8Array;
	/** By line index: the sender's text in front of an introduction on the same line. */
	readonly #cutLines = new Map<number, string>();
	#hasIntroduction = false;

	constructor(text: string, isForward: boolean, isAnswer: boolean) {
		this.#lines = text.split('\n');
		this.#texts = this.#lines.map((line) => toPlain(line));
		this.#isLooseQuote = new Uint8Array(this.#lines.length);
		this.#headers = new HeaderFinder(this.#texts);
		this.#isForward = isForward;
		this.#isAnswer = isAnswer;
	}

	read(): string {
		const end = this.#collectOwnLines();
		// In an email that is no reply, or above an introduction, the sender quotes on purpose, so these quotes stay.
		const keepsQuotes = this.#isForward || !this.#isAnswer || this.#hasIntroduction;
		const lines = this.#ownLines.filter((index) => keepsQuotes || this.#isLooseQuote[index] === 0);
		const forward = this.#lines.slice(end);
		// If no forwarded message was found in a forward, its signature stays, because an unrecognized message may follow the signature.
		const isWhole = this.#isForward && forward.length === 0;
		const keptLines = isWhole ? lines : lines.slice(0, this.#findSignature(lines));
		const separator = keptLines.length < lines.length ? [''] : [];
		const texts = keptLines.map((index) => this.#cutLines.get(index) ?? this.#lines[index] ?? '');
		return [texts, separator, forward].flat().join('\n');
	}

	/** @returns the index of the line on which a forwarded message begins; the number of lines if there is no such message */
	#collectOwnLines(): number {
		const headers = this.#headers;
		let index = 0;
		while (index < this.#lines.length) {
			if (this.#texts[index] === '') {
				this.#ownLines.push(index++);
				continue;
			}
			const isMarked = this.#isMarked(index);
			if (isMarked && this.#cutMarkedIntroduction(index)) {
				index = this.#findQuoteEnd(index);
				continue;
			}
			if (headers.startsForward(index) || (!this.#isAnswer && headers.startsHeader(index))) return index;
			if (!this.#isForward && this.#startsEarlierMessage(index)) {
				this.#hasIntroduction = true;
				this.#dropRuler();
				break;
			}
			if (isMarked) index = this.#readQuote(index);
			else {
				this.#ownLines.push(index);
				if (!this.#isForward && this.#cutUnmarkedIntroduction(index)) break;
				index++;
			}
		}
		return this.#lines.length;
	}

	#isMarked(index: number): boolean {
		return this.#lines[index]?.startsWith('>') === true && !this.#endsAddress(index);
	}

	/** Whether the `>` ends an address such as `<ann@example.com>` that was wrapped, and so marks no quote. */
	#endsAddress(index: number): boolean {
		const line = this.#texts[index] ?? '';
		if (line.length > maxEndLength || !/^>[\s,.]*(?:[\p{L}(). ]*[:：])?$/u.test(line)) return false;
		const lines = this.#texts.slice(Math.max(0, index - 3), index).map((text) => text.slice(-maxLineLength));
		const textAbove = lines.slice(lines.lastIndexOf('') + 1).join(' ');
		return textAbove.includes('@') && textAbove.split('<').length > textAbove.split('>').length;
	}

	/** Finds the line after a quote. One blank line between two quotes belongs to the quote. */
	#findQuoteEnd(start: number): number {
		const isInnerBlank = (index: number) => this.#texts[index] === '' && this.#isMarked(index + 1);
		let index = start;
		while (this.#isMarked(index) || (index > start && isInnerBlank(index))) index++;
		return index;
	}

	/** Keeps or drops a quote without an introduction above it. @returns the index of the line after the quote */
	#readQuote(start: number): number {
		const end = this.#findQuoteEnd(start);
		const lines = this.#texts.slice(start, end);
		const texts = lines.slice(0, maxCheckedLines).map((line) => line.replace(/^>\s*/, ''));
		const quoted = texts.slice(texts.findIndex((text) => text !== ''));
		// The introduction may itself be quoted.
		const isIntroduced = quoted.some((_, at) => at > 0 && findIntroduction(quoted.slice(0, at), true));
		if (isIntroduced && !this.#isForward) {
			this.#hasIntroduction = true;
			return end;
		}
		// A reply quotes with a single `>`. If all lines begin with `>>`, this is a prompt, or the sender wants it to be read.
		const quotesEarlier = !lines.every((line) => line.startsWith('>>') || line === '');
		if (this.#hasIntroduction && quotesEarlier) return end;
		if (quotesEarlier) this.#isLooseQuote.fill(1, start, end);
		for (let index = start; index < end; index++) this.#ownLines.push(index);
		return end;
	}

	/** Whether an earlier message begins on this line: with its header, or with its sender's name between dashes. */
	#startsEarlierMessage(index: number): boolean {
		if (this.#headers.startsOriginal(index)) return true;
		if (!this.#isAnswer) return false;
		return this.#headers.startsHeader(index) || isRuledIntroduction(this.#texts[index] ?? '');
	}

	/** Drops the last blank lines and the line that some programs draw above the header of an earlier message. */
	#dropRuler(): void {
		const isOwn = (line: string) => line !== '' && !rulerLine.test(line);
		this.#ownLines.length = this.#ownLines.findLastIndex((index) => isOwn(this.#texts[index] ?? '')) + 1;
	}

	/** Cuts off the introduction above a quote. @returns whether there was an introduction */
	#cutMarkedIntroduction(quoteIndex: number): boolean {
		if (this.#isForward) return false;
		// The introduction ends with the last line that is not blank, unless this line is too far above.
		const minIndex = quoteIndex - maxBlankLines;
		const end = this.#ownLines.findLastIndex((index) => this.#texts[index] !== '' || index < minIndex) + 1;
		return (this.#ownLines[end - 1] ?? -1) >= minIndex - 1 && this.#cutIntroduction(end, true);
	}

	/** Cuts off an introduction of text without marks that ends on this line. @returns whether there was an introduction */
	#cutUnmarkedIntroduction(index: number): boolean {
		const line = this.#texts[index] ?? '';
		if (/[:：]$/.test(line)) {
			let nextIndex = index + 1;
			while (nextIndex < index + 1 + maxBlankLines && this.#texts[nextIndex] === '') nextIndex++;
			// The quote below then cuts it off.
			if (this.#isMarked(nextIndex)) return false;
			if (this.#cutIntroduction(this.#ownLines.length, false)) return true;
		}
		const textBefore = findIntroductionWithin(line);
		if (textBefore === undefined) return false;
		this.#cutLine(this.#ownLines.length - 1, textBefore);
		return true;
	}

	/** Cuts off the introduction that ends at `end` in the sender's lines. @returns whether there was an introduction */
	#cutIntroduction(end: number, isMarked: boolean): boolean {
		const texts: string[] = [];
		for (let position = end - 1; position >= 0 && texts.length < maxCheckedLines; position--) {
			const index = this.#ownLines[position] ?? 0;
			const text = this.#texts[index] ?? '';
			const isAdjacent = index + texts.length === this.#ownLines[end - 1];
			if (this.#isLooseQuote[index] === 1 || text === '' || !isAdjacent) break;
			texts.unshift(text);
		}
		const isLikely = isMarked || this.#isAnswer || texts.some((line) => line.includes('@'));
		const introduction = isLikely ? findIntroduction(texts, isMarked) : undefined;
		if (!introduction) return false;
		this.#cutLine(end - introduction.lineCount, introduction.textBefore);
		return true;
	}

	/** Drops the sender's lines from a position on, except the text that stands in front of the introduction. */
	#cutLine(position: number, textBefore: string): void {
		this.#cutLines.set(this.#ownLines[position] ?? 0, textBefore.trimEnd());
		this.#ownLines.length = textBefore.trim() === '' ? position : position + 1;
		this.#hasIntroduction = true;
	}

	/** @returns the position in `lines` at which a final signature or `Sent from my iPhone` begins; the number of lines if there is none */
	#findSignature(lines: readonly number[]): number {
		let end = this.#findSentFromLine(lines, lines.length);
		let lineCount = 0;
		for (let position = end - 1; position >= 0 && lineCount <= maxSignatureLines; position--) {
			const index = lines[position] ?? 0;
			if (this.#isLooseQuote[index] === 1 || this.#headers.startsHeader(index)) break;
			if (/^-- ?$/.test(this.#lines[index] ?? '')) [end, lineCount] = [position, 0];
			else if (this.#texts[index] !== '') lineCount++;
		}
		return this.#findSentFromLine(lines, end);
	}

	/** @returns the position of a last line such as `Sent from my iPhone`; `end` if the last line is another one */
	#findSentFromLine(lines: readonly number[], end: number): number {
		const position = lines.findLastIndex((index, current) => current < end && this.#texts[index] !== '');
		const text = this.#texts[lines[position] ?? -1] ?? '';
		const words = text.length < maxLineLength ? text.replace(/\s*[[<]http[^\s\]>]*[\]>]$/, '') : text;
		return /^[^,!?]{1,70}$/.test(words) && sentFrom.test(words) && device.test(words) ? position : end;
	}
}

function toPlain(line: string): string {
	return /^[ -~]*$/.test(line) ? line.trim() : line.replaceAll(directionMarks, '').normalize().trim();
}
