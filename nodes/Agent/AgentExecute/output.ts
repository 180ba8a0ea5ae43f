import type { IncomingHttpHeaders } from 'node:http';
import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { getHighlightedResponseKey } from 'n8n-workflow';

import { toError, isTool, toNodeError } from '../../core/errors';
import { storeBinary } from '../../core/binaryStorage';
import { countRoom, describePart, fitText } from '../../core/modelAnswer';
import { isRecord } from '../../fields/values';
import type { Sanitize } from '../session/credentials';
import { findText, storeMessageBytes, type SessionMessage } from '../session/messages';
import type { CallProgress, PreparedCall } from './call';
import { joinSentences } from './errors';
import type { MessageEndReason } from './waitEnd';
import { parseResponseContent, describeFields, joinMessageTexts, TurnText } from './response';
import type { WaitResult } from './callAndWait';

/** Builds the item of a call. It may have no response: the call can fail although the awaited message has arrived. */
export async function buildOutputItem(context: IExecuteFunctions, index: number, progress: CallProgress) {
	const { call, sent, answer } = progress;
	const { sessionId, userId, startStepName, timestamp } = sent;
	const content = answer ? parseResponseContent(answer, call.responseSecrets) : { response: null };
	const response = 'response' in content ? (content.response as IDataObject) : null;
	const output = findText(response, call.options.textField) ?? null;
	const statusCode = answer?.statusCode ?? null;
	const json: IDataObject = { output, sessionId, userId, startStepName, timestamp, statusCode, response };
	if (answer && call.options.includeHeaders) json.headers = sanitizeHeaders(answer.headers, call.sanitize);
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (!('bytes' in content)) return item;
	const { bytes, fileName, mimeType } = content;
	const data = await addStartedOnFailure(storeBinary(context.helpers, bytes, fileName, mimeType));
	return { ...item, binary: { data } };
}

/** Makes an error of storing the output say that the agent was started. */
async function addStartedOnFailure<T>(storing: Promise<T>): Promise<T> {
	try {
		return await storing;
	} catch (error) {
		const failure = toNodeError(error);
		const description = `The agent was started, but its output could not be stored. ${failure.description ?? ''}`;
		throw failure.with({ outcome: 'done', description });
	}
}

/** Removes the secrets, because a service may repeat them in its headers, which n8n stores with the execution. */
function sanitizeHeaders(headers: IncomingHttpHeaders, sanitize: Sanitize): IDataObject {
	const entries = Object.entries(headers).map(([name, value = '']) => {
		return [sanitize(name), Array.isArray(value) ? value.map(sanitize) : sanitize(value)] as const;
	});
	return Object.fromEntries(entries);
}

/** Adds the messages to the item of the call. */
export async function addMessages(
	item: INodeExecutionData,
	{ early, messages, endedBy, gap, close }: WaitResult,
	{ textField, textPieces }: PreparedCall['options'],
	helpers: IExecuteFunctions['helpers'],
): Promise<INodeExecutionData> {
	const binary: IBinaryKeyData = { ...item.binary };
	for (const message of [...early, ...messages]) {
		if (message.format !== 'binary') continue;
		const stored = storeMessageBytes(helpers, message.bytes);
		binary[`message_${message.sequence}`] = await addStartedOnFailure(stored);
	}
	const earlyJson = early.map((message) => ({ ...messageToJson(message), beforeCall: true }));
	const json: IDataObject = {
		...item.json,
		output: joinMessageTexts(messages, textField, textPieces, endedBy),
		lastMessage: messages.at(-1)?.message ?? null,
		messages: [...earlyJson, ...messages.map(messageToJson)],
		endedBy,
	};
	if (gap) json.gap = true;
	if (close !== undefined) json.closeCode = close.code;
	if (close !== undefined && close.reason !== '') json.closeReason = close.reason;
	return { ...item, json, ...(Object.keys(binary).length > 0 && { binary }) };
}

