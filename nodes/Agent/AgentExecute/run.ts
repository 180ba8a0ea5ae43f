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
import { createStoppedBeforeCallError, createTooMuchOutputError, addCallDetails } from './errors';
import * as outputs from './output';
import { naming, type WaitSettings } from './parameters';
import { parseResponseContent } from './response';
import { callAndWait, type WaitResult } from './callAndWait';

/** What the items of one run share. */
interface AgentRunState {
	readonly context: IExecuteFunctions;
	readonly credentials: AgentCredentials | NodeError;
	readonly hints: Set<string>;
	/** The bytes in the output: of all messages, and of all responses that are not files. */
	outputBytes: number;
}

/** The limit for `outputBytes`. A larger output could take n8n's whole memory. */
const maxOutputBytes = 512 * 1024 * 1024;

export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// The calls of a run use the credentials that are read here. Channels read the credentials again.
	const credentials = await readCredentials(context).catch(toNodeError);
	const sanitizer = new Sanitizer(
		isNodeError(credentials) ? undefined : findSecrets(credentials),
	);
	const run: AgentRunState = { context, credentials, hints: new Set(), outputBytes: 0 };
	try {
		const items = await runItems(context, createWork(run, sanitizer));
		outputs.highlightAnswer(context, items);
		return items;
	} catch (error) {
		throw outputs.putMessageIntoDescription(error, context);
	} finally {
		showHints(context, run.hints, sanitizer);
	}
}

function createWork(run: AgentRunState, sanitizer: Sanitizer): Work<calls.CheckedAgentItem> {
	const { credentials } = run;
	const rawParameters = new RawParameters(run.context);
	return {
		sanitizer,
		check: (index) => {
			if (isNodeError(credentials)) throw credentials;
			return calls.checkAgentItem(rawParameters, index, credentials);
		},
		getRequestIdentity: calls.getRequestIdentity,
		outputHasInputFields: (item) =>
			item?.params.includeInputFields ?? rawParameters.isSwitchOn('includeInputFields'),
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

/** Sends the call of one item. If 'Wait for Messages' is on, also waits for the messages of the turn. */
async function performItem(run: AgentRunState, index: number, checked: calls.CheckedAgentItem) {
	const { context } = run;
	const call = calls.prepareCall(checked);
	const { params, wait } = call;
	outputs.tagExecution(context, call.sessionId);
	const liveView = new outputs.LiveView(context, index, params);
	const progress: calls.CallProgress = { call, sentBody: call.buildBody() };
	const sendCall = (prepareAttempt: () => Promise<void>) =>
		calls.sendExecuteCall(context, progress, prepareAttempt);
	try {
		const waitResult =
			wait && (await callAndWait(buildWaitSetup(context, call, wait, liveView), sendCall));
		if (!wait) await sendCall(() => Promise.resolve());
		const { item, bytes } = await buildMeasuredItem(context, index, progress, waitResult);
		if (!waitResult && typeof item.json.output === 'string')
			liveView.showText(item.json.output);
		if (run.outputBytes + bytes > maxOutputBytes)
			throw createTooMuchOutputError(maxOutputBytes);
		run.outputBytes += bytes;
		const isChat = context.getInputData()[index]?.json.chatInput !== undefined;
		const hints = outputs.buildHints(item, params, waitResult, isChat);
		for (const hint of hints) run.hints.add(hint);
		const isForModel = isTool(context.getNode());
		const output = isForModel
			? outputs.toModelItems(item, hints).map((json) => ({ json }))
			: [item];
		// Another execution would start the agent again (`mayRepeat`). Retry On Fail takes this result instead (`mustNotRepeat`).
		const doneWork = { resultName: `agent in session ${call.sessionId}`, mayRepeat: false };
		return { result: { output, doneWork }, mustNotRepeat: true };
	} catch (error) {
		return toFailedItem(error, progress);
	} finally {
		await liveView.end();
	}
}

function buildWaitSetup(
	context: IExecuteFunctions,
	call: calls.PreparedCall,
	wait: WaitSettings,
	view: outputs.LiveView,
) {
	return {
		...call,
		settings: wait,
		readConnectRequest: createConnectRequestReader(context, call.params),
		clock: systemClock,
		connect,
		signal: context.getExecutionCancelSignal(),
		log: createSanitizedLog(context.logger, new Sanitizer(call.secrets)),
		onMessage: view.showMessage,
	};
}

/** Builds the item, with the messages of the wait if there was one. Also returns how many bytes it adds to `outputBytes`. */
async function buildMeasuredItem(
	context: IExecuteFunctions,
	index: number,
	progress: calls.CallProgress,
	waitResult: WaitResult | undefined,
) {
	const callItem = await outputs.buildOutputItem(context, index, progress);
	const responseBytes = callItem.binary ? 0 : (progress.agentResponse?.body.length ?? 0);
	if (!waitResult) return { item: callItem, bytes: responseBytes };
	const item = await outputs.addMessages(
		callItem,
		waitResult,
		progress.call.params,
		context.helpers,
	);
	const messageBytes = waitResult.messages.reduce((sum, { byteLength }) => sum + byteLength, 0);
	return { item, bytes: responseBytes + messageBytes };
}

/** Adds the session and the response to the failure, unless the agent was certainly not started. */
function toFailedItem(error: unknown, { call, agentResponse }: calls.CallProgress): PerformedItem {
	const failure = new Sanitizer(call.secrets).sanitizeError(
		naming.insertNamesIntoError(toNodeError(error)),
	);
	const mustNotRepeat = agentResponse !== undefined || failure.outcome !== 'notDone';
	if (!mustNotRepeat) return { result: { failure }, mustNotRepeat };
	if (!agentResponse)
		return { result: { failure: addCallDetails(failure, call) }, mustNotRepeat };
	const content = parseResponseContent(agentResponse);
	const response =
		'bytes' in content
			? `(${content.bytes.length} bytes, ${content.mimeType})`
			: content.response;
	return { result: { failure: addCallDetails(failure, call, response) }, mustNotRepeat };
}
