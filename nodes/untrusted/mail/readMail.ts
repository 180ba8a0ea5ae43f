import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { headersOf } from './headers';
import { snippetText } from './snippet';

/** The fields that are returned for every email. */
export interface Summary {
	readonly id: string;
	readonly threadId: string;
	readonly snippet: string;
	readonly subject: string;
	/** As in the email: name and address. */
	readonly sender: string;
	readonly to: string;
	/** When Gmail received it, ISO 8601 in UTC; '' if Gmail does not say. */
	readonly date: string;
	readonly status: 'read' | 'unread';
	readonly labelIds: string[];
}

/** Headers needed for a summary. */
export const summaryHeaders = ['Subject', 'From', 'To'];

export function summaryOf(message: gmail_v1.Schema$Message): Summary {
	const { id, threadId, snippet, labelIds, internalDate } = message;
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		snippet: snippetText(snippet ?? ''),
		subject: headersOf(message, 'Subject')[0] ?? '',
		sender: headersOf(message, 'From').join(', '),
		to: headersOf(message, 'To').join(', '),
		// The Date header is set by the sender; this time is Gmail's.
		date: internalDate ? new Date(Number(internalDate)).toISOString() : '',
		status: labelIds?.includes('UNREAD') ? 'unread' : 'read',
		labelIds: labelIds ?? [],
	};
}
