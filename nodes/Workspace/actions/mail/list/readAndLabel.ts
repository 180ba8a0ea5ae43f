import { createRefusal, isNodeError, toError } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { LabelParams } from './fields';
import { resolveLabelIds } from './query';

/** Gmail's limit for one request. */
const maxIdsPerRequest = 1000;

/**
 * Reads emails, and then changes their labels. Looks up the labels first, so that an unknown label fails before any email is read.
 * If a request for the change fails after an earlier one succeeded, or with an unknown outcome, returns the emails and adds a hint.
 * @param getReturnedIds returns the IDs of the emails that the workflow gets; only their labels change
 * @throws NodeError if an email could not be read, or if certainly no label was changed
 */
export async function readAndLabel<R>(
	clients: Clients,
	{ markAsRead, addLabels, removeLabels }: LabelParams,
	item: Item,
	readEmails: () => Promise<R>,
	getReturnedIds: (result: R) => readonly string[],
): Promise<R> {
	const addLabelIds = await resolveLabelIds(clients, addLabels, 'addLabels', item);
	// Gmail marks an email as read by removing the label UNREAD.
	const labelsToRemove = markAsRead ? ['UNREAD', ...removeLabels] : removeLabels;
	const removeLabelIds = [
		...new Set(await resolveLabelIds(clients, labelsToRemove, 'removeLabels', item)),
	];
	const contradictoryId = addLabelIds.find((id) => removeLabelIds.includes(id));
	if (contradictoryId !== undefined)
		throw createRefusal(
			`The label ${contradictoryId} would be both added and removed`,
			'Nothing was changed. Choose one.',
		);
	const result = await readEmails();
	if (addLabelIds.length + removeLabelIds.length === 0) return result;
	const ids = getReturnedIds(result);
	for (let start = 0; start < ids.length; start += maxIdsPerRequest) {
		const requestBody = {
			ids: ids.slice(start, start + maxIdsPerRequest),
			addLabelIds,
			removeLabelIds,
		};
		// A POST is not retried by default, but this one has no further effect if it is sent twice.
		const retryConfig = { httpMethodsToRetry: ['POST'] };
		const request = clients.gmail.users.messages.batchModify(
			{ userId: 'me', requestBody },
			{ retryConfig },
		);
		const error = await request.then(() => undefined, toError);
		if (!error) continue;
		if (!isNodeError(error) || (start === 0 && error.outcome === 'notDone')) throw error;
		item.addHint(
			`The labels of the returned emails${start === 0 ? '' : ` after the first ${start}`} may not have been changed, so the next run may get them again: ${error.message}. Check ${quoteField('markAsRead')}, ${quoteField('addLabels')} and ${quoteField('removeLabels')} in Gmail.`,
		);
		break;
	}
	return result;
}
