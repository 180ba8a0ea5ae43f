/** Answers to a model that contain emails. */
import type { IDataObject } from 'n8n-workflow';

import { joinSentences, shorten } from '../../../core/text';
import { buildModelAnswer, countShownEntries, type ModelAnswer } from '../../../core/modelAnswer';
import { describeTextPart } from '../../../fields/commonOptions';
import { quoteField } from '../../../fields/field';
import type { Mail } from '../../../untrusted/mail/readMail';
import { buildPageToken, type ListedMail, type MailList, parsePageToken } from './mailList';

const maxSnippetLength = 100;
/**
 * A list shows an email only if this many characters of its text have room. It shows fewer emails
 * rather than shorter texts.
 */
const minTextLength = 200;
const adviseReading = (way = '') =>
	`A text that ends with … is shortened: read the email by its ID${way} to get all of it.`;

const toListPart = (entries: MailList['entries']) => ({
	entries: entries.map(({ message }) => toRow(message)),
	minTextLength,
});

/** Returns the first emails of a list, as many as an answer has room for. */
export const takeShownEntries = (entries: MailList['entries']) =>
	entries.slice(0, countShownEntries(toListPart(entries)));

/**
 * Converts a list to as many rows as have room, and a note that says how to get the next emails.
 */
export function toListAnswer(
	list: MailList,
	pageToken: string,
	changesLabels: boolean,
): ModelAnswer {
	const start = parsePageToken(pageToken);
	return buildModelAnswer({}, toListPart(list.entries), (shownCount, isCut) => {
		const lastNumber = start.skipCount + shownCount;
		const isAllShown = shownCount === list.entries.length;
		const nextToken = isAllShown
			? list.nextPageToken
			: buildPageToken(lastNumber, start.gmailPageToken);
		return joinSentences(
			describeShownMails(list, start, lastNumber),
			isCut && adviseReading(),
			nextToken && adviseNextCall(nextToken, changesLabels),
		);
	});
}

function describeShownMails(
	{ entries, nextPageToken }: MailList,
	{ gmailPageToken, skipCount }: ReturnType<typeof parsePageToken>,
	lastNumber: number,
): string {
	const shown = lastNumber === skipCount ? '0 to 0' : `${skipCount + 1} to ${lastNumber}`;
	const more = nextPageToken === undefined ? '' : ' or more';
	const total = `${skipCount + entries.length}${more}`;
	const start = gmailPageToken === '' ? '' : ', counted from that page token';
	return `Emails ${shown} of ${total} are shown, newest first${start}.`;
}

/**
 * Emails whose labels have changed may be gone from the list. A token that skips them would then
 * skip others.
 */
function adviseNextCall(nextToken: string, changesLabels: boolean): string {
	const way = changesLabels ? ' in the same way. If these emails come again, call' : '';
	return `To get the next ones, call again${way} with ${quoteField('pageToken')}: ${nextToken}`;
}

/** Converts an email of a list to a row, with its text or else with the snippet. */
function toRow(mail: ListedMail): IDataObject {
	// Without the option Details, an email has only its IDs.
	if (mail.status === undefined) return { ...mail };
	const { id, date, sender, subject, status, text, labelIds = [] } = mail;
	const row = { id, date, sender, subject, status, label: findUnusualLabel(labelIds) };
	return text === undefined
		? { ...row, snippet: shorten(mail.snippet ?? '', maxSnippetLength) }
		: { ...row, text };
}

/** Converts one email, without HTML. */
export function toMailAnswer(
	mail: Mail,
	startCharacter: number,
	includeHeaders: boolean,
): ModelAnswer {
	const part = { name: 'text', text: mail.text.slice(startCharacter) };
	return buildModelAnswer(toFacts(mail, includeHeaders), part, (shownLength, isCut) =>
		isCut || startCharacter > 0
			? describeTextPart(shownLength, startCharacter, mail.text.length)
			: undefined,
	);
}

/** Converts the emails of a conversation to as many entries as have room, without HTML. */
export function toConversationAnswer(mails: readonly Mail[], includeHeaders: boolean): ModelAnswer {
	const entries = mails.map((mail) => ({ ...toFacts(mail, includeHeaders), text: mail.text }));
	return buildModelAnswer({}, { entries, minTextLength }, (shownCount, isCut) => {
		const otherIds = mails.slice(shownCount).map(({ summary }) => summary.id);
		return joinSentences(
			`Emails 1 to ${shownCount} of ${mails.length} are shown, oldest first.`,
			isCut && adviseReading(`, without ${quoteField('wholeConversation')},`),
			otherIds.length > 0 &&
				`To get the others, read them by their IDs: ${otherIds.join(', ')}`,
		);
	});
}

/** Finds the label of an email that a model must not take for one that was sent or received. */
const findUnusualLabel = (labelIds: readonly string[]) =>
	labelIds.find((label) => ['DRAFT', 'SPAM', 'TRASH'].includes(label))?.toLowerCase();

/** Lists what a model should know of an email, beside its text. */
const toFacts = (
	{ summary, cc, attachments, headers }: Mail,
	includeHeaders: boolean,
): IDataObject => ({
	id: summary.id,
	threadId: summary.threadId,
	date: summary.date,
	sender: summary.sender,
	to: summary.to,
	cc: cc || undefined,
	headers: includeHeaders ? headers : undefined,
	subject: summary.subject,
	status: summary.status,
	label: findUnusualLabel(summary.labelIds),
	attachments: attachments.map(({ fileName, mimeType, size }) => ({ fileName, mimeType, size })),
});
