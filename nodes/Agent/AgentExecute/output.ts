import type { IncomingHttpHeaders } from 'node:http';
import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { getHighlightedResponseKey } from 'n8n-workflow';

import { asError, isTool, type NodeError, storeBinary, toNodeError } from '../../core/errors';
import { binaryOf, type SessionMessage } from '../session/messages';
import type { ExecuteBody, PreparedCall } from './call';
import { sentences } from './errors';
import type { MessageEnd } from './messageCollector';
import { type Answer, contentOf, describeFields, textIn, textOf, TurnText } from './response';
import type { Waited } from './wait';

/** The item of a call. @param answer undefined: there is none, although what was waited for has come */
export async function outputItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	{ sessionId, userId, startStepName, timestamp }: ExecuteBody,
	answer?: Answer,
): Promise<INodeExecutionData> {
	const content = answer === undefined ? { response: null } : contentOf(answer, call.echoed);
	const response = 'response' in content ? (content.response as IDataObject) : null;
	const output = textIn(response, call.options.textField) ?? null;
	const statusCode = answer?.statusCode ?? null;
	const json: IDataObject = { output, sessionId, userId, startStepName, timestamp, statusCode, response };
	if (answer && call.options.includeHeaders) json.headers = shownHeaders(answer.headers, call);
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
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
		const failure = toNodeError(error);
		const description = `The agent was started, but what it gave is lost. ${failure.description ?? ''}`;
		throw failure.with({ outcome: 'done', description });
	}
}

/** A service may repeat in its headers what was sent to it, and n8n stores them with the execution. */
function shownHeaders(headers: IncomingHttpHeaders, { redact }: Pick<PreparedCall, 'redact'>): IDataObject {
	const shown = (value: string | string[] | undefined) =>
		Array.isArray(value) ? value.map((one) => redact(one)) : redact(value ?? '');
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [redact(name), shown(value)]));
}

/** The item of a call whose messages were awaited. */
export async function withMessages(
	item: INodeExecutionData,
	{ early, messages, endedBy, gap, close }: Waited,
	{ textField, textPieces }: PreparedCall['options'],
	helpers: IExecuteFunctions['helpers'],
): Promise<INodeExecutionData> {
	const binary: IBinaryKeyData = { ...item.binary };
	for (const message of [...early, ...messages]) {
		if (message.format !== 'binary') continue;
		binary[`message_${message.sequence}`] = await started(binaryOf(helpers, message.bytes));
	}
	const json: IDataObject = {
		...item.json,
		output: textOf(messages, textField, textPieces, endedBy),
		lastMessage: messages.at(-1)?.message ?? null,
		messages: [...early.map((message) => ({ ...shown(message), beforeCall: true })), ...messages.map(shown)],
		endedBy,
	};
	if (gap) json.gap = true;
	if (close !== undefined) json.closeCode = close.code;
	if (close !== undefined && close.reason !== '') json.closeReason = close.reason;
	return { ...item, json, ...(Object.keys(binary).length > 0 && { binary }) };
}

