/** Labels of an email's header lines, such as `Subject`, in the languages in which programs write them. Within a list, their order does not matter. */
const headerLabels = {
	from: 'from|von|de|da|van|från|fra|od|от|від|из|από|de la|gönderen|kimden|lähettäjä|feladó|odosielateľ|odesílatel|nadawca|expéditeur|remitente|remetente|mittente|absender|afzender|avsändare|afsender|avsender|expeditor|dari|từ|จาก|प्रेषक|من|از|מאת|发件人|發件人|寄件者|寄件人|差出人|送信者|보낸 사람|보낸사람|발신|nuo|no|saatja|šalje',
	date: "sent|date|sent on|gesendet|gesendet am|datum|envoyé|envoyé le|date d'envoi|enviado|enviado el|enviado em|enviada em|enviada|enviat|enviat el|fecha|data|inviato|inviato il|verzonden|skickat|sendt|dato|wysłano|отправлено|дата|надіслано|изпратено|στάλθηκε|ημερομηνία|gönderildi|gönderme tarihi|tarih|lähetetty|päivämäärä|päiväys|elküldve|küldve|dátum|odesláno|odoslané|dne|poslano|poslato|trimis|dată|išsiųsta|nosūtīts|saadetud|kuupäev|dikirim|tanggal|đã gửi|ngày|ส่ง|วันที่|भेजा|दिनांक|التاريخ|تاريخ|تم الإرسال|أُرسلت|ارسال|נשלח|תאריך|发送时间|发送日期|日期|寄件日期|傳送時間|时间|送信日時|日時|日付|보낸 날짜|날짜|보낸날짜",
	to: 'to|an|à|a|para|aan|naar|till|til|do|komu|кому|до|προς|kime|alıcı|vastaanottaja|címzett|către|kam|kepada|đến|ถึง|प्रति|إلى|به|אל|收件人|宛先|받는 사람|받는사람|수신|per|per a|prima',
	subject:
		'subject|betreff|objet|sujet|asunto|assunto|oggetto|onderwerp|ämne|emne|efni|temat|тема|относно|θέμα|konu|aihe|tárgy|předmět|predmet|zadeva|naslov|subiect|tema|tēma|teema|assumpte|subjek|perihal|chủ đề|เรื่อง|विषय|الموضوع|موضوع|נושא|主题|主題|主旨|件名|제목',
} as const;
type HeaderKind = keyof typeof headerLabels;
/** What a line begins with: a label of a header, such as `From:`, another label, such as `Note:`, or no label. A line may also be blank. */
type LineKind = HeaderKind | 'other' | 'unlabeled' | 'blank';

const kindsByLabel = new Map(
	Object.entries(headerLabels).flatMap(([kind, names]) =>
		names.split('|').map((name) => [name, kind as HeaderKind] as const),
	),
);

const maxHeaderLines = 9;
/** Longest line that announces a forwarded message, such as `Forwarded message from Ann:`. */
const maxAnnouncementCharacters = 100;
/** Most lines over which a list of recipients is wrapped. */
const maxWrappedLines = 8;
export const addressPattern = /@[\w-]+\.\w/;
export const timePattern = /\p{Nd}[:.h]\p{Nd}\p{Nd}/u;
const forwardingPattern =
	/forward|weitergeleitet|weiterleitung|transf[ée]r|réexpédi|reenvia|encaminha|inoltra|doorgest|vidarebef|videresend|edelleenläh|välitet|przekaz|přepos|preposlan|předan|továbbít|redirec[țt]ion|[iİ]letilen|yönlendiril|перес[илы]|переадрес|перенаправ|препрат|προωθ|転送|转发|轉寄|轉發|전달|הועבר|מועבר|توجيه|محول|chuyển tiếp|diteruskan|ส่งต่อ|proslij|prosleđ|posredovan|edastatud|persiųst|pārsūtīt|reenviat|अग्रेषित/i;
