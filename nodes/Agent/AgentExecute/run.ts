import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { systemClock } from '../../core/clock';
import { escapeForEditor } from '../../core/text';
import { isNodeError, isTool, type NodeError, toNodeError } from '../../core/errors';
import { runItems, type PerformedItem, type Work } from '../../core/itemLoop';
import { Sanitizer, createSanitizedLog, findSecrets } from '../../core/sanitizer';
import { NodeParameters } from '../../fields/params';
import { MemoryReservation } from '../../http/answerMemory';
import { type AgentCredentials, readCredentials, createConnectRequestReader } from '../session/credentials';
import { connect } from '../session/connection';
import {
	prepareCall,
	checkAgentItem,
	type CheckedAgentItem,
	sendExecuteCall,
	type CallProgress,
	buildCallFingerprint,
	type PreparedCall,
} from './call';
import { createStoppedBeforeCallError, createTooMuchOutputError, addCallDetails } from './errors';
import {
	putMessageIntoDescription,
	highlightAnswer,
	buildHints,
	LiveView,
	buildOutputItem,
	tagExecution,
	addMessages,
	toModelItems,
} from './output';
import { naming, type WaitSettings } from './parameters';
import { parseResponseContent } from './response';
import { callAndWait } from './callAndWait';

/** What the items of one run share. */
interface AgentRunState {
	readonly context: IExecuteFunctions;
	readonly credentials: AgentCredentials | NodeError;
	readonly hints: Set<string>;
	/** Total size of the responses and messages in the output. */
	keptBytes: number;
}

/** Limit for the text and JSON of one run, because more would take n8n's whole memory. */
const maxKeptBytes = 512 * 1024 * 1024;

export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// The credentials are read once per run, as n8n's own helper does.
	const credentials = await readCredentials(context).catch(toNodeError);
	const sanitizer = new Sanitizer(isNodeError(credentials) ? undefined : findSecrets(credentials));
	const shared: AgentRunState = { context, credentials, hints: new Set(), keptBytes: 0 };
	try {
		const items = await runItems(context, createWork(shared, sanitizer));
		highlightAnswer(context, items);
		return items;
	} catch (error) {
		throw putMessageIntoDescription(error, context);
	} finally {
		const hints = [...shared.hints].map((hint) => escapeForEditor(sanitizer.sanitizeText(hint)));
		if (hints.length > 0) {
			context.addExecutionHints(...hints.map((message) => ({ message, location: 'outputPane' as const })));
		}
	}
}

function createWork(shared: AgentRunState, sanitizer: Sanitizer): Work<CheckedAgentItem> {
	const { credentials } = shared;
	const parameters = new NodeParameters(shared.context);
	return {
		sanitizer,
		check: (index) => {
			if (isNodeError(credentials)) throw credentials;
			return checkAgentItem(parameters, index, credentials);
		},
		getRequestIdentity: buildCallFingerprint,
		hasInputFields: (item) => item?.params.includeInputFields ?? parameters.isOn('includeInputFields'),
		createStoppedError: createStoppedBeforeCallError,
		// The service does not queue calls of a session, so items of one session run one after another.
		planTasks: (checked) =>
			checked.map((item) => ({ items: [item], key: item.value.params.sessionId || undefined })),
		// For options of the whole node, the first item decides.
		getConcurrency: ([first]) => first?.value.params.parallelRequests ?? 1,
		perform: async (items) =>
			await Promise.all(items.map(async ({ index, value }) => await runItem(shared, index, value))),
	};
}

/** The call of one item, and the wait for its messages. */
async function runItem(shared: AgentRunState, index: number, item: CheckedAgentItem): Promise<PerformedItem> {
	const { context } = shared;
	const call = prepareCall(item);
	const { options, wait } = call;
	tagExecution(context, call.sessionId);
	const memory = new MemoryReservation();
	const live = new LiveView(context, index, options);
	const progress: CallProgress = { call, sent: call.buildBody() };
	const send = (prepareAttempt = () => Promise.resolve()) =>
		sendExecuteCall(context, progress, memory, prepareAttempt);
	try {
		const waited = wait && (await callAndWait(buildWaitParts(context, call, wait, live), send));
		if (!wait) await send();
		const answered = await buildOutputItem(context, index, progress);
		let bytes = answered.binary ? 0 : (progress.answer?.body.length ?? 0);
		for (const { byteLength } of waited?.messages ?? []) bytes += byteLength;
		const item = waited ? await addMessages(answered, waited, options, context.helpers) : answered;
		if (!waited && typeof item.json.output === 'string') live.showText(item.json.output);
		if (shared.keptBytes + bytes > maxKeptBytes) throw createTooMuchOutputError(maxKeptBytes);
		shared.keptBytes += bytes;
		const isChat = context.getInputData()[index]?.json.chatInput !== undefined;
		const hints = buildHints(item, options, waited, isChat);
		for (const hint of hints) shared.hints.add(hint);
		const isForModel = isTool(context.getNode()) && options.maxModelCharacters > 0;
		const output = isForModel ? toModelItems(item, options, hints).map((json) => ({ json })) : [item];
		const doneWork = { what: `agent in session ${call.sessionId}`, mayRepeat: false };
		return { result: { output, doneWork }, mustNotRunAgain: true };
	} catch (error) {
		return toFailedItem(error, progress);
	} finally {
		await live.end();
		memory.release();
	}
}

function buildWaitParts(context: IExecuteFunctions, call: PreparedCall, wait: WaitSettings, live: LiveView) {
	return {
		...call,
		settings: wait,
		readRequest: createConnectRequestReader(context, call.options),
		clock: systemClock,
		connect,
		signal: context.getExecutionCancelSignal(),
		log: createSanitizedLog(context.logger, new Sanitizer(call.secrets)),
		onMessage: live.showMessage,
	};
}

function toFailedItem(error: unknown, { call, answer }: CallProgress): PerformedItem {
	const failure = new Sanitizer(call.secrets).sanitizeError(naming.insertNamesIntoError(toNodeError(error)));
	// Whether the service accepted the call, or may have.
	const reachedService = answer !== undefined || failure.outcome !== 'notDone';
	if (!reachedService) return { result: { failure }, mustNotRunAgain: false };
	const content = answer && parseResponseContent(answer);
	const response =
		content &&
		('response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`);
	return { result: { failure: addCallDetails(failure, call, response) }, mustNotRunAgain: true };
}
