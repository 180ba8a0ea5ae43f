/** What a line of an email's header tells, in the languages in which programs write it. */
const labels = {
	from: 'from|von|de|da|van|från|fra|od|from|от|від|из|από|de la|gönderen|kimden|lähettäjä|feladó|odosielateľ|odesílatel|nadawca|expéditeur|remitente|remetente|mittente|absender|afzender|avsändare|afsender|avsender|expeditor|dari|từ|จาก|प्रेषक|من|از|מאת|发件人|發件人|寄件者|寄件人|差出人|送信者|보낸 사람|보낸사람|발신|nuo|no|saatja|šalje',
	date: "sent|date|sent on|gesendet|gesendet am|datum|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviado em|enviada em|enviada|enviat|enviat el|fecha|data|inviato|inviato il|verzonden|skickat|sendt|dato|wysłano|отправлено|дата|надіслано|изпратено|στάλθηκε|ημερομηνία|gönderildi|gönderme tarihi|tarih|lähetetty|päivämäärä|päiväys|elküldve|küldve|dátum|odesláno|odoslané|dne|poslano|poslato|trimis|dată|išsiųsta|nosūtīts|saadetud|kuupäev|dikirim|tanggal|đã gửi|ngày|ส่ง|วันที่|भेजा|दिनांक|التاريخ|تاريخ|تم الإرسال|أُرسلت|ارسال|נשלח|תאריך|发送时间|发送日期|日期|寄件日期|傳送時間|时间|送信日時|日時|日付|보낸 날짜|날짜|보낸날짜",
	to: 'to|an|à|a|para|aan|naar|till|til|do|komu|кому|до|προς|kime|alıcı|vastaanottaja|címzett|către|kam|kepada|đến|ถึง|प्रति|إلى|به|אל|收件人|宛先|받는 사람|받는사람|수신|per|per a|prima',
	subject:
		'subject|betreff|objet|sujet|asunto|assunto|oggetto|onderwerp|ämne|emne|efni|temat|тема|относно|θέμα|konu|aihe|tárgy|předmět|predmet|zadeva|naslov|subiect|tema|tēma|teema|assumpte|subjek|perihal|chủ đề|เรื่อง|विषय|الموضوع|موضوع|נושא|主题|主題|主旨|件名|제목',
} as const;
type Kind = keyof typeof labels;

const kinds = new Map(
	Object.entries(labels).flatMap(([kind, names]) =>
		names.split('|').map((name) => [name, kind as Kind] as const),
	),
);

const maxHeaderLines = 9;
/** How many lines a list of recipients may be wrapped over. */
const maxWrappedLines = 8;
const address = /@[\w-]+\.\w/;
const time = /\p{Nd}[:.h]\p{Nd}\p{Nd}/u;

const forwarding =
	/forward|weitergeleitet|weiterleitung|transf[ée]r|réexpédi|reenvia|encaminha|inoltra|doorgest|vidarebef|videresend|edelleenläh|välitet|przekaz|přepos|preposlan|předan|továbbít|redirec[țt]ion|[iİ]letilen|yönlendiril|перес[илы]|переадрес|перенаправ|препрат|προωθ|転送|转发|轉寄|轉發|전달|הועבר|מועבר|توجيه|محول|chuyển tiếp|diteruskan|ส่งต่อ|proslij|prosleđ|posredovan|edastatud|persiųst|pārsūtīt|reenviat|अग्रेषित/i;