function messageToJson({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** Hints about the item that are shown below the node. @param isChat whether the input item comes from a chat */
export function buildHints(
	{ json, binary }: INodeExecutionData,
	{ textField, sessionId, silenceSeconds }: HintOptions,
	waited?: WaitResult,
	isChat = false,
): string[] {
	const hasNoText = json.output === null && binary === undefined;
	const last = waited?.endedBy === 'silence' ? findMarkOfEnd(waited.messages) : undefined;
	// After a gap, a service may well send messages again.
	const repeated = waited?.gap ? 0 : (waited?.repeated ?? 0);
	return [
		hasNoText && buildNoTextHint(json.response, textField, waited),
		waited?.failure &&
			`The message that ends the wait arrived, but the call itself failed: ${waited.failure.message}.`,
		repeated > 0 &&
			`Messages left out because their ID had arrived before: ${repeated}. If the pieces of an answer share an ID, use another field as 'Deduplication Field'.`,
		last &&
			`The last message was followed by ${silenceSeconds} s of silence. If the agent's last message always has the ${last.field} '${last.value}', set 'Wait Until' to 'A Matching Message Arrives' with 'Match Field' ${last.field} and 'Match Value' ${last.value}: the wait then ends at once.`,
		isChat &&
			sessionId === '' &&
			"Each message of the chat starts a new session, in which the agent does not know the earlier messages. To continue the conversation, set 'Session ID' to {{ $json.sessionId }}.",
		isChat && !waited && !hasNoText && `The chat shows the response to the call. ${waitAdvice}`,
	].filter((hint) => typeof hint === 'string');
}

type HintOptions = Pick<PreparedCall['options'], 'textField' | 'sessionId' | 'silenceSeconds'>;

const waitAdvice = "If the agent sends its answer over the session channel, turn on 'Wait for Messages'.";

/** A field of the last message that tells it from the earlier ones. */
function findMarkOfEnd(messages: readonly SessionMessage[]): { field: string; value: string } | undefined {
	const read = (message: unknown, field: string) => (isRecord(message) ? message[field] : undefined);
	const last = messages.at(-1)?.message;
	for (const field of ['type', 'event', 'status']) {
		const value = read(last, field);
		const isNew = messages.slice(0, -1).every(({ message }) => read(message, field) !== value);
		if (typeof value === 'string' && /^[\w.-]{1,40}$/.test(value) && isNew) return { field, value };
	}
	return undefined;
}

function buildNoTextHint(response: unknown, textField: string, waited?: WaitResult): string {
	if (waited?.messages.length === 0) return "'output' is null because no message arrived.";
	const fields = describeFields(waited?.messages ?? [{ message: response }]);
	return joinSentences(
		`'output' is null, because ${waited ? 'the messages have' : 'the response has'} no text in the field '${textField}'.`,
		fields !== '' &&
			`${waited ? 'Their' : 'Its'} fields are: ${fields}. To get one of them as 'output', enter it as 'Text Field' in the options.`,
		!waited && waitAdvice,
	);
}

/** Ends of a wait that a model must know of, because the answer may be incomplete. */
const notableEnds: unknown[] = ['close', 'limit', 'timeout'];

/** Reduces an item to what a model needs: the answer, and how to go on. @param hints what a person would read below the node */
export function toModelItems(
	{ json }: INodeExecutionData,
	{ maxModelCharacters: characters }: Pick<PreparedCall['options'], 'maxModelCharacters'>,
	hints: readonly string[],
): IDataObject[] {
	const { output, sessionId, endedBy, gap, response } = json;
	const ends = notableEnds.includes(endedBy) && { endedBy };
	const about = { sessionId, ...ends, ...(gap === true && { gap }) };
	// Without a text, the response says what there is.
	const whole = typeof output === 'string' ? output : response == null ? '' : JSON.stringify(response);
	const shown = fitText(whole, countRoom(characters, about, hints));
	const part = shown === whole ? [] : [describePart(shown, 0, whole.length)];
	const notes = [...part, ...hints].map((note) => ({ note }));
	return [{ output: typeof output === 'string' || whole !== '' ? shown : null, ...about }, ...notes];
}

/** Shows the agent's texts in the chat as they arrive. */
export class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #options: PreparedCall['options'];
	readonly #isStreaming: boolean;
	/** Chunks are sent one after another, because on a worker each goes through Redis. */
	#lastChunk: Promise<unknown> = Promise.resolve();
	/** The text that the chat shows. */
	readonly #shownText: TurnText;

	constructor(context: IExecuteFunctions, index: number, options: PreparedCall['options']) {
		this.#context = context;
		this.#index = index;
		this.#options = options;
		this.#shownText = new TurnText(options.textPieces);
		// The output of a tool is meant for the agent that called it, not for the chat.
		this.#isStreaming = options.enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	}

	/** @param ends how the message ends the wait. One that reports a failure is not part of the answer */
	readonly showMessage = ({ message }: SessionMessage, ends?: MessageEndReason): void => {
		const text = findText(message, this.#options.textField);
		if (ends !== 'failure' && text !== undefined) this.showText(text, ends === 'match');
	};

	/** @param isEnd whether the message ends the wait */
	showText(text: string, isEnd = true): void {
		if (!this.#isStreaming) return;
		const isFirst = this.#shownText.text === '';
		const added = this.#shownText.add(text, isEnd);
		if (added === '') return;
		if (isFirst) this.#sendChunk('begin');
		this.#sendChunk('item', added);
	}

	/** Settles when all chunks are sent, and never rejects. */
	async end(): Promise<void> {
		if (this.#shownText.text !== '') this.#sendChunk('end');
		await this.#lastChunk;
	}

	#sendChunk(type: 'begin' | 'item' | 'end', content?: string): void {
		// n8n's types do not show that this returns a promise, which settles when the chunk is sent.
		const streaming: { sendChunk(...chunk: Parameters<IExecuteFunctions['sendChunk']>): unknown } =
			this.#context;
		this.#lastChunk = this.#lastChunk
			.then(() => streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The chat may be closed, which is no error of the item.
				this.#context.logger.debug(`Agent Execute: a chunk could not be sent: ${toError(error).message}`);
			});
	}
}

/** Puts the message into the description, because n8n streams only the description of an error. */
export function putMessageIntoDescription(error: unknown, context: IExecuteFunctions): unknown {
	if (!(error instanceof Error) || !('description' in error) || !context.isStreaming()) return error;
	const { description } = error;
	error.description = typeof description === 'string' ? `${error.message}. ${description}` : error.message;
	return error;
}

/** n8n cuts longer values. */
const maxTagLength = 255;
/** n8n's key for the session of a chat. n8n before 2.20 exports no constant for it. */
const sessionKey = 'session_id';

/** Adds the session to the custom data of the execution, by which users find executions, and to its trace. Other sessions stay there. */
export function tagExecution(context: IExecuteFunctions, sessionId: string): void {
	storeIfSupported(context, () => {
		const { [sessionKey]: known } = context.customData.getAll();
		const ids = known === undefined ? [] : known.split(', ');
		const text = [...ids, sessionId].join(', ');
		// An ID that is cut would not be found.
		if (ids.includes(sessionId) || text.length > maxTagLength) return;
		context.customData.set(sessionKey, text);
		context.setMetadata({ tracing: { [sessionKey]: text } });
	});
}

/** Makes n8n show the first answer with the execution, as it does for its own AI Agent. */
export function highlightAnswer(context: IExecuteFunctions, [first]: readonly INodeExecutionData[]): void {
	const answer = first?.json.output;
	// If the node is a tool, the agent that called it has an answer of its own.
	if (typeof answer !== 'string' || answer === '' || isTool(context.getNode())) return;
	storeIfSupported(context, () => {
		context.customData.set(getHighlightedResponseKey(context.getNode().name), answer.slice(0, maxTagLength));
	});
}

/** Goes on if n8n cannot store the data: n8n before 2.20 highlights none, and a tool may run outside of an execution. */
function storeIfSupported(context: IExecuteFunctions, keep: () => void): void {
	try {
		keep();
	} catch (error) {
		const { message } = toError(error);
		context.logger.debug(`Agent Execute: n8n could not store data with this execution: ${message}`);
	}
}
