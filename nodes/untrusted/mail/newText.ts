import { HeaderFinder, ruler } from './earlierHeader';
import { findIntroduction, findIntroductionWithin, isRuledIntroduction } from './introduction';

/** How many lines an introduction may take when programs wrap it. */
const maxIntroductionLines = 7;
/** How many blank lines may stand between an introduction and its quote. */
const maxBlankLines = 10;
/** How many characters are read of a line above the end of an address, and how many that end may have. */
const maxLineLength = 300;
const maxEndLength = 60;
const maxSignatureLines = 20;

/** What organizations put before a subject. */
const tags = String.raw`^\s*(?:\[[^\]]{1,40}\]\s*)*`;
const subjectOfReply = new RegExp(
	`${tags}(?:re|aw|sv|antw|odp|vá|ynt|res|rif|απ|на|回复|回覆|答复|回信|답장|رد|תשובה)(?:\\[\\d+\\])?\\s*[:：]`,
	'iu',
);
const subjectOfForward = new RegExp(
	`${tags}(?:fwd?|wg|tr|rv|enc|vs|vl|vb|pd|i|doorst|(?:i̇?|İ)lt|πρθ|пер|пересл|转发|轉寄|轉發|転送|전달|הועבר)\\s*[:：]`,
	'iu',
);

/** Marks of direction, which programs put around addresses. */
const unseen = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const phone =
	/iphone|ipad|ipod|android|\bios\b|outlook|samsung|galaxy|blackberry|huawei|xiaomi|pixel|yahoo|gmail|proton|superhuman|nokia|lumia|motorola|verizon|windows|handy|mobil|phone|telefon|tablet|téléphone|móvil|celular|手机|手機/i;
const sentFrom =
	/^(?:sent (?:from|via|with|using)|get outlook for|von mein|gesendet (?:von|mit|über)|outlook für|envoyé (?:de|à partir|avec)|télécharg\S+ outlook|enviad[oa] (?:desde|do|de|a partir)|obtene?r? o? ?outlook|inviato da|scarica outlook|verzonden (?:vanaf|met)|verstuurd vanaf|outlook voor|skickat från|hämta outlook|sendt fra|hent outlook|lähetetty|wysłan[eo] z|pobierz \S*\s?outlook|odesláno z|отправлено (?:с|из)|надіслано з|στάλθηκε από|trimis de pe|发自我的|從我的|나의 |내 )|(?:から送信|gönderildi|gönderilmiştir)$/i;

export interface Context {
	readonly subject: string;
	/** Whether its header names an earlier message. */
	readonly isReply: boolean;
}

/** Drops quoted earlier messages, their introductions and a signature. Keeps forwarded messages, and the whole text if nothing is left. */
export function keepNewText(text: string, { subject, isReply }: Context): string {
	const isForward = subjectOfForward.test(subject);
	const isAnswer = !isForward && (isReply || subjectOfReply.test(subject));
	return new Reader(text, isForward, isAnswer).read().trim() || text;
}

class Reader {
	readonly #lines: readonly string[];
	/** The lines as they are compared: trimmed, without marks of direction. */
	readonly #plain: readonly string[];
	readonly #headers: HeaderFinder;
	readonly #isForward: boolean;
	readonly #isReply: boolean;
	/** The numbers of the sender's own lines. */
	readonly #own: number[] = [];
	/** Marked as quoted, without an introduction. */
	readonly #quoted: Uint8Array;
	/** The sender's part of a line on which an introduction begins. */
	readonly #cut = new Map<number, string>();
	#hasIntroduction = false;

	constructor(text: string, isForward: boolean, isReply: boolean) {
		this.#lines = text.split('\n');
		this.#plain = this.#lines.map((line) => toPlain(line));
		this.#quoted = new Uint8Array(this.#lines.length);
		this.#headers = new HeaderFinder(this.#plain);
		this.#isForward = isForward;
		this.#isReply = isReply;
	}

