import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { systemClock } from '../../core/clock';
import { toError, toNodeError } from '../../core/errors';
import { isTool } from '../../core/modelAnswer';
import { type CheckedItem, type PerformedItem, runItems, type Work } from '../../core/itemLoop';
import { Sanitizer, createSanitizedLog, findSecrets, showHints } from '../../core/sanitizer';
import { includeInputFieldsOption } from '../../fields/commonOptions';
import { RawParameters } from '../../fields/rawParameters';
import { createItemCredentialsReader } from '../session/credentials';
import { createConnectRequestReader } from '../session/connectRequest';
import { connect } from '../session/connection';
import * as calls from './call';
import { callAndWait } from './wait/callAndWait';
import * as errors from './errors';
import { buildHints } from './hints';
import { createLiveView, type LiveView } from './liveView';
import * as outputs from './output';
import { naming } from './parameters';
import type { ResponseContent } from './response';

/** The longest value of custom data, in characters. n8n cuts longer values. */
const maxCustomDataLength = 255;
/**
 * n8n's key for the session of a chat. Before version 2.20, n8n exports no constant for this key.
 */
const chatSessionKey = 'session_id';

/** What the items of one run share. */
interface AgentRunState {
	readonly context: IExecuteFunctions;
	readonly readCredentials: Awaited<ReturnType<typeof createItemCredentialsReader>>;
	/** Whether the input comes from a chat. */
	readonly isChat: boolean;
	readonly hints: Set<string>;
}

export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const inputItems = context.getInputData();
	if (inputItems.length === 0) return [];
	const readCredentials = await createItemCredentialsReader(context, inputItems.length);
	// Each item may have its own secrets, and to search for those of thousands takes long. So what
	// an item says is sanitized with its own ones before.
	const sanitizer = new Sanitizer();
	const isChat = inputItems.some(({ json }) => json.chatInput !== undefined);
	const run: AgentRunState = { context, readCredentials, isChat, hints: new Set() };
	try {
		return await runItems(context, createWork(run, sanitizer));
	} catch (error) {
		throw errors.putMessageIntoDescription(error, context);
	} finally {
		showHints(context, run.hints, sanitizer);
	}
}

function createWork(run: AgentRunState, sanitizer: Sanitizer): Work<calls.AgentCall> {
	const rawParameters = new RawParameters(run.context);
	return {
		sanitizer,
		// A call uses the credentials that are read here. Its channel reads them again.
		check: async (index) => {
			const credentials = await run.readCredentials(index);
			try {
				return calls.prepareCall(rawParameters, index, credentials);
			} catch (error) {
				throw new Sanitizer(findSecrets(credentials)).sanitizeError(toNodeError(error));
			}
		},
		getRequestIdentity: calls.getRequestIdentity,
		outputHasInputFields: () => rawParameters.findSavedValue(includeInputFieldsOption) === true,
		createStoppedError: errors.createStoppedBeforeCallError,
		// The service does not queue calls of a session, so items of one session are performed one
		// after another.
		planPhases: (checkedItems) => [
			checkedItems.map((item) => ({
				items: [item],
				key: item.value.params.sessionId || undefined,
			})),
		],
		// For options of the whole node, the first item decides.
		getConcurrency: ({ params }) => params.parallelRequests,
		perform: (items) => Promise.all(items.map((item) => performItem(run, item))),
	};
}

/** Sends the call of one item, and gives back the item or its failure. */
async function performItem(
	run: AgentRunState,
	{ index, value }: CheckedItem<calls.AgentCall>,
): Promise<PerformedItem> {
	// What is sent and received is recorded here, so that it is not kept for the whole run.
	const call = { ...value };
	tagExecution(run.context, call.sessionId);
	const liveView = createLiveView(run.context, index, call.params);
	try {
		await sendAndWait(run.context, index, call, liveView);
		const item = await outputs.buildOutputItem(run.context, index, call);
		if (typeof item.json.output === 'string') liveView.showOutput(item.json.output);
		// Another execution would start the agent again (`repeatAdvice`). Retry On Fail takes this
		// result instead (`mustNotRepeat`).
		const doneWork = { resultName: `agent in session ${call.sessionId}`, repeatAdvice: '' };
		return {
			result: { output: finishItem(run, item, call), doneWork },
			mustNotRepeat: true,
		};
	} catch (error) {
		return toFailedItem(error, call);
	} finally {
		await liveView.end();
	}
}

/**
 * Adds the session to the sessions in the custom data of the execution and in its trace. Users find
 * executions by custom data.
 */
export function tagExecution(context: IExecuteFunctions, sessionId: string): void {
	try {
		const knownIds = context.customData.getAll()[chatSessionKey]?.split(', ') ?? [];
		const idsText = [...new Set([...knownIds, sessionId])].join(', ');
		// A text that n8n cuts would end with a part of an ID.
		if (idsText.length > maxCustomDataLength) return;
		context.customData.set(chatSessionKey, idsText);
		context.setMetadata({ tracing: { [chatSessionKey]: idsText } });
	} catch (error) {
		// A tool may run outside of an execution.
		const { message } = toError(error);
		context.logger.debug(
			`Agent Execute: n8n could not store data with this execution: ${message}`,
		);
	}
}

/** Sends the call. If 'Wait for Messages' is on, also waits for the messages of the turn. */
async function sendAndWait(
	context: IExecuteFunctions,
	index: number,
	call: calls.AgentCall,
	liveView: LiveView,
): Promise<void> {
	if (!call.wait) {
		await calls.sendExecuteCall(context, call);
		return;
	}
	const setup = {
		call,
		settings: call.wait,
		readConnectRequest: createConnectRequestReader(context, call.override, index),
		clock: systemClock,
		connect,
		signal: context.getExecutionCancelSignal(),
		log: createSanitizedLog(context.logger, call.sanitizer),
		onText: liveView.showText,
	};
	await callAndWait(setup, (prepareAttempt) =>
		calls.sendExecuteCall(context, call, prepareAttempt),
	);
}

/**
 * Adds the hints about the item to those of the run.
 * @returns what n8n gets: the item itself, or what a model needs of it
 */
function finishItem(
	run: AgentRunState,
	item: INodeExecutionData,
	call: calls.AgentCall,
): INodeExecutionData[] {
	const hints = buildHints(item, call, run.isChat);
	for (const hint of hints) run.hints.add(call.sanitizer.sanitizeText(hint));
	if (!isTool(run.context.getNode())) return [item];
	return outputs.toModelItems(item, hints).map((json) => ({ json }));
}

/** Adds the session and the response to the failure, unless the agent was certainly not started. */
function toFailedItem(error: unknown, call: calls.AgentCall): PerformedItem {
	const { response, sanitizer } = call;
	const namedError = naming.insertNamesIntoError(toNodeError(error));
	let failure = errors.addMessages(sanitizer.sanitizeError(namedError), call);
	if (failure.outcome === 'notDone') {
		if (!response) return { result: { failure }, mustNotRepeat: false };
		failure = errors.markAsStarted(failure, 'its output could not be stored');
	}
	failure = errors.addCallDetails(failure, call, response && describeContent(response.content));
	return { result: { failure }, mustNotRepeat: true };
}

const describeContent = (content: ResponseContent) =>
	'bytes' in content ? `(${content.bytes.length} bytes)` : content.response;
