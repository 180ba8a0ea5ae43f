import { shorten } from '../../../core/text';
import { countFitting, countRoom, describePart, fitText, type ModelAnswer } from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { Mail, MailSummary } from '../../../untrusted/mail/readMail';

/** How many characters of a snippet a model gets. */
const maxSnippetLength = 100;
/** How many characters of each text a list has room for; it shows fewer emails rather than less of each. */
const minTextLength = 200;

type ListedMail = Pick<MailSummary, 'id' | 'threadId'> & Partial<MailSummary & Pick<Mail, 'text'>>;

interface ListedPage {
	readonly messages: ReadonlyArray<{ readonly message: ListedMail }>;
	readonly nextPageToken: string | undefined;
}

/** Reads where a list continues: Gmail's token for the page ('' for the first one), and how many of its emails to skip. */
export function parsePageToken(given: string): { readonly token: string; readonly skip: number } {
	const [, skip = '0', token = given] = /^(\d+)@(.*)$/s.exec(given) ?? [];
	return { token, skip: Number(skip) };
}

/** The emails of a list as rows, as many as have room, and how to get the next ones. */
export function toListAnswer(
	{ messages, nextPageToken }: ListedPage,
	{ pageToken }: { readonly pageToken: string },
	characters: number,
): ModelAnswer {
	const mails = messages.map(({ message }) => message);
	const rows = mails.map((mail) => toRow(mail, mail.text?.slice(0, minTextLength)));
	const shown = mails.slice(0, countFitting(rows, countRoom(characters)));
	const { token, skip } = parsePageToken(pageToken);
	const isCut = shown.length < mails.length;
	const next = isCut ? `${skip + shown.length}@${token}` : nextPageToken;
	const least = shown.map((mail) => toRow(mail, mail.text && '…'));
	const texts = shareRoom(
		shown.map(({ text = '' }) => text),
		countRoom(characters, ...least),
	);
	const items = shown.map((mail, at) => toRow(mail, mail.text && texts[at]));
	const more = nextPageToken === undefined ? '' : ' or more';
	const end = skip + shown.length;
	const note = [
		`Emails ${shown.length === 0 ? 0 : skip + 1} to ${end} of ${skip + mails.length}${more} are shown, newest first${token === '' ? '' : ', counted from that page token'}.`,
		shown.some(({ text = '' }, at) => text !== texts[at]) &&
			'A text that ends with … is shortened: read the email by its ID to get all of it.',
		next !== undefined && `To get the next ones, call again with ${quoteField('pageToken')}: ${next}`,
	];
	return { items, note: note.filter(Boolean).join(' ') };
}

function toRow({ id, threadId, date, sender, subject, snippet = '', status }: ListedMail, text?: string) {
	if (status === undefined) return { id, threadId };
	const about = { id, date, sender, subject, status };
	return text === undefined ? { ...about, snippet: shorten(snippet, maxSnippetLength) } : { ...about, text };
}

/** Shortens texts to share the room: a short one leaves more to those after it. */
function shareRoom(texts: readonly string[], room: number): string[] {
	let left = room;
	return texts.map((text, at) => {
		const shown = fitText(text, left / (texts.length - at));
		left -= JSON.stringify(shown).length;
		return shown === text ? text : `${shown}…`;
	});
}

/** Emails without their HTML, their texts shortened to share the room. */
export function toMailAnswer(
	read: ReadonlyArray<{ readonly mail: Mail }>,
	{ startCharacter, includeHeaders }: { readonly startCharacter: number; readonly includeHeaders: boolean },
	characters: number,
): ModelAnswer {
	const mails = read.map(({ mail }) => mail);
	const about = mails.map(({ summary, cc, attachments, headers }) => {
		const { id, threadId, date, sender, to, subject, status } = summary;
		const files = attachments.map(({ fileName, mimeType, size }) => ({ fileName, mimeType, size }));
		const more = { ...(cc !== '' && { cc }), ...(includeHeaders && { headers }) };
		return { id, threadId, date, sender, to, ...more, subject, status, attachments: files, text: '…' };
	});
	const shown = about.slice(0, countFitting(about, countRoom(characters) * 0.8));
	const rests = mails.slice(0, shown.length).map(({ text }) => text.slice(startCharacter));
	const texts = shareRoom(rests, countRoom(characters, ...shown));
	const items = shown.map((one, at) => ({ ...one, text: texts[at] ?? '' }));
	const isWhole = mails.every(({ text }, at) => text === texts[at]);
	const [only, second] = mails;
	if (!only || isWhole) return { items };
	const part = texts[0] === rests[0] ? texts[0] : texts[0]?.slice(0, -1);
	const others = mails.slice(shown.length, shown.length + 20).map(({ summary }) => summary.id);
	const note = second
		? `Emails 1 to ${shown.length} of ${mails.length} are shown. A text that ends with … is shortened: to get all of it, read that email alone by its ID. ${others.length > 0 ? `Read the next ones by their IDs: ${others.join(', ')}` : ''}`
		: describePart(part ?? '', startCharacter, only.text.length, quoteField('startCharacter'));
	return { items, note };
}
