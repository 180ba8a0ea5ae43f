import type { INodeExecutionData } from 'n8n-workflow';

import { endSentence } from '../../core/text';
import { isRecord } from '../../fields/values';
import { listDistinct } from '../session/messages';
import type { AgentCall } from './call';
import type { Turn } from './wait/turn';

/**
 * Builds the hints about an item that n8n shows below the node.
 * @param isChat whether the input item comes from a chat
 */
export function buildHints(
	{ json, binary }: INodeExecutionData,
	{ params, turn }: Pick<AgentCall, 'params' | 'turn'>,
	isChat: boolean,
): string[] {
	const hints: string[] = [];
	if (turn?.callFailure)
		hints.push(
			`The message that ends the wait arrived, but the call itself failed: ${endSentence(turn.callFailure.message)}`,
		);
	if (json.output === null && binary === undefined)
		hints.push(buildNoTextHint(json.response, params.textField, turn));
	if (isChat && params.sessionId === '')
		hints.push(
			"Each message of the chat starts a new session, in which the agent does not know the earlier messages. To continue the conversation, set 'Session ID' to {{ $json.sessionId }}.",
		);
	return hints;
}

function buildNoTextHint(response: unknown, textField: string, turn?: Turn): string {
	const contents = turn?.messages.map(({ message }) => message) ?? [response];
	const names = contents.filter(isRecord).flatMap((content) => Object.keys(content));
	const fields = listDistinct(names).join(', ') || 'none';
	const advice = turn
		? ''
		: " If the agent sends its answer over the session channel, turn on 'Wait for Messages'.";
	return `'output' is null, because no text was found in the field '${textField}'. Fields found: ${fields}. To get one of them as 'output', enter it as 'Text Field' in the options.${advice}`;
}
