import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { toError } from '../../core/errors';
import { storeBinary } from '../../core/binaryStorage';
import { buildModelAnswer, completeModelAnswer } from '../../core/modelAnswer';
import { findText, type SessionMessage } from '../session/messages';
import type { AgentCall } from './call';
import { buildOutputText } from './messageTexts';
import type { WaitResult } from './callAndWait';

/**
 * Builds the item of a call. A call without a response also has an item if the awaited messages
 * arrived.
 */
export async function buildOutputItem(
	{ helpers }: IExecuteFunctions,
	index: number,
	{ params, sentBody, response }: AgentCall,
	waitResult: WaitResult | undefined,
): Promise<INodeExecutionData> {
	const { sessionId, userId, startStepName, timestamp } = sentBody ?? {};
	const { statusCode = null, content = { response: null } } = response ?? {};
	const sent = { sessionId, userId, startStepName, timestamp };
	const json: IDataObject = { output: null, ...sent, statusCode, response: null };
	const binary: IBinaryKeyData = {};
	if ('bytes' in content) {
		const { bytes, fileName, mimeType } = content;
		binary.data = await storeBinary(helpers, bytes, fileName, mimeType);
	} else {
		json.response = content.response as IDataObject;
		json.output = findText(content.response, params.textField) ?? null;
	}
	if (waitResult) {
		Object.assign(json, buildWaitJson(waitResult, params));
		for (const message of waitResult.messages)
			if (message.format === 'binary')
				binary[`message_${message.sequence}`] = await storeBinary(helpers, message.bytes);
	}
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (Object.keys(binary).length > 0) item.binary = binary;
	return item;
}

/** Builds what the item says about the messages of the wait and how it ended. */
function buildWaitJson(
	{ messages, endedBy, hasGap, closeFrame }: WaitResult,
	params: AgentCall['params'],
): IDataObject {
	const json: IDataObject = {
		output: buildOutputText(messages, params, endedBy),
		lastMessage: messages.at(-1)?.message ?? null,
		messages: messages.map(buildMessageJson),
		endedBy,
	};
	if (hasGap) json.gap = true;
	if (closeFrame) json.closeCode = closeFrame.code;
	if (closeFrame?.reason) json.closeReason = closeFrame.reason;
	return json;
}

function buildMessageJson({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** The values of `endedBy` after which the answer may be incomplete. A model is told about them. */
const incompleteEnds: unknown[] = ['limit', 'timeout'];

/**
 * Reduces an item to what a model needs: answer, session and hints.
 * @param hints the texts that a person reads below the node
 */
export function toModelItems(
	{ json }: INodeExecutionData,
	hints: readonly string[],
): IDataObject[] {
	const { output } = json;
	// A model that waits for messages is not interested in the receipt of the call.
	const content = json.lastMessage ?? json.response;
	const facts: IDataObject = { sessionId: json.sessionId };
	if (incompleteEnds.includes(json.endedBy)) facts.endedBy = json.endedBy;
	if (json.gap === true) facts.gap = true;
	if (typeof output !== 'string' && content == null)
		return completeModelAnswer({ items: [{ output: null, ...facts }] }, hints);
	// If there is no text, the model gets the last message or the whole response.
	const text = typeof output === 'string' ? output : JSON.stringify(content);
	const answer = buildModelAnswer(facts, { name: 'output', text }, (shownLength, isCut) =>
		isCut ? `Characters 0 to ${shownLength} of ${text.length} are shown.` : undefined,
	);
	return completeModelAnswer(answer, hints);
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
/**
 * n8n's key for the session of a chat. Before version 2.20, n8n exports no constant for this key.
 */
const chatSessionKey = 'session_id';

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
