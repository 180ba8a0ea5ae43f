import type { IncomingHttpHeaders } from 'node:http';
import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import { getHighlightedResponseKey } from 'n8n-workflow';

import { toError, isTool, toNodeError } from '../../core/errors';
import { storeBinary } from '../../core/binaryStorage';
import { countRoom, describePart, fitText } from '../../core/modelAnswer';
import type { Sanitize } from '../../core/sanitizer';
import { joinSentences } from '../../core/text';
import { isRecord } from '../../fields/values';
import { findText } from '../session/messageFields';
import { storeMessageBytes, type SessionMessage } from '../session/messages';
import type { CallProgress, PreparedCall } from './call';
import type { MessageEndReason } from './waitEnd';
import { buildOutputText, describeFields, TurnText } from './messageTexts';
import { parseResponseContent } from './response';
import type { WaitResult } from './callAndWait';

/** Builds the item of a call. A call without a response also has an item if the awaited messages arrived. */
export async function buildOutputItem(
	context: IExecuteFunctions,
	index: number,
	progress: CallProgress,
) {
	const { call, sentBody, agentResponse } = progress;
	const { sessionId, userId, startStepName, timestamp } = sentBody;
	const { params, responseSecrets, sanitize } = call;
	const content = agentResponse
		? parseResponseContent(agentResponse, responseSecrets)
		: { response: null };
	const response = 'response' in content ? (content.response as IDataObject) : null;
	const output = findText(response, params.textField) ?? null;
	const statusCode = agentResponse?.statusCode ?? null;
	const json: IDataObject = {
		output,
		sessionId,
		userId,
		startStepName,
		timestamp,
		statusCode,
		response,
	};
	if (agentResponse && params.includeHeaders)
		json.headers = sanitizeHeaders(agentResponse.headers, sanitize);
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (!('bytes' in content)) return item;
	const { bytes, fileName, mimeType } = content;
	const data = await awaitStored(storeBinary(context.helpers, bytes, fileName, mimeType));
	return { ...item, binary: { data } };
}

/** Awaits the storing of output. @throws NodeError that says that the agent was started */
async function awaitStored<T>(storing: Promise<T>): Promise<T> {
	try {
		return await storing;
	} catch (error) {
		const failure = toNodeError(error);
		const description = `The agent was started, but its output could not be stored. ${failure.description ?? ''}`;
		throw failure.with({ outcome: 'done', description });
	}
}

/** Removes secrets, because a service may repeat them in its headers, and n8n stores the headers with the execution. */
function sanitizeHeaders(headers: IncomingHttpHeaders, sanitize: Sanitize): IDataObject {
	const entries = Object.entries(headers).map(([name, value = '']) => {
		return [
			sanitize(name),
			Array.isArray(value) ? value.map(sanitize) : sanitize(value),
		] as const;
	});
	return Object.fromEntries(entries);
}

/** Adds the messages of the wait and how it ended. Stores the bytes of binary messages as binary data of the item. */
export async function addMessages(
	item: INodeExecutionData,
	{ earlyMessages, messages, endedBy, hasGap, closeFrame }: WaitResult,
	{ textField, textPieces }: PreparedCall['params'],
	helpers: IExecuteFunctions['helpers'],
): Promise<INodeExecutionData> {
	const binary: IBinaryKeyData = { ...item.binary };
	for (const message of [...earlyMessages, ...messages]) {
		if (message.format !== 'binary') continue;
		binary[`message_${message.sequence}`] = await awaitStored(
			storeMessageBytes(helpers, message.bytes),
		);
	}
	const earlyJson = earlyMessages.map((message) => ({
		...buildMessageJson(message),
		beforeCall: true,
	}));
	const json: IDataObject = {
		...item.json,
		output: buildOutputText(messages, textField, textPieces, endedBy),
		lastMessage: messages.at(-1)?.message ?? null,
		messages: [...earlyJson, ...messages.map(buildMessageJson)],
		endedBy,
	};
	if (hasGap) json.gap = true;
	if (closeFrame !== undefined) json.closeCode = closeFrame.code;
	if (closeFrame !== undefined && closeFrame.reason !== '') json.closeReason = closeFrame.reason;
	return { ...item, json, ...(Object.keys(binary).length > 0 && { binary }) };
}