	read(): string {
		const end = this.#collectOwnLines();
		// Keeps quotes in an email that is no reply, and quotes above an introduction, because the sender wants these to be read.
		const areWanted = this.#isForward || !this.#isReply || this.#hasIntroduction;
		const own = areWanted ? this.#own : this.#own.filter((at) => this.#quoted[at] === 0);
		const passedOn = this.#lines.slice(end);
		// Keeps all lines of a forward in which no forwarded message was found: one of an unknown form may follow the signature.
		const kept = this.#isForward && passedOn.length === 0 ? own : own.slice(0, this.#findSignature(own));
		const gap = kept.length < own.length ? [''] : [];
		return [kept.map((at) => this.#cut.get(at) ?? this.#lines[at] ?? ''), gap, passedOn].flat().join('\n');
	}

	/** Collects the sender's own lines. @returns the line on which a forwarded message begins; the number of lines if there is none */
	#collectOwnLines(): number {
		let at = 0;
		while (at < this.#lines.length) {
			if (this.#plain[at] === '') {
				this.#own.push(at++);
				continue;
			}
			const isQuote = this.#isQuote(at);
			if (isQuote && this.#dropIntroduction(at)) {
				at = this.#findQuoteEnd(at);
				continue;
			}
			if (this.#headers.isForward(at) || (!this.#isReply && this.#headers.isHeader(at))) return at;
			if (!this.#isForward && this.#isEarlier(at)) {
				this.#hasIntroduction = true;
				this.#dropRuler();
				break;
			}
			if (isQuote) at = this.#readQuote(at);
			else {
				this.#own.push(at);
				if (!this.#isForward && this.#cutAtIntroduction(at)) break;
				at++;
			}
		}
		return this.#lines.length;
	}

	#isQuote(at: number): boolean {
		return this.#lines[at]?.startsWith('>') === true && !this.#endsAddress(at);
	}

	/** Whether a `>` is no quote, but the end of an address such as `<ann@example.com>` that was wrapped before it. */
	#endsAddress(at: number): boolean {
		const line = this.#plain[at] ?? '';
		if (line.length > maxEndLength || !/^>[\s,.]*(?:[\p{L}(). ]*[:：])?$/u.test(line)) return false;
		const lines = this.#plain.slice(Math.max(0, at - 3), at).map((line) => line.slice(-maxLineLength));
		const above = lines.slice(lines.lastIndexOf('') + 1).join(' ');
		return above.includes('@') && above.split('<').length > above.split('>').length;
	}

	/** A blank line between two quotes is part of them. */
	#findQuoteEnd(from: number): number {
		let at = from;
		while (this.#isQuote(at) || (at > from && this.#plain[at] === '' && this.#isQuote(at + 1))) at++;
		return at;
	}

	/** Reads a quote that no line above it introduces. */
	#readQuote(from: number): number {
		const end = this.#findQuoteEnd(from);
		const lines = this.#plain.slice(from, end);
		const inner = lines.slice(0, maxIntroductionLines).map((line) => line.replace(/^>\s*/, ''));
		const start = inner.slice(inner.findIndex((line) => line !== ''));
		if (!this.#isForward && start.some((_, at) => at > 0 && findIntroduction(start.slice(0, at), true))) {
			this.#hasIntroduction = true;
			return end;
		}
		// Lines that all begin with `>>` are a prompt, or meant to be seen: a quote of a quote stands inside a quote.
		const isQuoted = !lines.every((line) => line.startsWith('>>') || line === '');
		if (this.#hasIntroduction && isQuoted) return end;
		if (isQuoted) this.#quoted.fill(1, from, end);
		for (let at = from; at < end; at++) this.#own.push(at);
		return end;
	}

	/** Whether an earlier message begins with its header, or with a line that names its sender between dashes. */
	#isEarlier(at: number): boolean {
		if (this.#headers.isOriginal(at)) return true;
		return this.#isReply && (this.#headers.isHeader(at) || isRuledIntroduction(this.#plain[at] ?? ''));
	}

	/** Some programs draw a line above the header. */
	#dropRuler(): void {
		const isOwn = (line: string) => line !== '' && !ruler.test(line);
		this.#own.length = this.#own.findLastIndex((at) => isOwn(this.#plain[at] ?? '')) + 1;
	}

	/** Takes off the introduction of the quote that begins here. */
	#dropIntroduction(quote: number): boolean {
		if (this.#isForward) return false;
		const least = quote - maxBlankLines;
		const end = this.#own.findLastIndex((at) => this.#plain[at] !== '' || at < least) + 1;
		return (this.#own[end - 1] ?? -1) >= least - 1 && this.#takeOff(end, true);
	}

	/** Whether the line ends an introduction of text that is not marked. If so, it is taken off. */
	#cutAtIntroduction(at: number): boolean {
		const line = this.#plain[at] ?? '';
		if (/[:：]$/.test(line)) {
			let below = at + 1;
			while (below < at + 1 + maxBlankLines && this.#plain[below] === '') below++;
			if (this.#isQuote(below)) return false;
			if (this.#takeOff(this.#own.length, false)) return true;
		}
		const before = findIntroductionWithin(line);
		if (before === undefined) return false;
		this.#cutLine(this.#own.length - 1, before);
		return true;
	}

	/** Takes off the introduction whose last line stands before `end`, if there is one. */
	#takeOff(end: number, isMarked: boolean): boolean {
		const own = this.#own;
		const plain = this.#plain;
		const above: string[] = [];
		for (let index = end - 1; index >= 0 && above.length < maxIntroductionLines; index--) {
			const at = own[index] ?? 0;
			if (this.#quoted[at] === 1 || plain[at] === '' || at + above.length !== own[end - 1]) break;
			above.unshift(plain[at] ?? '');
		}
		const isLikely = isMarked || this.#isReply || above.some((line) => line.includes('@'));
		const introduction = isLikely ? findIntroduction(above, isMarked) : undefined;
		if (!introduction) return false;
		const { lines, before } = introduction;
		this.#cutLine(end - lines, before);
		return true;
	}

	#cutLine(index: number, before: string): void {
		this.#cut.set(this.#own[index] ?? 0, before.trimEnd());
		this.#own.length = before.trim() === '' ? index : index + 1;
		this.#hasIntroduction = true;
	}

	/** @returns where a signature and what a phone adds begin, if nothing else follows them */
	#findSignature(own: readonly number[]): number {
		let end = this.#findPhone(own, own.length);
		let lines = 0;
		for (let index = end - 1; index >= 0 && lines <= maxSignatureLines; index--) {
			const at = own[index] ?? 0;
			if (this.#quoted[at] === 1 || this.#headers.isHeader(at)) break;
			if (/^-- ?$/.test(this.#lines[at] ?? '')) [end, lines] = [index, 0];
			else if (this.#plain[at] !== '') lines++;
		}
		return this.#findPhone(own, end);
	}

	/** @returns where a line such as `Sent from my iPhone` begins */
	#findPhone(own: readonly number[], end: number): number {
		const last = own.findLastIndex((at, index) => index < end && this.#plain[at] !== '');
		const line = this.#plain[own[last] ?? -1] ?? '';
		const words = line.length < maxLineLength ? line.replace(/\s*[[<]http[^\s\]>]*[\]>]$/, '') : line;
		return /^[^,!?]{1,70}$/.test(words) && sentFrom.test(words) && phone.test(words) ? last : end;
	}
}

function toPlain(line: string): string {
	return /^[ -~]*$/.test(line) ? line.trim() : line.replaceAll(unseen, '').normalize().trim();
}
