import { setTimeout as sleep } from 'node:timers/promises';

import { Failure, isFailure } from '../../../../core/failure';
import type { Clients, Item } from '../../../operation';
import { sentMail, type SentMail } from './deliver';
import { headerOf } from '../../../../untrusted/mail/headers';
import { markerHeader } from './headerFields';

/** Milliseconds to wait before each look, because Gmail lists an email only some time after it was sent. */
const looks = [0, 1_000, 3_000];
/** How many of the newest sent emails are checked. */
const newest = 20;

/**
 * The email with the item's marker, for when the connection broke during sending and the outcome is unknown.
 * @throws Failure with the same code that says so, because an email that is not found may still have been
 * sent
 */
export async function findSent(client: Clients, failure: Failure, item: Item): Promise<SentMail> {
	let trouble: string | undefined;
	for (const wait of looks) {
		try {
			await sleep(wait, undefined, { signal: item.signal });
			const found = await look(client, item.token);
			if (found) return found;
		} catch (error) {
			// The failure of the send is the one to report. This one explains why nothing more is known.
			trouble = troubleOf(error);
			break;
		}
	}
	throw unknownFate(failure, trouble);
}

async function look({ gmail }: Clients, marker: string): Promise<SentMail | undefined> {
	const { data } = await gmail.users.messages.list({
		userId: 'me',
		labelIds: ['SENT'],
		maxResults: newest,
		fields: 'messages/id',
	});
	for (const { id } of data.messages ?? []) {
		const message = await gmail.users.messages.get({
			userId: 'me',
			id: id ?? '',
			format: 'metadata',
			metadataHeaders: [markerHeader],
			fields: 'id,threadId,labelIds,payload/headers',
		});
		if (headerOf(message.data, markerHeader)?.split(/\s/, 1)[0] === marker) return sentMail(message.data);
	}
	return undefined;
}

function troubleOf(error: unknown): string {
	if (isFailure(error) && error.code === 403) {
		return 'This credential is not allowed to read the mailbox (scope gmail.readonly), so the node could not look for the email.';
	}
	return 'The node could not look for the email in the mailbox.';
}

function unknownFate(failure: Failure, trouble: string | undefined): Failure {
	const searched = trouble ?? `It is not among the newest sent emails, but Gmail may list it later.`;
	return new Failure({
		code: failure.code,
		status: failure.status,
		message: `The email may have been sent: ${failure.message}`,
		description: `${searched} Check the Sent folder in Gmail before you run this item again. The node did not send it a second time.`,
		ambiguous: true,
		cause: failure,
	});
}