function buildMessageJson({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** Builds the hints about an item that n8n shows below the node. @param isChat whether the input item comes from a chat */
export function buildHints(
	{ json, binary }: INodeExecutionData,
	{ textField, sessionId, silenceSeconds }: HintOptions,
	waitResult?: WaitResult,
	isChat = false,
): string[] {
	const hasNoText = json.output === null && binary === undefined;
	const endSign =
		waitResult?.endedBy === 'silence' ? suggestMatchCondition(waitResult.messages) : undefined;
	// After a gap, a service may send messages again on purpose, so repeated messages are no reason for a hint.
	const repeatedCount = waitResult?.hasGap ? 0 : (waitResult?.repeatedCount ?? 0);
	return [
		hasNoText && buildNoTextHint(json.response, textField, waitResult),
		waitResult?.callFailure &&
			`The message that ends the wait arrived, but the call itself failed: ${waitResult.callFailure.message}.`,
		repeatedCount > 0 &&
			`Messages left out because their ID had arrived before: ${repeatedCount}. If the pieces of an answer share an ID, use another field as 'Deduplication Field'.`,
		endSign &&
			`The last message was followed by ${silenceSeconds} s of silence. If the agent's last message always has the ${endSign.field} '${endSign.value}', set 'Wait Until' to 'A Matching Message Arrives' with 'Match Field' ${endSign.field} and 'Match Value' ${endSign.value}: the wait then ends at once.`,
		isChat &&
			sessionId === '' &&
			"Each message of the chat starts a new session, in which the agent does not know the earlier messages. To continue the conversation, set 'Session ID' to {{ $json.sessionId }}.",
		isChat &&
			!waitResult &&
			!hasNoText &&
			`The chat shows the response to the call. ${waitAdvice}`,
	].filter((hint) => typeof hint === 'string');
}

type HintOptions = Pick<PreparedCall['params'], 'textField' | 'sessionId' | 'silenceSeconds'>;

const waitAdvice =
	"If the agent sends its answer over the session channel, turn on 'Wait for Messages'.";

/** Suggests what may mark the last message: a field whose value differs there from its values in all earlier messages. */
function suggestMatchCondition(messages: readonly SessionMessage[]) {
	const readField = (message: unknown, field: string) =>
		isRecord(message) ? message[field] : undefined;
	const lastMessage = messages.at(-1)?.message;
	for (const field of ['type', 'event', 'status']) {
		const value = readField(lastMessage, field);
		const isNew = messages
			.slice(0, -1)
			.every(({ message }) => readField(message, field) !== value);
		if (typeof value === 'string' && /^[\w.-]{1,40}$/.test(value) && isNew)
			return { field, value };
	}
	return undefined;
}

function buildNoTextHint(response: unknown, textField: string, waitResult?: WaitResult): string {
	if (waitResult?.messages.length === 0) return "'output' is null because no message arrived.";
	const fields = describeFields(waitResult?.messages ?? [{ message: response }]);
	return joinSentences(
		`'output' is null, because ${waitResult ? 'the messages have' : 'the response has'} no text in the field '${textField}'.`,
		fields !== '' &&
			`${waitResult ? 'Their' : 'Its'} fields are: ${fields}. To get one of them as 'output', enter it as 'Text Field' in the options.`,
		!waitResult && waitAdvice,
	);
}

/** The values of `endedBy` after which the answer may be incomplete. A model is told about them. */
const incompleteEnds: unknown[] = ['close', 'limit', 'timeout'];

/** Reduces an item to what a model needs: answer, session and hints. @param hints the texts that a person reads below the node */
export function toModelItems(
	{ json }: INodeExecutionData,
	hints: readonly string[],
): IDataObject[] {
	const { output, sessionId, endedBy, gap, response } = json;
	const incompleteEnd = incompleteEnds.includes(endedBy) && { endedBy };
	const commonFields = { sessionId, ...incompleteEnd, ...(gap === true && { gap }) };
	const hintNotes = hints.map((note) => ({ note }));
	if (typeof output !== 'string' && response == null)
		return [{ output: null, ...commonFields }, ...hintNotes];
	// If there is no text, the model gets the whole response.
	const fullText = typeof output === 'string' ? output : JSON.stringify(response);
	const fittedText = fitText(fullText, countRoom(commonFields, hints));
	const partNotes =
		fittedText === fullText ? [] : [{ note: describePart(fittedText, 0, fullText.length) }];
	return [{ output: fittedText, ...commonFields }, ...partNotes, ...hintNotes];
}

/** Shows the agent's texts in the chat as they arrive. */
export class LiveView {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #params: PreparedCall['params'];
	readonly #isStreaming: boolean;
	/** Settles when the last chunk is sent. Chunks are sent one after another, because a worker sends each chunk through Redis. */
	#lastChunk: Promise<unknown> = Promise.resolve();
	readonly #shownText: TurnText;

	constructor(context: IExecuteFunctions, index: number, params: PreparedCall['params']) {
		this.#context = context;
		this.#index = index;
		this.#params = params;
		this.#shownText = new TurnText(params.textPieces);
		// The output of a tool is meant for the agent that called the tool, not for the chat.
		this.#isStreaming =
			params.enableStreaming && !isTool(context.getNode()) && context.isStreaming();
	}

	/** Shows the text of a message, unless the message reports a failure. @param endReason how the message ends the wait */
	readonly showMessage = ({ message }: SessionMessage, endReason?: MessageEndReason): void => {
		const text = findText(message, this.#params.textField);
		if (endReason !== 'failure' && text !== undefined)
			this.showText(text, endReason === 'match');
	};

	/** @param isEnd whether the message ends the wait */
	showText(text: string, isEnd = true): void {
		if (!this.#isStreaming) return;
		const isFirst = this.#shownText.text === '';
		const addedText = this.#shownText.add(text, isEnd);
		if (addedText === '') return;
		if (isFirst) this.#sendChunk('begin');
		this.#sendChunk('item', addedText);
	}

	/** Settles when all chunks are sent, and never rejects. */
	async end(): Promise<void> {
		if (this.#shownText.text !== '') this.#sendChunk('end');
		await this.#lastChunk;
	}

	#sendChunk(type: 'begin' | 'item' | 'end', content?: string): void {
		// n8n's types hide that `sendChunk` returns a promise. The promise settles when the chunk is sent.
		const streaming: {
			sendChunk(...chunk: Parameters<IExecuteFunctions['sendChunk']>): unknown;
		} = this.#context;
		this.#lastChunk = this.#lastChunk
			.then(() => streaming.sendChunk(type, this.#index, content))
			.catch((error: unknown) => {
				// The chat may be closed. That is no error of the item.
				this.#context.logger.debug(
					`Agent Execute: a chunk could not be sent: ${toError(error).message}`,
				);
			});
	}
}

/** Puts the message into the description, because n8n streams only the description of an error. */
export function putMessageIntoDescription(error: unknown, context: IExecuteFunctions): unknown {
	if (!(error instanceof Error) || !('description' in error) || !context.isStreaming())
		return error;
	const { description } = error;
	error.description =
		typeof description === 'string' ? `${error.message}. ${description}` : error.message;
	return error;
}

/** The longest value of custom data, in characters. n8n cuts longer values. */
const maxCustomDataLength = 255;
/** n8n's key for the session of a chat. Before version 2.20, n8n exports no constant for this key. */
const chatSessionKey = 'session_id';

/** Adds the session to the sessions in the custom data of the execution and in its trace. Users find executions by custom data. */
export function tagExecution(context: IExecuteFunctions, sessionId: string): void {
	storeIfSupported(context, () => {
		const { [chatSessionKey]: knownText } = context.customData.getAll();
		const sessionIds = knownText === undefined ? [] : knownText.split(', ');
		const idsText = [...sessionIds, sessionId].join(', ');
		// A text that n8n cuts would end with a part of an ID.
		if (sessionIds.includes(sessionId) || idsText.length > maxCustomDataLength) return;
		context.customData.set(chatSessionKey, idsText);
		context.setMetadata({ tracing: { [chatSessionKey]: idsText } });
	});
}

/** Makes n8n show the answer of the first item with the execution, as it does for its own AI Agent. */
export function highlightAnswer(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
): void {
	const answer = items[0]?.json.output;
	// If the node is a tool, the agent that called the tool gives the answer of the execution.
	if (typeof answer !== 'string' || answer === '' || isTool(context.getNode())) return;
	storeIfSupported(context, () => {
		const key = getHighlightedResponseKey(context.getNode().name);
		context.customData.set(key, answer.slice(0, maxCustomDataLength));
	});
}

/** Ignores errors of storing: n8n before 2.20 highlights no data, and a tool may run outside of an execution. */
function storeIfSupported(context: IExecuteFunctions, store: () => void): void {
	try {
		store();
	} catch (error) {
		const { message } = toError(error);
		context.logger.debug(
			`Agent Execute: n8n could not store data with this execution: ${message}`,
		);
	}
}
