import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { systemClock } from '../../core/runtime';
import { forEditor, isNodeError, type NodeError, toNodeError } from '../../core/errors';
import { runItems, type Done, type Work } from '../../core/itemLoop';
import { Sanitizer, cleanLog, secretsIn } from '../../core/sanitizer';
import { NodeParameters } from '../../fields/params';
import { MemoryBudget } from '../../http/body';
import { type Credentials, readCredentials, requestReader } from '../session/credentials';
import { connect } from '../session/connection';
import {
	callOf,
	checkedItem,
	type CheckedItem,
	execute,
	type ExecuteBody,
	meaningOf,
	type PreparedCall,
} from './call';
import { refusedBeforeCall, stoppedBeforeCall, tooMuchOutput, withContext } from './errors';
import {
	errorForChat,
	highlightAnswer,
	hintsOf,
	LiveView,
	outputItem,
	tagExecution,
	withMessages,
} from './output';
import { naming, type WaitSettings } from './parameters';
import { type Answer, contentOf } from './response';
import { callAndWait, type TryHooks, type WaitParts } from './wait';

/** What the items of one run share. */
interface Shared {
	readonly context: IExecuteFunctions;
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
	const sanitizer = new Sanitizer(isNodeError(credentials) ? undefined : secretsIn(credentials));
	const shared: Shared = { context, hints: new Set(), keptBytes: 0 };
	try {
		const items = await runItems(context, workOf(shared, credentials, sanitizer));
		highlightAnswer(context, items);
		return items;
	} catch (error) {
		throw errorForChat(error, context);
	} finally {
		const hints = [...shared.hints].map((hint) => forEditor(sanitizer.text(hint)));
		if (hints.length > 0) {
			context.addExecutionHints(...hints.map((message) => ({ message, location: 'outputPane' as const })));
		}
	}
}

function workOf(
	shared: Shared,
	credentials: Credentials | NodeError,
	sanitizer: Sanitizer,
): Work<CheckedItem> {
	const parameters = new NodeParameters(shared.context);
	return {
		sanitizer,
		check: (index) => {
			if (isNodeError(credentials)) throw credentials;
			return checkedItem(parameters, index, credentials);
		},
		sent: meaningOf,
		stopped: stoppedBeforeCall,
		// The service does not queue calls of a session, so items of one session run one after another.
		tasks: (checked) =>
			checked.map((item) => ({ items: [item], key: item.value.params.sessionId || undefined })),
		// For options of the whole node, the first item decides.
		parallel: ([first]) => first?.value.params.parallelRequests ?? 1,
		perform: async (items) =>
			await Promise.all(items.map(async ({ index, value }) => await runItem(shared, index, value))),
	};
}

async function runItem(shared: Shared, index: number, item: CheckedItem): Promise<Done> {
	let call: PreparedCall;
	try {
		call = callOf(item);
	} catch (error) {
		return { outcome: { failure: refusedBeforeCall(toNodeError(error)) }, isFinal: false };
	}
	tagExecution(shared.context, call.sessionId);
	return await runCall(shared, index, call);
}

/** The call of one item, and the wait for its messages. */
async function runCall(shared: Shared, index: number, call: PreparedCall): Promise<Done> {
	const { context } = shared;
	const { options, wait } = call;
	const memory = new MemoryBudget();
	const live = new LiveView(context, index, options);
	const last: { sent: ExecuteBody; answer?: Answer } = { sent: call.body() };
	const send = async (hooks?: TryHooks) => {
		last.answer = await execute(context, call, memory, {
			ready: async () => await hooks?.ready(),
			sending: (body) => {
				last.sent = body;
				hooks?.sending();
			},
		});
		return last.answer;
	};
	try {
		const parts = wait && waitParts(context, call, wait, live);
		const { called, waited } = parts ? await callAndWait(parts, send) : { called: await send() };
		const answered = await outputItem(context, index, call, last.sent, last.answer);
		let bytes = answered.binary ? 0 : (last.answer?.body.length ?? 0);
		for (const { byteLength } of waited?.messages ?? []) bytes += byteLength;
		const item = waited ? await withMessages(answered, waited, options, context.helpers) : answered;
		if (!waited && typeof item.json.output === 'string') live.text(item.json.output);
		if (shared.keptBytes + bytes > maxKeptBytes) throw tooMuchOutput(maxKeptBytes);
		shared.keptBytes += bytes;
		const failure = isNodeError(called) ? called : undefined;
		for (const hint of hintsOf(item, options, { waited, failure })) shared.hints.add(hint);
		const left = { what: `agent in session ${last.sent.sessionId}`, mayRepeat: false };
		return { outcome: { output: [item], left }, isFinal: true };
	} catch (error) {
		return failed(error, call, last.answer);
	} finally {
		await live.end();
		memory.release();
	}
}

function waitParts(
	context: IExecuteFunctions,
	call: PreparedCall,
	settings: WaitSettings,
	live: LiveView,
): WaitParts {
	return {
		...call,
		settings,
		readRequest: requestReader(context, call.options),
		clock: systemClock,
		connect,
		signal: context.getExecutionCancelSignal(),
		log: cleanLog(context.logger, new Sanitizer(call.secrets)),
		onMessage: (message, ends) => {
			live.message(message, ends);
		},
	};
}

function failed(error: unknown, call: PreparedCall, answer: Answer | undefined): Done {
	const failure = new Sanitizer(call.secrets).error(naming.failure(toNodeError(error)));
	// Whether the service accepted the call, or may have.
	const reachedService = answer !== undefined || failure.outcome !== 'notDone';
	if (!reachedService) return { outcome: { failure }, isFinal: false };
	const content = answer && contentOf(answer);
	const response =
		content &&
		('response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`);
	return { outcome: { failure: withContext(failure, call, response) }, isFinal: true };
}
