/** Longer lines are text, not an introduction. */
const longestLine = 500;
/** Lines over which programs wrap an introduction. */
const mostIntroduction = 4;
/** Between an introduction and its quote. */
const mostBlankLines = 10;

const subjectOfReply = /^\s*(?:re|aw|sv|antw|odp|vá|回复|回覆|答复)(?:\[\d+\])?\s*[:：]/i;
const subjectOfForward = /^\s*(?:fwd?|wg|tr|rv|enc|vs|转发|轉寄)\s*[:：]/i;

/** Outlook marks an earlier message by its header instead of a sign at each line. */
const originalMessage =
	/^-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|пересылаемое сообщение|исходное сообщение|原始邮件|元のメッセージ)\s*-{2,}$/i;
const senderLine = /^\*?(?:from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人)\s*[:：]\*? ?\S/i;
const otherLines = [
	/^\*?(?:sent|date|gesendet|datum|envoyé|enviado|inviato|verzonden|skickat|sendt|fecha|data|wysłano|отправлено|дата|发送时间|日期|送信日時)\s*[:：]\*? ?\S/i,
	/^\*?(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|тема|主题|主旨|件名)\s*[:：]/i,
];
const mostHeaderLines = 9;

export interface Context {
	readonly subject: string;
	/** Whether its header names an earlier message. */
	readonly isReply: boolean;
}

/** What a message added: without quoted earlier ones, their introductions and a signature, unless nothing is left. Forwarded ones stay. */
export function newText(text: string, { subject, isReply }: Context): string {
	const all = text.split('\n');
	const recent = subjectOfForward.test(subject) ? all : beforeHeader(all);
	const unquoted = withoutQuotes(recent, isReply || subjectOfReply.test(subject));
	const [own] = unquoted.join('\n').split(/(?:^|\n)-- ?(?:\n|$)/, 1);
	return own?.trim() || text;
}

/** The lines before an earlier message that begins with its header. */
function beforeHeader(lines: readonly string[]): readonly string[] {
	const at = lines.findIndex((line, index) => {
		if (originalMessage.test(line.trim())) return true;
		if (!senderLine.test(line.trim())) return false;
		const header = lines.slice(index, index + mostHeaderLines);
		// Date and subject follow the sender, as in the header of an email.
		return otherLines.every((other) => header.some((each) => other.test(each.trim())));
	});
	if (at < 0) return lines;
	const isOwn = (line: string) => !/^(?:[-_]{5,})?$/.test(line.trim());
	return lines.slice(0, lines.findLastIndex((line, index) => index < at && isOwn(line)) + 1);
}

function withoutQuotes(lines: readonly string[], isReply: boolean): string[] {
	const own: string[] = [];
	let answers = isReply;
	let isQuote = false;
	for (const [index, line] of lines.entries()) {
		const wasQuote: boolean = isQuote;
		// A blank line between two quotes is part of them.
		isQuote =
			line.startsWith('>') || (wasQuote && line.trim() === '' && (lines[index + 1] ?? '').startsWith('>'));
		if (isQuote && !wasQuote && dropIntroduction(own)) answers = true;
		// In an email that answers none, quotes are what its sender wants to be read.
		if (!isQuote || !answers) own.push(line);
	}
	return own;
}

/** Takes off lines such as `On Monday, Ann <ann@example.com> wrote:`, which programs may wrap. */
function dropIntroduction(own: string[]): boolean {
	const end = own.findLastIndex((line, at) => line.trim() !== '' || at < own.length - mostBlankLines) + 1;
	const above = own.slice(Math.max(0, end - mostIntroduction), end).map((line) => line.trim());
	const lines = above.slice(above.lastIndexOf('') + 1);
	if (!/[:：]$/.test(lines.at(-1) ?? '')) return false;
	const counts = lines.map((_, at) => at + 1);
	const textOf = (count: number) => lines.slice(-count).join(' ').slice(-longestLine);
	let count =
		counts.find((most) => when.test(textOf(most)) && who.test(textOf(most))) ??
		Number(address.test(textOf(1)));
	if (count === 0) return false;
	const first = lines.at(-count - 1) ?? '';
	if (!start.test(textOf(count)) && start.test(first) && /\d/.test(first)) count++;
	own.length = end - count;
	return true;
}

const when = /\d\d?[:.h]\d\d|\d{4}|\d\d?[./]\d/;
const address = /@[\w-]+\.\w/;
const who =
	/@[\w-]+\.\w|wrote|schrieb|écrit|escribió|escreveu|ha scritto|schreef|skrev|kirjoitti|napisał|napsal|írta|scris|yazdı|написал|пишет|写道|寫道|작성/i;
const start = /^(?:On|Am|Le|El|Il|Op|Den|Em|Dne|Pe|På|W dniu|Vào)\s/;
