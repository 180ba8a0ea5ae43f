import type { IncomingHttpHeaders } from 'node:http';
import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { asFailure } from '../../core/nodeErrors';
import { type Failure, isFailure } from '../../core/errors';
import { type Checked, type Done, type Task, type Work, runItems } from '../../core/itemLoop';
import { cleanLog } from '../../core/sanitizer';
import { secretsIn } from '../../core/sanitizer';
import { Sanitizer } from '../../core/sanitizer';
import { storeBinary } from '../../core/binary';
import { NodeParameters } from '../../fields/nodeParameters';
import { Room } from '../../http/memoryBudget';
import { type SessionMessage, binaryOf } from '../session/messages';
import { systemClock } from '../../core/clock';
import { connect } from '../session/sessionConnection';
import { type Credentials, readCredentials } from '../session/credentials';
import {
	type CheckedItem,
	type Executed,
	type PreparedCall,
	callOf,
	checkedItem,
	execute,
	meaningOf,
} from './call';
import { refusedBeforeCall, stoppedBeforeCall, withContext } from './errors';
import { KeptTexts, type WaitSettings, naming } from './parameters';
import { contentOf, lastText, textIn } from './response';
import { type Waited, callAndWait } from './wait';

interface LiveSettings {
	/** Dot path of the text in a JSON message. */
	readonly textField: string;
	/** Whether texts go out as they come, when the execution streams. */
	readonly enableStreaming: boolean;
}

/** n8n's types do not say that it settles when the chunk is out. */
interface Streaming {
	sendChunk(type: 'begin' | 'item' | 'end', itemIndex: number, content?: string): unknown;
}

/** What of a message the editor shows while the node waits. */
const mostShown = 10_000;

/** Shows the agent's messages during the wait: in the chat and in the editor's console. */
class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #streaming: Streaming;
	readonly #index: number;
	readonly #textField: string;
	readonly #isStreaming: boolean;
	/** Chunks go out one after another; on a worker each takes its way through Redis. */
	#sent: Promise<unknown> = Promise.resolve();
	#hasBegun = false;

	constructor(context: IExecuteFunctions, index: number, { textField, enableStreaming }: LiveSettings) {
		this.#context = context;
		this.#streaming = context;
		this.#index = index;
		this.#textField = textField;
		// The output of a tool is for its agent, not for the person in the chat.
		const isTool = context.getNode().type.endsWith('Tool');
		this.#isStreaming = enableStreaming && !isTool && context.isStreaming();
	}

	message(message: SessionMessage): void {
		this.#show(message);
		const text = textIn(message.message, this.#textField);
		if (!this.#isStreaming || text === undefined) return;
		if (!this.#hasBegun) this.#send('begin');
		this.#hasBegun = true;
		this.#send('item', text);
	}

	/** Settles when everything is out; never rejects. */
	async end(): Promise<void> {
		if (this.#hasBegun) this.#send('end');
		await this.#sent;
	}

	/** Only in manual executions: n8n itself takes care of that. */
	#show({ sessionId, sequence, format, message, byteLength }: SessionMessage): void {
		const shown =
			format === 'binary' || byteLength > mostShown ? `(${byteLength} bytes, ${format})` : message;
		this.#context.sendMessageToUI({ sessionId, sequence, message: shown });
	}

	#send(type: 'begin' | 'item' | 'end', content?: string): void {
		this.#sent = this.#sent
			.then(() => this.#streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The listener may be gone; the item continues anyway.
				const reason = error instanceof Error ? error.message : String(error);
				this.#context.logger.debug(`Agent Execute: a chunk could not be sent: ${reason}`);
			});
	}
}

/** The item of a call that is answered. */
async function outputItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	{ sent, answer }: Executed,
): Promise<INodeExecutionData> {
	const { sessionId, userId, startStepName, timestamp } = sent;
	const content = contentOf(answer);
	const response = 'response' in content ? (content.response as IDataObject) : null;
	const json: IDataObject = {
		output: textIn(response, call.textField) ?? null,
		sessionId,
		userId,
		startStepName,
		timestamp,
		statusCode: answer.statusCode,
		response,
	};
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (call.includeHeaders) json.headers = shownHeaders(answer.headers, call);
	if ('bytes' in content) {
		const { bytes, fileName, mimeType } = content;
		item.binary = { data: await started(storeBinary(context.helpers, bytes, fileName, mimeType)) };
	}
	return item;
}

/** What the agent gave is being stored: a failure says that it was started. */
async function started<T>(storing: Promise<T>): Promise<T> {
	try {
		return await storing;
	} catch (error) {
		const failure = asFailure(error);
		const description = `The agent was started, but what it gave is lost. ${failure.description ?? ''}`;
		throw failure.with({ carriedOut: true, description });
	}
}

/** A service may repeat in its headers what was sent to it, and n8n stores them with the execution. */
function shownHeaders(headers: IncomingHttpHeaders, { redact }: Pick<PreparedCall, 'redact'>): IDataObject {
	const shown = (value: string | string[] | undefined) =>
		Array.isArray(value) ? value.map((one) => redact(one)) : redact(value ?? '');
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [redact(name), shown(value)]));
}

