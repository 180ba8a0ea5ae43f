import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { asFailure, errorItem, nodeError } from '../../items/errorItem';
import type { Failure } from '../../items/failure';
import { FinishedItems, isFailedTry } from '../../items/finishedItems';
import { NodeParameters } from '../../items/nodeParameters';
import { tryOfNode } from '../../items/tryOfNode';
import { systemClock } from '../session/clock';
import { connect } from '../session/connection';
import { contentOf } from './answer';
import { callOf, type CheckedItem, type PreparedCall } from './call';
import { type Checked, checkItems } from './check';
import { refusedBeforeCall, stoppedBeforeCall } from './failures';
import { parallelRequests } from './parameters';
import { execute, type Executed } from './request';
import { callAndWait, withMessages } from './wait';
import type { WaitSettings } from './waitSettings';

type Outcome = { readonly item: INodeExecutionData } | { readonly failure: Failure };

/** Works on all items, several at once; the output keeps the order of the input. */
export async function runItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const finished = new FinishedItems<Outcome>(tryOfNode(context));
	const goOn = context.continueOnFail();
	const parameters = new NodeParameters(context);
	const limit = pLimit(parallelRequests(parameters));
	const checked = await checkItems(context, parameters);
	let stopped = !goOn && checked.some((one) => 'failure' in one);
	const work = async (one: Checked, index: number): Promise<Outcome | undefined> => {
		if ('failure' in one) return one;
		if (stopped) return undefined;
		const outcome = await runItem(context, finished, one, index);
		stopped ||= 'failure' in outcome && !goOn;
		return outcome;
	};
	const outcomes = await Promise.all(checked.map((one, index) => limit(work, one, index)));

	const items = outcomes.flatMap((outcome, index) => {
		// Behind a failure that stops the node: never begun.
		if (!outcome) return [];
		if ('item' in outcome) return outcome.item;
		if (goOn) return errorItem(outcome.failure, index);
		finished.end(true);
		throw nodeError(context.getNode(), outcome.failure, index);
	});
	finished.end(isFailedTry(items));
	return items;
}

async function runItem(
	context: IExecuteFunctions,
	finished: FinishedItems<Outcome>,
	item: CheckedItem,
	index: number,
): Promise<Outcome> {
	// What an earlier try sent is not read again: its values may be out of date. A tool's is known by them only.
	const sent = finished.recall(index, undefined);
	if (sent) return sent;
	if (context.getExecutionCancelSignal()?.aborted) return { failure: stoppedBeforeCall() };
	let call: PreparedCall;
	try {
		call = callOf(context, item);
	} catch (error) {
		return { failure: refusedBeforeCall(asFailure(error)) };
	}
	const known = finished.recall(index, call.meaning);
	if (known) return known;
	const { outcome, reachedService } = await sendItem(context, index, call);
	if (reachedService) finished.remember(index, call.meaning, outcome);
	return outcome;
}

interface Sent {
	readonly outcome: Outcome;
	/** The service accepted the call, or may have: another try of the node must not send it again, even if the item failed. */
	readonly reachedService: boolean;
}

async function sendItem(context: IExecuteFunctions, index: number, call: PreparedCall): Promise<Sent> {
	const progress = { accepted: false };
	const send = async () => {
		const executed = await execute(context, call);
		progress.accepted = true;
		return executed;
	};
	try {
		const item = call.wait
			? await waitedItem(context, index, call, call.wait, send)
			: await outputItem(context, index, call, await send());
		return { outcome: { item }, reachedService: true };
	} catch (error) {
		const failure = asFailure(error);
		return {
			outcome: { failure },
			reachedService: progress.accepted || failure.ambiguous || failure.carriedOut,
		};
	}
}

async function waitedItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	settings: WaitSettings,
	send: () => Promise<Executed>,
): Promise<INodeExecutionData> {
	const { sessionId, readIdentity } = call;
	const signal = context.getExecutionCancelSignal();
	const log = context.logger;
	const parts = { sessionId, settings, readIdentity, signal, log, clock: systemClock, connect };
	const { called, waited } = await callAndWait(parts, send);
	return await withMessages(await outputItem(context, index, call, called), waited, context.helpers);
}

async function outputItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	{ sent, answer }: Executed,
): Promise<INodeExecutionData> {
	const { sessionId, userId, startStepName, timestamp } = sent;
	const content = contentOf(answer);
	const json: IDataObject = {
		sessionId,
		userId,
		startStepName,
		timestamp,
		statusCode: answer.statusCode,
		response: null,
	};
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (call.includeHeaders) json.headers = { ...answer.headers };
	if ('response' in content) {
		json.response = content.response as IDataObject;
	} else {
		const { bytes, fileName, mimeType } = content;
		item.binary = { data: await context.helpers.prepareBinaryData(bytes, fileName, mimeType) };
	}
	return item;
}
