import type { INodeExecutionData } from 'n8n-workflow';

import { isRecord } from '../../fields/values';
import type { SessionMessage } from '../session/messages';
import type { PreparedCall } from './call';
import type { WaitResult } from './callAndWait';
import { describeFields } from './messageTexts';

type HintParams = Pick<PreparedCall['params'], 'textField' | 'sessionId' | 'silenceSeconds'>;

const waitAdvice =
	"If the agent sends its answer over the session channel, turn on 'Wait for Messages'.";

/** Builds the hints about an item that n8n shows below the node. @param isChat whether the input item comes from a chat */
export function buildHints(
	{ json, binary }: INodeExecutionData,
	{ textField, sessionId, silenceSeconds }: HintParams,
	waitResult?: WaitResult,
	isChat = false,
): string[] {
	const hints = waitResult ? buildWaitHints(waitResult, silenceSeconds) : [];
	const hasNoText = json.output === null && binary === undefined;
	if (hasNoText) hints.push(buildNoTextHint(json.response, textField, waitResult));
	if (isChat && sessionId === '')
		hints.push(
			"Each message of the chat starts a new session, in which the agent does not know the earlier messages. To continue the conversation, set 'Session ID' to {{ $json.sessionId }}.",
		);
	if (isChat && !waitResult && !hasNoText)
		hints.push(`The chat shows the response to the call. ${waitAdvice}`);
	return hints;
}

function buildWaitHints(waitResult: WaitResult, silenceSeconds: number): string[] {
	const { callFailure, repeatedCount, hasGap, endedBy, messages } = waitResult;
	const hints: string[] = [];
	if (callFailure)
		hints.push(
			`The message that ends the wait arrived, but the call itself failed: ${callFailure.message}.`,
		);
	// After a gap, a service may send messages again on purpose.
	if (repeatedCount > 0 && !hasGap)
		hints.push(
			`Messages left out because their ID had arrived before: ${repeatedCount}. If the pieces of an answer share an ID, use another field as 'Deduplication Field'.`,
		);
	const finalType = endedBy === 'silence' ? findFinalType(messages) : undefined;
	if (finalType !== undefined)
		hints.push(
			`The last message was followed by ${silenceSeconds} s without another one. If the agent's last message always has the type '${finalType}', set 'Wait Until' to 'A Matching Message Arrives' with 'Final Message Field' type and 'Final Message Values' ${finalType}: the wait then ends at once.`,
		);
	return hints;
}

/** Finds the type of the last message, if it is a name that no earlier message has. Then it may mark the end. */
function findFinalType(messages: readonly SessionMessage[]): string | undefined {
	const types = messages.map(({ message }) => (isRecord(message) ? message.type : undefined));
	const lastType = types.pop();
	if (typeof lastType !== 'string' || !/^[\w.-]{1,40}$/.test(lastType)) return undefined;
	return types.includes(lastType) ? undefined : lastType;
}

function buildNoTextHint(response: unknown, textField: string, waitResult?: WaitResult): string {
	if (waitResult?.messages.length === 0) return "'output' is null because no message arrived.";
	const source = waitResult ? 'the messages have' : 'the response has';
	const sentences = [`'output' is null, because ${source} no text in the field '${textField}'.`];
	const fields = describeFields(waitResult?.messages ?? [{ message: response }]);
	if (fields !== '')
		sentences.push(
			`Fields found: ${fields}. To get one of them as 'output', enter it as 'Text Field' in the options.`,
		);
	if (!waitResult) sentences.push(waitAdvice);
	return sentences.join(' ');
}