/** The item of a call whose messages were awaited. */
async function withMessages(
	item: INodeExecutionData,
	{ early, messages, endedBy, gap }: Waited,
	{ textField }: Pick<PreparedCall, 'textField'>,
	helpers: IExecuteFunctions['helpers'],
): Promise<INodeExecutionData> {
	const binary: IBinaryKeyData = { ...item.binary };
	for (const message of [...early, ...messages]) {
		if (message.format !== 'binary') continue;
		binary[`message_${message.sequence}`] = await started(binaryOf(helpers, message.bytes));
	}
	const json: IDataObject = {
		...item.json,
		output: lastText(messages, textField),
		lastMessage: messages.at(-1)?.message ?? null,
		messages: [...early.map((message) => ({ ...shown(message), beforeCall: true })), ...messages.map(shown)],
		endedBy,
	};
	if (gap) json.gap = true;
	return { ...item, json, ...(Object.keys(binary).length > 0 && { binary }) };
}

function shown({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** Works on all items, several at once. */
export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// Once per run of the node, as n8n's own helper does.
	const credentials = await readCredentials(context).catch(asFailure);
	return await runItems(context, new AgentWork(context, credentials));
}

class AgentWork implements Work<CheckedItem> {
	readonly sanitizer: Sanitizer;
	readonly #context: IExecuteFunctions;
	readonly #credentials: Credentials | Failure;
	readonly #parameters: NodeParameters;
	readonly #texts = new KeptTexts();

	constructor(context: IExecuteFunctions, credentials: Credentials | Failure) {
		this.sanitizer = new Sanitizer(isFailure(credentials) ? undefined : secretsIn(credentials));
		this.#context = context;
		this.#credentials = credentials;
		this.#parameters = new NodeParameters(context);
	}

	check(index: number): CheckedItem {
		if (isFailure(this.#credentials)) throw this.#credentials;
		return checkedItem(this.#parameters, index, this.#credentials, this.#texts);
	}

	sent(item: CheckedItem): unknown {
		return meaningOf(item);
	}

	/** The service does not queue calls of a session, so items of one session run one after another. */
	tasks(checked: ReadonlyArray<Checked<CheckedItem>>): Array<Task<CheckedItem>> {
		return checked.map((item) => ({
			items: [item],
			key: item.value.given.params.sessionId.trim() || undefined,
		}));
	}

	/** For options of the whole node, the first item decides. */
	parallel([first]: ReadonlyArray<Checked<CheckedItem>>): number {
		return first?.value.given.params.parallelRequests ?? 1;
	}

	async perform(items: ReadonlyArray<Checked<CheckedItem>>): Promise<Done[]> {
		return await Promise.all(items.map(({ index, value }) => runItem(this.#context, value, index)));
	}

	stopped(): Failure {
		return stoppedBeforeCall();
	}
}

async function runItem(context: IExecuteFunctions, item: CheckedItem, index: number): Promise<Done> {
	let call: PreparedCall;
	try {
		call = callOf(context, item);
	} catch (error) {
		return { outcome: { failure: refusedBeforeCall(asFailure(error)) }, isFinal: false };
	}
	return await sendItem(context, index, call);
}

async function sendItem(context: IExecuteFunctions, index: number, call: PreparedCall): Promise<Done> {
	const progress: { executed?: Executed } = {};
	const room = new Room();
	/** @param sending told at each try that it goes out */
	const send = async (sending = () => {}) => {
		const body = () => {
			sending();
			return call.body();
		};
		progress.executed = await execute(context, { ...call, body }, room);
		return progress.executed;
	};
	try {
		const item = call.wait
			? await waitedItem(context, index, call, call.wait, send)
			: await outputItem(context, index, call, await send());
		return { outcome: { output: [item] }, isFinal: true };
	} catch (error) {
		const failure = new Sanitizer(call.secrets).failure(naming.failure(asFailure(error)));
		const { executed } = progress;
		const reachedService = executed !== undefined || failure.ambiguous || failure.carriedOut;
		// The service accepted the call, or may have.
		if (!reachedService) return { outcome: { failure }, isFinal: false };
		const { sessionId } = call;
		const response = executed && responseOf(executed);
		return {
			outcome: {
				failure: withContext(failure, { sessionId, response, redact: (text) => call.redact(text) }),
			},
			isFinal: true,
		};
	} finally {
		room.release();
	}
}

/** Of a body of bytes, that it was one. */
function responseOf({ answer }: Executed): unknown {
	const content = contentOf(answer);
	return 'response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`;
}

async function waitedItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	settings: WaitSettings,
	send: (sending: () => void) => Promise<Executed>,
): Promise<INodeExecutionData> {
	const { sessionId, readIdentity, conversation } = call;
	const redact = (text: string) => call.redact(text);
	const signal = context.getExecutionCancelSignal();
	const log = cleanLog(context.logger, new Sanitizer(call.secrets));
	const live = new LiveView(context, index, settings);
	const onMessage = (message: SessionMessage) => {
		live.message(message);
	};
	const own = { sessionId, readIdentity, redact, onMessage, conversation };
	try {
		const { called, waited } = await callAndWait(
			{ ...own, settings, signal, log, clock: systemClock, connect },
			send,
		);
		const item = await outputItem(context, index, call, called);
		return await withMessages(item, waited, call, context.helpers);
	} finally {
		await live.end();
	}
}
