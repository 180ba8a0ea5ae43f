import { shorten } from '../../../core/text';
import { countFitting, countRoom, describePart, fitText, type ModelAnswer } from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { Mail, MailSummary } from '../../../untrusted/mail/readMail';

const maxSnippetLength = 100;
/** The characters of each text that a list has room for. A list shows fewer emails rather than shorter texts. */
const minTextLength = 200;
/** The share of an answer's room for everything but the texts of the emails. */
const maxRowShare = 0.8;

type ListedMail = Pick<MailSummary, 'id' | 'threadId'> & Partial<MailSummary & Pick<Mail, 'text'>>;

interface ListedPage {
	readonly messages: ReadonlyArray<{ readonly message: ListedMail }>;
	readonly nextPageToken: string | undefined;
}

/** Parses our page token `12@abc`: Gmail's token of a page ('' for the first page), after the number of its emails to skip. */
export function parsePageToken(pageToken: string) {
	const [, skipCount = '0', gmailPageToken = pageToken] = /^(\d+)@(.*)$/s.exec(pageToken) ?? [];
	return { gmailPageToken, skipCount: Number(skipCount) };
}

/** Prints our page token for the emails of a page from the given one on. Without emails to skip, Gmail's own token is enough. */
export const printPageToken = (skipCount: number, gmailPageToken = '') =>
	skipCount === 0 ? gmailPageToken : `${skipCount}@${gmailPageToken}`;

/** Converts a list to as many rows as have room, and a note that says how to get the next emails. */
export function toListAnswer(
	{ messages, nextPageToken }: ListedPage,
	{ pageToken }: { readonly pageToken: string },
	maxCharacters: number,
): ModelAnswer {
	const mails = messages.map(({ message }) => message);
	const rows = mails.map((mail) => toRow(mail, mail.text?.slice(0, minTextLength)));
	const shownMails = mails.slice(0, countFitting(rows, countRoom(maxCharacters)));
	const { gmailPageToken, skipCount } = parsePageToken(pageToken);
	const isCut = shownMails.length < mails.length;
	const nextToken = isCut ? printPageToken(skipCount + shownMails.length, gmailPageToken) : nextPageToken;
	const rowsWithoutText = shownMails.map((mail) => toRow(mail, mail.text && '…'));
	const texts = shareRoom(
		shownMails.map(({ text = '' }) => text),
		countRoom(maxCharacters, ...rowsWithoutText),
	);
	const items = shownMails.map((mail, index) => toRow(mail, mail.text && texts[index]));
	const orMore = nextPageToken === undefined ? '' : ' or more';
	const lastNumber = skipCount + shownMails.length;
	const note = [
		`Emails ${shownMails.length === 0 ? 0 : skipCount + 1} to ${lastNumber} of ${skipCount + mails.length}${orMore} are shown, newest first${gmailPageToken === '' ? '' : ', counted from that page token'}.`,
		shownMails.some(({ text = '' }, index) => text !== texts[index]) &&
			'A text that ends with … is shortened: read the email by its ID to get all of it.',
		nextToken && `To get the next ones, call again with ${quoteField('pageToken')}: ${nextToken}`,
	];
	return { items, note: note.filter(Boolean).join(' ') };
}

function toRow({ id, threadId, date, sender, subject, snippet = '', status }: ListedMail, text?: string) {
	if (status === undefined) return { id, threadId };
	const row = { id, date, sender, subject, status };
	return text === undefined ? { ...row, snippet: shorten(snippet, maxSnippetLength) } : { ...row, text };
}

/** Shortens texts so that they share the room. A short text leaves more room to the texts after it. */
function shareRoom(texts: readonly string[], room: number): string[] {
	let remainingRoom = room;
	return texts.map((text, index) => {
		const fittingText = fitText(text, remainingRoom / (texts.length - index));
		remainingRoom -= JSON.stringify(fittingText).length;
		return fittingText === text ? text : `${fittingText}…`;
	});
}

/** Converts emails to rows without HTML. The texts are shortened so that they share the room. */
export function toMailAnswer(
	results: ReadonlyArray<{ readonly mail: Mail }>,
	{ startCharacter, includeHeaders }: { readonly startCharacter: number; readonly includeHeaders: boolean },
	maxCharacters: number,
): ModelAnswer {
	const mails = results.map(({ mail }) => mail);
	const rows = mails.map(({ summary, cc, attachments, headers }) => {
		const { id, threadId, date, sender, to, subject, status } = summary;
		const files = attachments.map(({ fileName, mimeType, size }) => ({ fileName, mimeType, size }));
		const extras = { ...(cc !== '' && { cc }), ...(includeHeaders && { headers }) };
		return { id, threadId, date, sender, to, ...extras, subject, status, attachments: files, text: '…' };
	});
	const shownRows = rows.slice(0, countFitting(rows, countRoom(maxCharacters) * maxRowShare));
	const remainingTexts = mails.slice(0, shownRows.length).map(({ text }) => text.slice(startCharacter));
	const texts = shareRoom(remainingTexts, countRoom(maxCharacters, ...shownRows));
	const items = shownRows.map((row, index) => ({ ...row, text: texts[index] ?? '' }));
	const isComplete = mails.every(({ text }, index) => text === texts[index]);
	const [firstMail, secondMail] = mails;
	if (!firstMail || isComplete) return { items };
	const shownText = texts[0] === remainingTexts[0] ? texts[0] : texts[0]?.slice(0, -1);
	const nextIds = mails.slice(shownRows.length, shownRows.length + 20).map(({ summary }) => summary.id);
	const note = secondMail
		? `Emails 1 to ${shownRows.length} of ${mails.length} are shown. A text that ends with … is shortened: to get all of it, read that email alone by its ID. ${nextIds.length > 0 ? `Read the next ones by their IDs: ${nextIds.join(', ')}` : ''}`
		: describePart(shownText ?? '', startCharacter, firstMail.text.length, quoteField('startCharacter'));
	return { items, note };
}
