import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { storeBinary } from '../../core/binaryStorage';
import { buildModelAnswer, completeModelAnswer } from '../../core/modelAnswer';
import { findText, type SessionMessage } from '../session/messages';
import type { AgentCall } from './call';
import type { ResponseContent } from './response';
import type { Turn, WaitEndReason } from './wait/turn';

/**
 * Builds the item of a call. A call without a response also has an item if the awaited messages
 * arrived.
 */
export async function buildOutputItem(
	{ helpers }: IExecuteFunctions,
	index: number,
	call: AgentCall,
): Promise<INodeExecutionData> {
	const json = buildCallJson(call);
	// The output is the messages' text, even if they have none: the response is only a receipt.
	if (call.turn) Object.assign(json, buildTurnJson(call.turn));
	const binary = await storeFiles(helpers, call.response?.content, call.turn?.messages ?? []);
	const item: INodeExecutionData = { json, pairedItem: { item: index } };
	if (Object.keys(binary).length > 0) item.binary = binary;
	return item;
}

function buildCallJson({ params, sentBody, response }: AgentCall): IDataObject {
	const { sessionId, userId, startStepName, timestamp } = sentBody ?? {};
	const { statusCode = null, content } = response ?? {};
	const body = content && 'response' in content ? content.response : null;
	return {
		output: findText(body, params.textField) ?? null,
		sessionId,
		userId,
		startStepName,
		timestamp,
		statusCode,
		response: body as IDataObject,
	};
}

/** Stores the bytes of the response and of binary messages. */
async function storeFiles(
	helpers: IExecuteFunctions['helpers'],
	content: ResponseContent | undefined,
	messages: readonly SessionMessage[],
): Promise<IBinaryKeyData> {
	const binary: IBinaryKeyData = {};
	if (content && 'bytes' in content)
		binary.data = await storeBinary(helpers, content.bytes, content.fileName, content.mimeType);
	for (const message of messages)
		if (message.format === 'binary')
			binary[`message_${message.sequence}`] = await storeBinary(helpers, message.bytes);
	return binary;
}

/** Builds what the item says about the messages of the turn and how it ended. */
function buildTurnJson({ messages, answer, endReason, gapCause, closeFrame }: Turn): IDataObject {
	const json: IDataObject = {
		output: answer.output,
		lastMessage: messages.at(-1)?.message ?? null,
		messages: messages.map(buildMessageJson),
		endedBy: endReason,
	};
	if (gapCause) json.gap = true;
	if (closeFrame) json.closeCode = closeFrame.code;
	if (closeFrame?.reason) json.closeReason = closeFrame.reason;
	return json;
}

function buildMessageJson({ sequence, receivedAt, format, message }: SessionMessage): IDataObject {
	return { sequence, receivedAt, format, message: message as IDataObject };
}

/** The values of `endedBy` after which the answer may be incomplete. A model is told about them. */
const incompleteEnds: readonly WaitEndReason[] = ['limit', 'timeout'];

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
	const content = 'lastMessage' in json ? json.lastMessage : json.response;
	const facts: IDataObject = { sessionId: json.sessionId };
	if (incompleteEnds.some((end) => end === json.endedBy)) facts.endedBy = json.endedBy;
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
