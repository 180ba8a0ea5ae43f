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
			isCut &&
				'A text that ends with … is shortened: read the email by its ID to get all of it.',
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

/**
 * Converts one email, or as many emails of a conversation as have room, without HTML.
 * @param startCharacter counts the texts of a conversation as one text, with a line break between
 * two of them
 */
export function toMailAnswer(
	mails: readonly Mail[],
	startCharacter: number,
	includeHeaders: boolean,
): ModelAnswer {
	const totalLength = joinTexts(mails).length;
	const describe = (shownLength: number, isCut: boolean) => {
		const isAllShown = startCharacter + shownLength >= totalLength;
		if (startCharacter === 0 && isAllShown) return undefined;
		const lineBreakLength = isCut || isAllShown ? 0 : 1;
		return describeTextPart(shownLength + lineBreakLength, startCharacter, totalLength);
	};
	const nextMails = skipCharacters(mails, startCharacter);
	const entries = nextMails.map((mail) => ({
		...toFacts(mail, includeHeaders),
		text: mail.text,
	}));
	const shownCount = countShownEntries({ entries });
	const [mail] = nextMails;
	if (mail && shownCount === 1) {
		const part = { name: 'text', text: mail.text };
		return buildModelAnswer(toFacts(mail, includeHeaders), part, describe);
	}
	const shownLength = joinTexts(nextMails.slice(0, shownCount)).length;
	return { items: entries.slice(0, shownCount), note: describe(shownLength, false) };
}

const joinTexts = (mails: readonly Mail[]) => mails.map(({ text }) => text).join('\n');

function skipCharacters([mail, ...otherMails]: readonly Mail[], count: number): Mail[] {
	if (!mail) return [];
	const { text } = mail;
	if (otherMails.length > 0 && count > text.length)
		return skipCharacters(otherMails, count - text.length - 1);
	return [{ ...mail, text: text.slice(count) }, ...otherMails];
}

/** Finds the label of an email that a model must not take for one that was sent or received. */
export const findUnusualLabel = (labelIds: readonly string[]) =>
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