function shown({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** What the item alone does not say. */
export function hintsOf(
	{ json, binary }: INodeExecutionData,
	{ textField }: PreparedCall['options'],
	{ waited, failure }: { readonly waited?: Waited; readonly failure?: NodeError } = {},
): string[] {
	const hints: string[] = [];
	if (json.output === null && binary === undefined) hints.push(noText(json, textField, waited));
	if (failure !== undefined) {
		hints.push(`The message that ends the wait has come, but the call itself failed: ${failure.message}.`);
	}
	if (waited !== undefined && waited.repeated > 0 && !waited.gap) {
		hints.push(
			`Messages left out because their ID had come before: ${waited.repeated}. If the pieces of an answer share an ID, use another field as 'Deduplication Field'.`,
		);
	}
	return hints;
}

function noText({ response }: IDataObject, textField: string, waited: Waited | undefined): string {
	if (waited?.messages.length === 0) return "'output' is null: no message came.";
	const fields = describeFields(waited?.messages ?? [{ message: response }]);
	return sentences(
		`'output' is null, because ${waited ? 'the messages have' : 'the response has'} no text in the field '${textField}'.`,
		fields !== '' &&
			`${waited ? 'Their' : 'Its'} fields are: ${fields}. To get one of them as 'output', enter it as 'Text Field' in the options.`,
		!waited && "If the agent sends its answer over the session channel, turn on 'Wait for Messages'.",
	);
}

/** What of a message the editor shows while the node waits. */
const mostShown = 10_000;

/** Shows the agent's texts as they come: in the chat and in the editor's console. */
export class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #options: PreparedCall['options'];
	readonly #isStreaming: boolean;
	/** Chunks go out one after another; on a worker each takes its way through Redis. */
	#sent: Promise<unknown> = Promise.resolve();
	/** What the chat shows. */
	readonly #shown: TurnText;

	constructor(context: IExecuteFunctions, index: number, options: PreparedCall['options']) {
		this.#context = context;
		this.#index = index;
		this.#options = options;
		this.#shown = new TurnText(options.textPieces);
		// The output of a tool is for its agent, not for the person in the chat.
		this.#isStreaming = options.enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	}

	/** @param ends what it ends the wait with: a failure is an error and no answer */
	message({ sessionId, sequence, format, message, byteLength }: SessionMessage, ends?: MessageEnd): void {
		const isShown = format !== 'binary' && byteLength <= mostShown;
		const shown = isShown ? message : `(${byteLength} bytes, ${format})`;
		// Only in manual executions: n8n itself takes care of that.
		this.#context.sendMessageToUI({ sessionId, sequence, message: shown });
		const text = textIn(message, this.#options.textField);
		if (ends !== 'failure' && text !== undefined) this.text(text, ends === 'match');
	}

	/** @param isEnd whether its message ends the wait */
	text(text: string, isEnd = true): void {
		if (!this.#isStreaming) return;
		const isFirst = this.#shown.text === '';
		const added = this.#shown.add(text, isEnd);
		if (added === '') return;
		if (isFirst) this.#send('begin');
		this.#send('item', added);
	}

	/** Settles when everything is out; never rejects. */
	async end(): Promise<void> {
		if (this.#shown.text !== '') this.#send('end');
		await this.#sent;
	}

	#send(type: 'begin' | 'item' | 'end', content?: string): void {
		// n8n's types do not say that it settles when the chunk is out.
		const streaming: { sendChunk(...chunk: Parameters<IExecuteFunctions['sendChunk']>): unknown } =
			this.#context;
		this.#sent = this.#sent
			.then(() => streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The listener may be gone; the item continues anyway.
				this.#context.logger.debug(`Agent Execute: a chunk could not be sent: ${asError(error).message}`);
			});
	}
}

/** n8n streams only the description of an error: there it says what happened, too. */
export function errorForChat(error: unknown, context: IExecuteFunctions): unknown {
	if (!(error instanceof Error) || !('description' in error) || !context.isStreaming()) return error;
	const { description } = error;
	error.description = typeof description === 'string' ? `${error.message}. ${description}` : error.message;
	return error;
}

/** What n8n keeps of a value. */
const longestTag = 255;
/** n8n's own for the session of a chat; before 2.20 it has no name for it. */
const sessionKey = 'session_id';

/** Adds the session to the execution's custom data, by which n8n finds executions, and to the trace. Other nodes' sessions stay. */
export function tagExecution(context: IExecuteFunctions, sessionId: string): void {
	whereKept(context, () => {
		const { [sessionKey]: known } = context.customData.getAll();
		const ids = known === undefined ? [] : known.split(', ');
		const text = [...ids, sessionId].join(', ');
		// Half an ID finds nothing.
		if (ids.includes(sessionId) || text.length > longestTag) return;
		context.customData.set(sessionKey, text);
		context.setMetadata({ tracing: { [sessionKey]: text } });
	});
}

/** The first answer, which n8n shows with the execution, as that of its own AI Agent. */
export function highlightAnswer(context: IExecuteFunctions, [first]: readonly INodeExecutionData[]): void {
	const answer = first?.json.output;
	// An agent whose tool this is has an answer of its own.
	if (typeof answer !== 'string' || answer === '' || isTool(context.getNode())) return;
	whereKept(context, () => {
		context.customData.set(getHighlightedResponseKey(context.getNode().name), answer.slice(0, longestTag));
	});
}

/** n8n before 2.20 has no highlighted data, and a tool may run outside of an execution that keeps any. */
function whereKept(context: IExecuteFunctions, keep: () => void): void {
	try {
		keep();
	} catch (error) {
		context.logger.debug(`Agent Execute: n8n keeps no data with this execution: ${asError(error).message}`);
	}
}
