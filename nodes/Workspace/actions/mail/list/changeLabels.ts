import { createRefusal, isNodeError, toError } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { LabelParams } from './fields';
import { resolveLabelIds } from './query';

/** Gmail's limit for one request. */
const maxIdsPerRequest = 1000;

/**
 * Reads emails, and then changes the labels of exactly those. Looks up the labels first, so that a missing one fails before any read.
 * @param getIds the IDs of the emails that the item gives out
 * @throws NodeError if certainly no label was changed; if some may have been, returns the emails and adds a hint
 */
export async function readAndLabel<R>(
	client: Clients,
	{ markAsRead, addLabels, removeLabels }: LabelParams,
	item: Item,
	read: () => Promise<R>,
	getIds: (result: R) => readonly string[],
): Promise<R> {
	const addLabelIds = await resolveLabelIds(client, addLabels, 'addLabels', item);
	const removed = await resolveLabelIds(client, removeLabels, 'removeLabels', item);
	const removeLabelIds = [...new Set([...(markAsRead ? ['UNREAD'] : []), ...removed])];
	const both = addLabelIds.find((id) => removeLabelIds.includes(id));
	if (both !== undefined) {
		throw createRefusal(
			`The label ${both} would be both added and removed`,
			'Nothing was changed. Choose one.',
		);
	}
	const result = await read();
	if (addLabelIds.length + removeLabelIds.length === 0) return result;
	const ids = getIds(result);
	for (let at = 0; at < ids.length; at += maxIdsPerRequest) {
		const requestBody = { ids: ids.slice(at, at + maxIdsPerRequest), addLabelIds, removeLabelIds };
		// It may be repeated: twice has the same effect as once.
		const retryConfig = { httpMethodsToRetry: ['POST'] };
		const changing = client.gmail.users.messages.batchModify({ userId: 'me', requestBody }, { retryConfig });
		const failure = await changing.then(() => undefined).catch(toError);
		if (!failure) continue;
		if (!isNodeError(failure) || (at === 0 && failure.outcome === 'notDone')) throw failure;
		item.addHint(
			`The labels of the returned emails${at === 0 ? '' : ` after the first ${at}`} may not have been changed, so the next run may get them again (item ${item.index}): ${failure.message}. Check ${quoteField('markAsRead')}, ${quoteField('addLabels')} and ${quoteField('removeLabels')} in Gmail.`,
		);
		break;
	}
	return result;
}
