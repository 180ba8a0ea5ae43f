/** Answers to a model that contain emails, shortened to the room that the answer has. */
import { shorten } from '../../../core/text';
import {
	countFitting,
	countRoom,
	describePart,
	fitText,
	type ModelAnswer,
} from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { Mail, MailSummary } from '../../../untrusted/mail/readMail';
import { buildPageToken, parsePageToken } from './list/pageToken';

const maxSnippetLength = 100;
/** A list shows an email only if this many characters of its text have room. It shows fewer emails rather than shorter texts. */
const minTextLength = 200;
/** The share of an answer's room that everything but the texts of the emails may take. */
const maxRowShare = 0.8;
const maxNextIds = 20;
/** Ends a shortened text. While the room for the texts is not known yet, it also stands in place of each text. */
const ellipsis = '…';
const shortenedNote = `A text that ends with ${ellipsis} is shortened:`;

/** Has only the IDs if the option Details is off, `attachments` if the whole email was fetched, and `text` if it was asked for. */
export type ListedMail = Pick<MailSummary, 'id' | 'threadId'> &
	Partial<MailSummary & Pick<Mail, 'text' | 'attachments'>>;

export interface MailList {
	readonly entries: ReadonlyArray<{ readonly message: ListedMail }>;
	readonly nextPageToken: string | undefined;
}

/** Returns the first emails of a list, as many as an answer has room for. */
export function takeShownMails(entries: MailList['entries']): ListedMail[] {
	const mails = entries.map(({ message }) => message);
	const rows = mails.map((mail) => toRow(mail, mail.text?.slice(0, minTextLength)));
	return mails.slice(0, countFitting(rows, countRoom()));
}

/** Converts a list to as many rows as have room, and a note that says how to get the next emails. */
export function toListAnswer(
	{ entries, nextPageToken }: MailList,
	pageToken: string,
	changesLabels: boolean,
): ModelAnswer {
	const shownMails = takeShownMails(entries);
	const rowsWithEllipsis = shownMails.map((mail) => toRow(mail, mail.text && ellipsis));
	const fullTexts = shownMails.map(({ text = '' }) => text);
	const texts = shareRoom(fullTexts, countRoom(...rowsWithEllipsis));
	const items = shownMails.map((mail, index) => toRow(mail, mail.text && texts[index]));
	const { gmailPageToken, skipCount } = parsePageToken(pageToken);
	const firstNumber = shownMails.length === 0 ? 0 : skipCount + 1;
	const lastNumber = skipCount + shownMails.length;
	const total = `${skipCount + entries.length}${nextPageToken === undefined ? '' : ' or more'}`;
	const order =
		gmailPageToken === '' ? 'newest first' : 'newest first, counted from that page token';
	const firstHiddenMail = entries[shownMails.length]?.message;
	const tooLongMail = shownMails.length === 0 ? firstHiddenMail : undefined;
	const nextSkipCount = tooLongMail ? skipCount + 1 : lastNumber;
	const nextToken = firstHiddenMail
		? buildPageToken(nextSkipCount, gmailPageToken)
		: nextPageToken;
	const tokenAssignment = `${quoteField('pageToken')}: ${nextToken ?? ''}`;
	// Emails whose labels have changed may be gone from the list. A token that skips them would then skip others.
	const continueAdvice = changesLabels
		? `To get the next ones, call again in the same way. If these emails come again, call with ${tokenAssignment}`
		: `To get the next ones, call again with ${tokenAssignment}`;
	const sentences = [
		`Emails ${firstNumber} to ${lastNumber} of ${total} are shown, ${order}.`,
		texts.some((text, index) => text !== fullTexts[index]) &&
			`${shortenedNote} read the email by its ID to get all of it.`,
		tooLongMail &&
			`The email ${tooLongMail.id} is too long to be shown here: read it by its ID.`,
		nextToken && continueAdvice,
	];
	return { items, note: sentences.filter(Boolean).join(' ') };
}

/** Converts an email of a list to a row, with a text or else with the snippet. */
function toRow(
	{ id, threadId, date, sender, subject, snippet = '', status }: ListedMail,
	text?: string,
) {
	// Without the option Details, an email has only its IDs.
	if (status === undefined) return { id, threadId };
	const row = { id, date, sender, subject, status };
	return text === undefined
		? { ...row, snippet: shorten(snippet, maxSnippetLength) }
		: { ...row, text };
}

/** Shortens texts so that together, not counting ellipses, they fit into the room. A short text leaves more room for the texts after it. */
function shareRoom(texts: readonly string[], room: number): string[] {
	let remainingRoom = room;
	return texts.map((text, index) => {
		const fittingText = fitText(text, remainingRoom / (texts.length - index));
		remainingRoom -= JSON.stringify(fittingText).length;
		return fittingText === text ? text : fittingText + ellipsis;
	});
}

/** Converts one email or a conversation to as many rows as have room, without HTML. The texts share the room that the rows leave. */
export function toMailAnswer(
	results: ReadonlyArray<{ readonly mail: Mail }>,
	{
		startCharacter,
		includeHeaders,
	}: { readonly startCharacter: number; readonly includeHeaders: boolean },
): ModelAnswer {
	const mails = results.map(({ mail }) => mail);
	const rows = mails.map(({ summary, cc, attachments, headers }) => {
		const { id, threadId, date, sender, to, subject, status } = summary;
		const files = attachments.map(({ fileName, mimeType, size }) => ({
			fileName,
			mimeType,
			size,
		}));
		const extras = { ...(cc !== '' && { cc }), ...(includeHeaders && { headers }) };
		return {
			id,
			threadId,
			date,
			sender,
			to,
			...extras,
			subject,
			status,
			attachments: files,
			text: ellipsis,
		};
	});
	const shownRows = rows.slice(0, countFitting(rows, countRoom() * maxRowShare));
	const remainingTexts = mails
		.slice(0, shownRows.length)
		.map(({ text }) => text.slice(startCharacter));
	const texts = shareRoom(remainingTexts, countRoom(...shownRows));
	const items = shownRows.map((row, index) => ({ ...row, text: texts[index] ?? '' }));
	const isComplete = mails.every(({ text }, index) => text === texts[index]);
	const [firstMail] = mails;
	if (!firstMail || isComplete) return { items };
	if (mails.length === 1) {
		const [text = ''] = texts;
		const shownText = text === remainingTexts[0] ? text : text.slice(0, -ellipsis.length);
		const fullLength = firstMail.text.length;
		return {
			items,
			note: describePart(shownText, startCharacter, fullLength, quoteField('startCharacter')),
		};
	}
	const nextIds = mails.slice(shownRows.length).map(({ summary }) => summary.id);
	const nextMails =
		nextIds.length > 0
			? `Read the next ones by their IDs: ${nextIds.slice(0, maxNextIds).join(', ')}`
			: '';
	const note = `Emails 1 to ${shownRows.length} of ${mails.length} are shown. ${shortenedNote} to get all of it, read that email alone by its ID. ${nextMails}`;
	return { items, note };
}
