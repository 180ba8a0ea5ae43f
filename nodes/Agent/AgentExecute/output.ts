import type { IncomingHttpHeaders } from 'node:http';
import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { asFailure } from '../../core/errorItem';
import { storeBinary } from '../../core/storeBinary';
import { binaryOf } from '../session/binaryMessage';
import type { SessionMessage } from '../session/messages';
import { contentOf } from './response';
import type { PreparedCall } from './call';
import type { Executed } from './request';
import { lastText, textIn } from './text';
import type { Waited } from './wait';

/** The item of a call that is answered. */
export async function outputItem(
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
export async function withMessages(
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
