import { setImmediate as turn } from 'node:timers/promises';
import type { IExecuteFunctions } from 'n8n-workflow';

import { asFailure } from '../../items/errorItem';
import { type Failure, isFailure } from '../../items/failure';
import type { NodeParameters } from '../../items/nodeParameters';
import { type CheckedItem, checkedItem, readCredentials } from './call';
import { stoppedBeforeCall } from './failures';
import { KeptTexts } from './payload';

export type Checked = CheckedItem | { readonly failure: Failure };

/** n8n does everything else between two slices: expressions of thousands of items take seconds. */
const sliceMilliseconds = 20;

/**
 * Checks all items before anything is sent, so that a mistake in the last one does not leave the others sent.
 * @returns by input item; to the first refusal only, when that stops the node. None can be sent when the execution was stopped
 */
export async function checkItems(context: IExecuteFunctions, parameters: NodeParameters): Promise<Checked[]> {
	const items = context.getInputData();
	if (items.length === 0) return [];
	const credentials = await readCredentials(context).catch(asFailure);
	const texts = new KeptTexts();
	const checkOne = (index: number): Checked => {
		if (isFailure(credentials)) return { failure: credentials };
		try {
			return checkedItem(parameters, index, credentials, texts);
		} catch (error) {
			return { failure: asFailure(error) };
		}
	};
	const checked: Checked[] = [];
	let sliceEnd = performance.now() + sliceMilliseconds;
	for (let index = 0; index < items.length; index++) {
		const one = checkOne(index);
		checked.push(one);
		if ('failure' in one && !context.continueOnFail()) break;
		if (performance.now() < sliceEnd) continue;
		await turn();
		if (context.getExecutionCancelSignal()?.aborted)
			return items.map(() => ({ failure: stoppedBeforeCall() }));
		sliceEnd = performance.now() + sliceMilliseconds;
	}
	return checked;
}
