/** Answers to a model that contain emails. */
import type { IDataObject } from 'n8n-workflow';

import { shorten } from '../../../core/text';
import {
	buildModelAnswer,
	describeTextPart,
	fitEntries,
	type ModelAnswer,
} from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { Mail, MailSummary } from '../../../untrusted/mail/readMail';
import { buildPageToken, parsePageToken } from './list/pageToken';

const maxSnippetLength = 100;
/** A list shows an email only if this many characters of its text have room. It shows fewer emails rather than shorter texts. */
const minTextLength = 200;
const maxNextIds = 20;
const shortenedNote = 'A text that ends with … is shortened:';

/** Has only the IDs if the option Details is off, `attachments` if the whole email was fetched, and `text` if it was asked for. */
export type ListedMail = Pick<MailSummary, 'id' | 'threadId'> &
	Partial<MailSummary & Pick<Mail, 'text' | 'attachments'>>;

export interface MailList {
	readonly entries: ReadonlyArray<{ readonly message: ListedMail }>;
	readonly nextPageToken: string | undefined;
}

const toListPart = (entries: MailList['entries']) => ({
	entries: entries.map(({ message }) => toRow(message)),
	minTextLength,
});

/** Returns the first emails of a list, as many as an answer has room for. */
export function takeShownMails(entries: MailList['entries']): ListedMail[] {
	const { shownEntries } = fitEntries(toListPart(entries));
	return entries.slice(0, shownEntries.length).map(({ message }) => message);
}

/** Converts a list to as many rows as have room, and a note that says how to get the next emails. */
export function toListAnswer(
	list: MailList,
	pageToken: string,
	changesLabels: boolean,
): ModelAnswer {
	return buildModelAnswer({}, toListPart(list.entries), (shownCount, isCut) => {
		const { entries, nextPageToken } = list;
		const { gmailPageToken, skipCount } = parsePageToken(pageToken);
		const lastNumber = skipCount + shownCount;
		const firstNumber = shownCount === 0 ? 0 : skipCount + 1;
		const more = nextPageToken === undefined ? '' : ' or more';
		const order = gmailPageToken === '' ? '' : ', counted from that page token';
		const isAllShown = shownCount === entries.length;
		const sentences = [
			`Emails ${firstNumber} to ${lastNumber} of ${skipCount + entries.length}${more} are shown, newest first${order}.`,
		];
		if (isCut) sentences.push(`${shortenedNote} read the email by its ID to get all of it.`);
		const nextToken = isAllShown ? nextPageToken : buildPageToken(lastNumber, gmailPageToken);
		if (nextToken) sentences.push(adviseNextCall(nextToken, changesLabels));
		return sentences.join(' ');
	});
}

/** Emails whose labels have changed may be gone from the list. A token that skips them would then skip others. */
function adviseNextCall(nextToken: string, changesLabels: boolean): string {
	const assignment = `${quoteField('pageToken')}: ${nextToken}`;
	return changesLabels
		? `To get the next ones, call again in the same way. If these emails come again, call with ${assignment}`
		: `To get the next ones, call again with ${assignment}`;
}

/** Converts an email of a list to a row, with its text or else with the snippet. */
function toRow(mail: ListedMail): IDataObject {
	const { id, threadId, date, sender, subject, snippet = '', status, text } = mail;
	// Without the option Details, an email has only its IDs.
	if (status === undefined) return { id, threadId };
	const row = { id, date, sender, subject, status };
	return text === undefined
		? { ...row, snippet: shorten(snippet, maxSnippetLength) }
		: { ...row, text };
}

interface MailAnswerParams {
	readonly startCharacter: number;
	readonly includeHeaders: boolean;
}

/** Converts one email or a conversation to what an answer has room for, without HTML. */
export function toMailAnswer(
	results: ReadonlyArray<{ readonly mail: Mail }>,
	params: MailAnswerParams,
): ModelAnswer {
	const mails = results.map(({ mail }) => mail);
	const [firstMail] = mails;
	if (!firstMail || mails.length > 1) return toConversationAnswer(mails, params);
	const { startCharacter } = params;
	const { length } = firstMail.text;
	const part = { name: 'text', text: firstMail.text.slice(startCharacter) };
	return buildModelAnswer(toFacts(firstMail, params), part, (shownLength, isCut) => {
		if (startCharacter === 0 && !isCut) return undefined;
		const parameter = quoteField('startCharacter');
		return describeTextPart(shownLength, startCharacter, length, parameter);
	});
}

function toConversationAnswer(mails: readonly Mail[], params: MailAnswerParams): ModelAnswer {
	const entries = mails.map((mail) => ({ ...toFacts(mail, params), text: mail.text }));
	return buildModelAnswer({}, { entries, minTextLength }, (shownCount, isCut) => {
		if (!isCut) return undefined;
		const sentences = [
			`Emails 1 to ${shownCount} of ${mails.length} are shown.`,
			`${shortenedNote} to get all of it, read that email alone by its ID.`,
		];
		const nextIds = mails
			.slice(shownCount, shownCount + maxNextIds)
			.map(({ summary }) => summary.id);
		if (nextIds.length > 0)
			sentences.push(`Read the next ones by their IDs: ${nextIds.join(', ')}`);
		return sentences.join(' ');
	});
}

function toFacts(
	{ summary, cc, attachments, headers }: Mail,
	{ includeHeaders }: MailAnswerParams,
): IDataObject {
	const { id, threadId, date, sender, to, subject, status } = summary;
	const facts: IDataObject = { id, threadId, date, sender, to };
	if (cc !== '') facts.cc = cc;
	if (includeHeaders) facts.headers = headers;
	facts.subject = subject;
	facts.status = status;
	facts.attachments = attachments.map(({ fileName, mimeType, size }) => ({
		fileName,
		mimeType,
		size,
	}));
	return facts;
}
