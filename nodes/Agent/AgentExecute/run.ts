import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { systemClock } from '../../core/clock';
import { isNodeError, isTool, type NodeError, toNodeError } from '../../core/errors';
import { runItems, type PerformedItem, type Work } from '../../core/itemLoop';
import { Sanitizer, createSanitizedLog, findSecrets, showHints } from '../../core/sanitizer';
import { RawParameters } from '../../fields/params';
import { type AgentCredentials, readCredentials } from '../session/credentials';
import { createConnectRequestReader } from '../session/connectRequest';
import { connect } from '../session/connection';
import * as calls from './call';
import { callAndWait, type WaitResult } from './callAndWait';
import { addCallDetails, addNotStoredText, createStoppedBeforeCallError } from './errors';
import { buildHints } from './hints';
import { LiveView } from './liveView';
import * as outputs from './output';
import { naming } from './parameters';
import { parseResponseContent } from './response';

/** What the items of one run share. */
interface AgentRunState {
	readonly context: IExecuteFunctions;
	readonly credentials: AgentCredentials | NodeError;
	readonly hints: Set<string>;
}

export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// The calls of a run use the credentials that are read here. Channels read the credentials again.
	const credentials = await readCredentials(context).catch(toNodeError);
	const sanitizer = new Sanitizer(
		isNodeError(credentials) ? undefined : findSecrets(credentials),
	);
	const run: AgentRunState = { context, credentials, hints: new Set() };
	try {
		return await runItems(context, createWork(run, sanitizer));
	} catch (error) {
		throw outputs.putMessageIntoDescription(error, context);
	} finally {
		showHints(context, run.hints, sanitizer);
	}
}

function createWork(run: AgentRunState, sanitizer: Sanitizer): Work<calls.AgentCall> {
	const { credentials } = run;
	const rawParameters = new RawParameters(run.context);
	return {
		sanitizer,
		check: (index) => {
			if (isNodeError(credentials)) throw credentials;
			return calls.prepareCall(rawParameters, index, credentials);
		},
		getRequestIdentity: calls.getRequestIdentity,
		outputHasInputFields: (call) =>
			call?.params.includeInputFields ?? rawParameters.isSwitchOn('includeInputFields'),
		createStoppedError: createStoppedBeforeCallError,
		// The service does not queue calls of a session, so items of one session are performed one after another.
		planBatches: (checkedItems) =>
			checkedItems.map((item) => ({
				items: [item],
				key: item.value.params.sessionId || undefined,
			})),
		// For options of the whole node, the first item decides.
		getConcurrency: ([first]) => first?.value.params.parallelRequests ?? 1,
		perform: (items) =>
			Promise.all(items.map(({ index, value }) => performItem(run, index, value))),
	};
}

/** Sends the call of one item, and gives back the item or its failure. */
async function performItem(run: AgentRunState, index: number, call: calls.AgentCall) {
	const { context } = run;
	outputs.tagExecution(context, call.sessionId);
	const liveView = new LiveView(context, index, call.params);
	const progress: calls.CallProgress = { call, sentBody: call.buildBody() };
	try {
		const waitResult = await sendAndWait(context, progress, liveView);
		const item = await outputs.buildOutputItem(context, index, progress, waitResult);
		if (!waitResult && typeof item.json.output === 'string')
			liveView.showText(item.json.output);
		const output = finishItem(run, index, item, call, waitResult);
		// Another execution would start the agent again (`repeatAdvice`). Retry On Fail takes this result instead (`mustNotRepeat`).
		const doneWork = { resultName: `agent in session ${call.sessionId}`, repeatAdvice: '' };
		return { result: { output, doneWork }, mustNotRepeat: true };
	} catch (error) {
		return toFailedItem(error, progress);
	} finally {
		await liveView.end();
	}
}

/** Sends the call. If 'Wait for Messages' is on, also waits for the messages of the turn. */
async function sendAndWait(
	context: IExecuteFunctions,
	progress: calls.CallProgress,
	liveView: LiveView,
): Promise<WaitResult | undefined> {
	const { call } = progress;
	const sendCall = (prepareAttempt: () => Promise<void>) =>
		calls.sendExecuteCall(context, progress, prepareAttempt);
	if (!call.wait) {
		await sendCall(() => Promise.resolve());
		return undefined;
	}
	const setup = {
		...call,
		settings: call.wait,
		readConnectRequest: createConnectRequestReader(context, call.override),
		clock: systemClock,
		connect,
		signal: context.getExecutionCancelSignal(),
		log: createSanitizedLog(context.logger, new Sanitizer(call.secrets)),
		onMessage: liveView.showMessage,
	};
	return await callAndWait(setup, sendCall);
}

/** Adds the hints about the item to those of the run. @returns what n8n gets: the item itself, or what a model needs of it */
function finishItem(
	{ context, hints: runHints }: AgentRunState,
	index: number,
	item: INodeExecutionData,
	{ params }: calls.AgentCall,
	waitResult: WaitResult | undefined,
): INodeExecutionData[] {
	const isChat = context.getInputData()[index]?.json.chatInput !== undefined;
	const hints = buildHints(item, params, waitResult, isChat);
	for (const hint of hints) runHints.add(hint);
	if (!isTool(context.getNode())) return [item];
	return outputs.toModelItems(item, hints).map((json) => ({ json }));
}

/** Adds the session and the response to the failure, unless the agent was certainly not started. */
function toFailedItem(error: unknown, { call, agentResponse }: calls.CallProgress): PerformedItem {
	const failure = new Sanitizer(call.secrets).sanitizeError(
		naming.insertNamesIntoError(toNodeError(error)),
	);
	if (!agentResponse) {
		const mustNotRepeat = failure.outcome !== 'notDone';
		const result = { failure: mustNotRepeat ? addCallDetails(failure, call) : failure };
		return { result, mustNotRepeat };
	}
	const content = parseResponseContent(agentResponse);
	const response = 'bytes' in content ? `(${content.bytes.length} bytes)` : content.response;
	const startedFailure = failure.outcome === 'notDone' ? addNotStoredText(failure) : failure;
	return {
		result: { failure: addCallDetails(startedFailure, call, response) },
		mustNotRepeat: true,
	};
}
