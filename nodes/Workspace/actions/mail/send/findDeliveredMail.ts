import { setTimeout as sleep } from 'node:timers/promises';

import type { NodeError } from '../../../../core/errors';
import { endSentence } from '../../../../core/text';
import { toGoogleFailure } from '../../../google/errors';
import type { Clients, Item } from '../../../operation';
import { fetchMailWithMarker, listMailFolder, type MailFolder } from './mailFolder';

/**
 * Milliseconds to pause before each search, because Gmail lists an email only some time after it
 * was sent.
 */
const searchDelays = [0, 1_000, 3_000];
const maxSearchedMails = 20;

const claims = {
	sent: 'The email may have been sent',
	drafts: 'The draft may have been saved',
};

/**
 * After a failure with an unknown outcome (`cause`), finds the email by the ID in its marker.
 * @throws the failure if none is found
 */
export async function findDeliveredMail(
	clients: Clients,
	folder: MailFolder,
	cause: NodeError,
	item: Item,
) {
	let searchReport = 'Gmail does not list it, but may do so later.';
	for (const delay of searchDelays) {
		try {
			await sleep(delay, undefined, { signal: item.signal });
			for (const entry of await listMailFolder(clients, folder, maxSearchedMails)) {
				const { mail, markerId } = await fetchMailWithMarker(clients, entry);
				if (markerId === item.markerId) return mail;
			}
		} catch (error) {
			// The node reports the failure of the send. The failure of the search only explains why
			// nothing more is known.
			const failure = toGoogleFailure(error, item.log.bind(item));
			searchReport = `The node could not look for it in the mailbox: ${endSentence(failure.message)}`;
			break;
		}
	}
	throw cause.with({
		message: `${claims[folder]}: ${cause.message}`,
		description: `${searchReport} Look into the mailbox before you run this item again. The node did not try it a second time.`,
		outcome: 'unknown',
		saysOutcome: true,
	});
}
