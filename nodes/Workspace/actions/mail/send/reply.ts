import type { Clients, Item } from '../../../operation';
import { headerOf } from '../../../../untrusted/mail/headers';

/** What a reply takes from the email that it answers. */
export interface RepliedMail {
	readonly threadId: string;
	/** Includes the angle brackets; undefined for an email without a Message-ID. */
	readonly messageId: string | undefined;
	readonly references: string | undefined;
	readonly subject: string;
}

/** @throws Failure; 404 if there is no such email */
export async function repliedMail({ gmail }: Clients, id: string): Promise<RepliedMail> {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: ['Message-ID', 'References', 'In-Reply-To', 'Subject'],
		fields: 'threadId,payload/headers',
	});
	const messageId = headerOf(data, 'Message-ID');
	// RFC 5322, 3.6.4.
	const earlier = headerOf(data, 'References') ?? headerOf(data, 'In-Reply-To');
	const references = [earlier, messageId].filter(Boolean).join(' ');
	return {
		threadId: data.threadId ?? '',
		messageId,
		references: references || undefined,
		subject: headerOf(data, 'Subject') ?? '',
	};
}

export function hintAboutThread(subject: string, { subject: replied }: RepliedMail, item: Item): void {
	if (bare(subject) === bare(replied)) return;
	item.hint(
		"The subject differs from the subject of the original email, so Gmail may not show the reply in the same conversation. To keep the conversation, use the same subject, with or without 'Re:'.",
	);
}

/** The subject without the prefixes of replies and forwards, which do not count. */
function bare(subject: string): string {
	return subject.trim().replace(/^(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\])?:\s*)+/i, '');
}
