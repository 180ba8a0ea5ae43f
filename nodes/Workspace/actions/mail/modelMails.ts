import { shorten } from '../../../core/errors';
import { countFitting, countRoom, describePart, fitText, type ModelAnswer } from '../../../core/modelAnswer';
import { quoteField } from '../../../fields/field';
import type { Mail, MailSummary } from '../../../untrusted/mail/readMail';

/** A snippet is a taste of an email. */
const maxSnippet = 100;
/** A list of texts shows fewer emails rather than less of each. */
const minText = 200;

type ListedMail = Pick<MailSummary, 'id' | 'threadId'> & Partial<MailSummary & Pick<Mail, 'text'>>;

/** Where a list continues: after the first emails of the page that a token of Gmail gives, or of the first page. */
export function parsePageToken(given: string): { readonly token: string; readonly skip: number } {
	const [, skip = '0', token = given] = /^(\d+)@(.*)$/s.exec(given) ?? [];
	return { token, skip: Number(skip) };
}

/** The emails of a list as rows that fit, and how to get the next ones. */
export function toListAnswer(
	mails: readonly ListedMail[],
	nextPageToken: string | undefined,
	pageToken: string,
	characters: number,
): ModelAnswer {
	const least = mails.map((mail) => toRow(mail, mail.text?.slice(0, minText)));
	const shown = mails.slice(0, countFitting(least, countRoom(characters)));
	const { token, skip } = parsePageToken(pageToken);
	const isCut = shown.length < mails.length;
	const next = isCut ? `${skip + shown.length}@${token}` : nextPageToken;
	const items = shareTexts(shown, characters);
	const more = nextPageToken === undefined ? '' : ' or more';
	const end = skip + shown.length;
	const note = [
		`Emails ${shown.length === 0 ? 0 : skip + 1} to ${end} of ${skip + mails.length}${more} are shown, newest first${token === '' ? '' : ', counted from that page token'}.`,
		items.some(({ text }, at) => text !== shown[at]?.text) &&
			'A text that ends with … is shortened: read the email by its ID to get all of it.',
		next !== undefined && `To get the next ones, call again with ${quoteField('pageToken')}: ${next}`,
	];
	return { items, note: note.filter(Boolean).join(' ') };
}

function toRow({ id, threadId, date, sender, subject, snippet = '', status }: ListedMail, text?: string) {
	if (status === undefined) return { id, threadId };
	const about = { id, date, sender, subject, status };
	return text === undefined ? { ...about, snippet: shorten(snippet, maxSnippet) } : { ...about, text };
}

/** Rows whose texts share what the others leave: a short one leaves more to those after it. */
function shareTexts(
	mails: readonly ListedMail[],
	characters: number,
): Array<ReturnType<typeof toRow> & { text?: string }> {
	let room = countRoom(characters, ...mails.map((mail) => toRow(mail, mail.text && '…')));
	return mails.map((mail, at) => {
		if (mail.text === undefined) return toRow(mail);
		const text = fitText(mail.text, room / (mails.length - at));
		room -= JSON.stringify(text).length;
		return toRow(mail, text === mail.text ? text : `${text}…`);
	});
}

/** Emails without their HTML, their texts shortened to share the room. */
export function toMailAnswer(
	mails: ReadonlyArray<Pick<Mail, 'summary' | 'cc' | 'text' | 'attachments' | 'headers'>>,
	{ startCharacter, includeHeaders }: { readonly startCharacter: number; readonly includeHeaders: boolean },
	characters: number,
): ModelAnswer {
	const about = mails.map(({ summary, cc, attachments, headers }) => {
		const { id, threadId, date, sender, to, subject, status } = summary;
		const files = attachments.map(({ fileName, mimeType, size }) => ({ fileName, mimeType, size }));
		const more = { ...(cc !== '' && { cc }), ...(includeHeaders && { headers }) };
		return { id, threadId, date, sender, to, ...more, subject, status, attachments: files };
	});
	const shown = about.slice(0, countFitting(about, countRoom(characters) * 0.8));
	let room = countRoom(characters, ...shown) - shown.length * 20;
	const items = shown.map((one, at) => {
		const rest = mails[at]?.text.slice(startCharacter) ?? '';
		const text = fitText(rest, room / (shown.length - at));
		room -= JSON.stringify(text).length;
		return { ...one, text: text === rest ? text : `${text}…` };
	});
	return { items, note: describeMails(items, mails, startCharacter) };
}

function describeMails(
	items: ReadonlyArray<{ readonly text: string }>,
	mails: ReadonlyArray<Pick<Mail, 'summary' | 'text'>>,
	start: number,
): string | undefined {
	const [first] = mails;
	const isPart = items.some(({ text }, at) => text !== mails[at]?.text);
	if (!isPart && items.length === mails.length) return undefined;
	if (first && mails.length === 1) {
		const shown = items[0]?.text.replace(/…$/, '') ?? '';
		return describePart(shown, start, first.text.length, quoteField('startCharacter'));
	}
	const others = mails.slice(items.length, items.length + 20).map(({ summary }) => summary.id);
	return [
		`Emails 1 to ${items.length} of ${mails.length} are shown.`,
		isPart && 'A text that ends with … is shortened: read that email alone, by its ID, to get all of it.',
		others.length > 0 && `Read the next ones by their IDs: ${others.join(', ')}`,
	]
		.filter(Boolean)
		.join(' ');
}