const original =
	/^(?:(?:original|reply|earlier|previous) (?:message|e-?mail|appointment)|ursprüngliche (?:nachricht|mail|e-mail)|original-nachricht|message (?:d['’]origine|original)|mail original|e-mail d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti|oryginalna wiadomość|wiadomość oryginalna|původní (?:zpráva|e-mail)|pôvodná správa|eredeti üzenet|mesaj original|orijinal (?:mesaj|ileti)|özgün ileti|исходное сообщение|оригинальное сообщение|вихідне повідомлення|оригинално съобщение|αρχικό μήνυμα|הודעה מקורית|الرسالة الأصلية|pesan asli|thư gốc|izvirno sporočilo|izvorna poruka|missatge original|原始邮件|原始郵件|原邮件|元のメッセージ|원본 메[시세]지)$/i;
const ruled = /^[-_=‐‑–—]{2,}\s*([^\s\-_=‐‑–—].{0,150}?)\s*[-_=‐‑–—]{2,}:?$/;
export const ruler = /^[-_=‐‑–—]{5,}$/;

/** The lines of a text, and what each could be in the header of an earlier message. */
export class HeaderFinder {
	readonly #lines: readonly string[];
	readonly #found: ReadonlyArray<Kind | 'other' | 'blank' | undefined>;

	/** @param lines trimmed */
	constructor(lines: readonly string[]) {
		this.#lines = lines;
		this.#found = lines.map((line) => (line === '' ? 'blank' : findLineKind(line)));
	}

	/** Whether the line announces a message that the sender passes on. */
	isForward(at: number): boolean {
		const line = this.#lines[at]?.replace(/^(?:>\s?)+/, '') ?? '';
		const phrase = findRuledPhrase(line);
		if (phrase !== '') return forwarding.test(phrase);
		if (line.length > 100 || !/[:：]$/.test(line) || !forwarding.test(line)) return false;
		return this.#countKnownLines(at + 1, at + 5) > 0;
	}

	/** Whether the message that the sender answers begins here, with a line such as `-----Original Message-----`. */
	isOriginal(at: number): boolean {
		const phrase = findRuledPhrase(this.#lines[at] ?? '');
		if (phrase === '') return false;
		return original.test(phrase) || this.#countKnownLines(at + 1, at + 4) >= 2;
	}

	/** Whether an email's header begins here, in any order. A travel plan may have the same labels, but no subject and no address. */
	isHeader(at: number): boolean {
		const seen = new Set<unknown>();
		let [hasAddress, hasTime] = [false, false];
		for (const line of this.#findHeaderLines(at)) {
			const [kind, text = ''] = [this.#found[line], this.#lines[line]];
			// A line such as `From: 8:30` is of a timetable.
			if (kind !== 'from' || !/[:：][\s\p{Nd}:.]{0,100}\p{Nd}$/u.test(text)) seen.add(kind);
			hasAddress ||= address.test(text);
			hasTime ||= kind === 'date' && time.test(text);
		}
		seen.delete('other');
		if (seen.size >= 3) return hasAddress || (seen.has('from') && seen.has('subject'));
		const isRuled = ruler.test(this.#lines[at - 1] ?? '') || ruler.test(this.#lines[at - 2] ?? '');
		return seen.size === 2 && hasAddress && (hasTime || isRuled);
	}

	/** How many lines are of a kind that is known. They may be quoted. */
	#countKnownLines(from: number, to: number): number {
		const lines = this.#lines.slice(from, to).map((line) => findLineKind(line.replace(/^(?:>\s?)+/, '')));
		return lines.filter((kind) => kind !== undefined && kind !== 'other').length;
	}

	#findHeaderLines(at: number): number[] {
		const isKnown = (line: number) => !['blank', 'other', undefined].includes(this.#found[line]);
		const header: number[] = [];
		let wrapped = 0;
		for (let line = at; isKnown(at) && header.length <= maxHeaderLines; line++) {
			const kind = this.#found[line];
			if (kind === 'blank') {
				// Skips a blank line inside a header: it comes from HTML in which each header line is a paragraph.
				if (!isKnown(line + 1)) break;
			} else if (kind !== undefined) {
				wrapped = 0;
				header.push(line);
			} else if (++wrapped > (address.test(this.#lines[line] ?? '') ? maxWrappedLines : 1)) break;
		}
		return header.slice(0, maxHeaderLines);
	}
}

function findLineKind(line: string): Kind | 'other' | undefined {
	const [, label] = /^[*_]{0,2}(\p{L}[^:：*_]{0,24})[*_]{0,2}\s?[:：]/u.exec(line) ?? [];
	if (label === undefined) return undefined;
	return kinds.get(label.trim().toLowerCase()) ?? 'other';
}

/** What stands between dashes or the like on a line of its own; '' if it is no such line. */
export function findRuledPhrase(line: string): string {
	return (line.length <= 200 ? ruled.exec(line)?.[1] : undefined) ?? '';
}
