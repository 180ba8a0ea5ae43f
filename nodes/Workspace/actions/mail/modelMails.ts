/** Answers to a model that contain emails. */
import type { IDataObject } from 'n8n-workflow';

import { joinSentences, shorten } from '../../../core/text';
import { buildModelAnswer, countShownEntries, type ModelAnswer } from '../../../core/modelAnswer';
import { describeTextPart } from '../../../fields/commonOptions';
import { quoteField } from '../../../fields/field';
import {
	buildPageToken,
	type MailItem,
	type MailList,
	type OutputMail,
	parsePageToken,
} from './mailList';

const maxSnippetLength = 100;
/**
 * A list shows an email only if this many characters of its text have room. It shows fewer emails
 * rather than shorter texts.
 */
const minTextLength = 200;
const adviseReading = (way = '') =>
	`A text that ends with … is shortened: read the email by its ID${way} to get all of it.`;

const toListPart = (entries: MailList['entries']) => ({
	entries: entries.map(({ json }) => toRow(json)),
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
	const { entries, nextPageToken } = list;
	const { skipCount, gmailPageToken } = parsePageToken(pageToken);
	const total = nextPageToken === undefined ? entries.length : `${entries.length} or more`;
	return buildModelAnswer({}, toListPart(entries), (shownCount, isCut) => {
		const nextToken =
			shownCount === entries.length
				? nextPageToken
				: buildPageToken(skipCount + shownCount, gmailPageToken);
		return joinSentences(
			`${shownCount} of ${total} emails are shown, newest first.`,
			isCut && adviseReading(),
			nextToken && adviseNextCall(nextToken, changesLabels),
		);
	});
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
function toRow(mail: OutputMail): IDataObject {
	// Without the option Details, an email has only its IDs.
	if (mail.status === undefined) return { ...mail };
	const { id, date, sender, subject, status, text, labelIds } = mail;
	const row = { id, date, sender, subject, status, label: findUnusualLabel(labelIds) };
	return text === undefined
		? { ...row, snippet: shorten(mail.snippet ?? '', maxSnippetLength) }
		: { ...row, text };
}

/** Converts an email or the emails of its conversation, without HTML. */
export function toReadAnswer(
	emails: MailItem[],
	{ startCharacter }: { readonly startCharacter: number },
): ModelAnswer {
	const [email, ...otherEmails] = emails;
	if (!email || otherEmails.length > 0) return toConversationAnswer(emails);
	const { text = '' } = email.json;
	const part = { name: 'text', text: text.slice(startCharacter) };
	return buildModelAnswer(toFacts(email.json), part, (shownLength, isCut) =>
		isCut || startCharacter > 0
			? describeTextPart(shownLength, startCharacter, text.length)
			: undefined,
	);
}

/** Converts the emails of a conversation to as many entries as have room. */
function toConversationAnswer(emails: readonly MailItem[]): ModelAnswer {
	const entries = emails.map(({ json }) => ({ ...toFacts(json), text: json.text }));
	return buildModelAnswer({}, { entries, minTextLength }, (shownCount, isCut) => {
		const otherIds = emails.slice(shownCount).map(({ json }) => json.id);
		return joinSentences(
			`${shownCount} of ${emails.length} emails are shown, oldest first.`,
			isCut && adviseReading(`, without ${quoteField('wholeConversation')},`),
			otherIds.length > 0 &&
				`To get the others, read them by their IDs: ${otherIds.join(', ')}`,
		);
	});
}

/** Finds the label of an email that a model must not take for one that was sent or received. */
const findUnusualLabel = (labelIds: readonly string[] = []) =>
	labelIds.find((label) => ['DRAFT', 'SPAM', 'TRASH'].includes(label))?.toLowerCase();

/** Lists what a model should know of an email, beside its text. */
function toFacts(mail: OutputMail): IDataObject {
	const { id, threadId, date, sender, to, cc, headers, subject, status } = mail;
	const { labelIds, attachments = [] } = mail;
	return {
		id,
		threadId,
		date,
		sender,
		to,
		cc: cc || undefined,
		headers,
		subject,
		status,
		label: findUnusualLabel(labelIds),
		attachments: attachments.map(({ fileName, mimeType, size }) => ({
			fileName,
			mimeType,
			size,
		})),
	};
}