const originalPhrasePattern =
	/^(?:(?:original|reply|earlier|previous) (?:message|e-?mail|appointment)|ursprüngliche (?:nachricht|mail|e-mail)|original-nachricht|message (?:d['’]origine|original)|mail original|e-mail d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti|oryginalna wiadomość|wiadomość oryginalna|původní (?:zpráva|e-mail)|pôvodná správa|eredeti üzenet|mesaj original|orijinal (?:mesaj|ileti)|özgün ileti|исходное сообщение|оригинальное сообщение|вихідне повідомлення|оригинално съобщение|αρχικό μήνυμα|הודעה מקורית|الرسالة الأصلية|pesan asli|thư gốc|izvirno sporočilo|izvorna poruka|missatge original|原始邮件|原始郵件|原邮件|元のメッセージ|원본 메[시세]지)$/i;
/** A text between dashes, such as `--- Original Message ---`. */
const ruledPhrasePattern = /^[-_=‐‑–—]{2,}\s*([^\s\-_=‐‑–—].{0,150}?)\s*[-_=‐‑–—]{2,}:?$/;
/** A line of dashes alone. */
export const rulerPattern = /^[-_=‐‑–—]{5,}$/;

/** Finds the lines of a text on which an earlier message or its header begins. */
export class HeaderFinder {
	readonly #lines: readonly string[];
	readonly #lineKinds: readonly LineKind[];

	/** @param lines the trimmed lines of the text */
	constructor(lines: readonly string[]) {
		this.#lines = lines;
		this.#lineKinds = lines.map(findLineKind);
	}

	/** Whether the line announces a message that the sender forwards. */
	startsForward(index: number): boolean {
		const line = this.#lines[index]?.replace(/^(?:>\s?)+/, '') ?? '';
		const phrase = getRuledPhrase(line);
		if (phrase !== '') return forwardingPattern.test(phrase);
		const isShort = line.length <= maxAnnouncementCharacters;
		if (!isShort || !/[:：]$/.test(line) || !forwardingPattern.test(line)) return false;
		// The line already speaks of forwarding, so one line of a header is enough.
		return this.#countHeaderLinesBelow(index, 4) > 0;
	}

	/** Whether the line announces the message that the sender answers, such as `-----Original Message-----`. */
	startsOriginal(index: number): boolean {
		const phrase = getRuledPhrase(this.#lines[index] ?? '');
		if (phrase === '') return false;
		return originalPhrasePattern.test(phrase) || this.#countHeaderLinesBelow(index, 3) >= 2;
	}

	/** Whether the line begins an email's header. A travel plan also has labels such as `From`, but neither a subject nor an address. */
	startsHeader(index: number): boolean {
		const seenKinds = new Set<LineKind | undefined>();
		let hasAddress = false;
		let hasTime = false;
		for (const lineIndex of this.#collectHeaderLines(index)) {
			const kind = this.#lineKinds[lineIndex];
			const text = this.#lines[lineIndex] ?? '';
			// A line such as `From: 8:30` belongs to a timetable.
			const isTimetable = kind === 'from' && /[:：][\s\p{Nd}:.]{0,100}\p{Nd}$/u.test(text);
			if (!isTimetable) seenKinds.add(kind);
			hasAddress ||= addressPattern.test(text);
			hasTime ||= kind === 'date' && timePattern.test(text);
		}
		seenKinds.delete('other');
		if (seenKinds.size >= 3)
			return hasAddress || (seenKinds.has('from') && seenKinds.has('subject'));
		const hasRuler = this.#lines
			.slice(Math.max(0, index - 2), index)
			.some((line) => rulerPattern.test(line));
		return seenKinds.size === 2 && hasAddress && (hasTime || hasRuler);
	}

	/** Counts the lines with a label of an email's header among the next lines, which may be quoted. */
	#countHeaderLinesBelow(index: number, lineCount: number): number {
		const linesBelow = this.#lines.slice(index + 1, index + 1 + lineCount);
		return linesBelow.filter((line) =>
			isHeaderKind(findLineKind(line.replace(/^(?:>\s?)+/, ''))),
		).length;
	}

	/** @returns the indexes of the lines of the header that begins at `start`; none if no header begins there */
	#collectHeaderLines(start: number): number[] {
		const hasHeaderLabel = (index: number) => isHeaderKind(this.#lineKinds[index]);
		const headerIndexes: number[] = [];
		let wrappedLineCount = 0;
		if (!hasHeaderLabel(start)) return [];
		for (
			let index = start;
			index < this.#lines.length && headerIndexes.length <= maxHeaderLines;
			index++
		) {
			const kind = this.#lineKinds[index];
			if (kind === 'blank') {
				// A header from HTML may have blank lines, because each of its lines was a paragraph.
				if (!hasHeaderLabel(index + 1)) break;
			} else if (kind === 'unlabeled') {
				const hasAddress = addressPattern.test(this.#lines[index] ?? '');
				if (++wrappedLineCount > (hasAddress ? maxWrappedLines : 1)) break;
			} else {
				wrappedLineCount = 0;
				headerIndexes.push(index);
			}
		}
		return headerIndexes.slice(0, maxHeaderLines);
	}
}

const isHeaderKind = (kind: LineKind | undefined) => kind !== undefined && kind in headerLabels;
function findLineKind(line: string): LineKind {
	if (line === '') return 'blank';
	const [, label] = /^[*_]{0,2}(\p{L}[^:：*_]{0,24})[*_]{0,2}\s?[:：]/u.exec(line) ?? [];
	if (label === undefined) return 'unlabeled';
	return kindsByLabel.get(label.trim().toLowerCase()) ?? 'other';
}

/** Returns the text between the dashes of a line such as `--- Original Message ---`; '' for any other line. */
export const getRuledPhrase = (line: string) =>
	(line.length <= 200 ? ruledPhrasePattern.exec(line)?.[1] : undefined) ?? '';
