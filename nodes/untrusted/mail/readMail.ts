import { decodeHTML } from 'entities/decode';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeHeader } from './charset';
import { getDecodedHeader, getRawHeader, joinAddresses, type MimePart } from './mimePart';
import { keepNewText } from './newText';
import { type TextOptions, readContent } from './readContent';

export interface MailInput extends TextOptions {
	readonly message: gmail_v1.Schema$Message;
	/** Whether to leave out the signature, and earlier messages that a reply quotes. */
	readonly newTextOnly?: boolean;
}

/** An email as it is in the mailbox. Addresses are the texts of the headers. */
export type Mail = ReturnType<typeof readMail>;

/** Reads the parts of an email that strangers control: structure, headers, charsets and text. */
export function readMail(input: MailInput) {
	const { message } = input;
	const payload = message.payload ?? {};
	const { files, html, missingTextIds, text, attachedTexts } = readContent(payload, input);
	const ownText = input.newTextOnly ? findNewText(text, payload) : text;
	return {
		summary: buildSummary(message, payload),
		/** What Read returns beside the summary. */
		content: {
			cc: joinAddresses(payload, 'Cc'),
			bcc: joinAddresses(payload, 'Bcc'),
			replyTo: joinAddresses(payload, 'Reply-To'),
			/**
			 * Plain text, or text from the HTML, and then the texts of attached emails; '' without
			 * `withText`.
			 */
			text: [ownText, ...attachedTexts].filter((part) => part !== '').join('\n\n'),
			/** '' for an email without HTML. */
			html,
			attachments: files.map(({ info }) => info),
		},
		/** All headers in their original order. A name may occur several times. */
		headers: (payload.headers ?? []).map(({ name, value }) => ({
			name: name ?? '',
			value: decodeHeader(value ?? ''),
		})),
		/** The files, also those in attached emails. An attached email is a file itself. */
		files,
		/**
		 * Attachment IDs of texts that Gmail stores separately and that the input lacks. `text` is
		 * incomplete without these texts.
		 */
		missingTextIds,
	};
}

function findNewText(text: string, payload: MimePart): string {
	const earlierIds = getRawHeader(payload, 'In-Reply-To') + getRawHeader(payload, 'References');
	const subject = getDecodedHeader(payload, 'Subject');
	return keepNewText(text, { subject, hasReplyHeader: earlierIds !== '' });
}

/** Builds the fields that are returned for every email. */
function buildSummary(message: gmail_v1.Schema$Message, payload: MimePart) {
	const date = new Date(Number(message.internalDate || NaN));
	return {
		id: message.id ?? '',
		threadId: message.threadId ?? '',
		snippet: cleanSnippet(message.snippet ?? ''),
		subject: getDecodedHeader(payload, 'Subject'),
		/** Name and address, as in the From header. */
		sender: joinAddresses(payload, 'From'),
		to: joinAddresses(payload, 'To'),
		/**
		 * The time at which Gmail received the email, as ISO 8601 in UTC; '' if Gmail returns no
		 * time. The sender sets the Date header, so it is not used.
		 */
		date: Number.isNaN(date.getTime()) ? '' : date.toISOString(),
		status: message.labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: message.labelIds ?? [],
	};
}

/**
 * White space and invisible characters at both ends, with which senders pad the preview of an
 * email.
 */
const paddingPattern =
	/^[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]+|(?<![\s\u00ad\u034f\u200b-\u200d\u2060\ufeff])[\s\u00ad\u034f\u200b-\u200d\u2060\ufeff]+$/g;

/** Decodes the HTML escapes of Gmail's preview text, and removes the padding. */
const cleanSnippet = (snippet: string) => decodeHTML(snippet).replaceAll(paddingPattern, '');
