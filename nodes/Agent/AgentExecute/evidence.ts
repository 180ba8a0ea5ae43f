import type { IDataObject } from 'n8n-workflow';

import type { Failure } from '../../core/failure';
import { shortened } from '../../core/shortened';
import type { SessionMessage } from '../session/messages';

/** Of all messages, in characters of JSON: errors are kept with the execution, and shown as a whole. */
const mostOfMessages = 32_768;
const mostOfOne = 8192;

export interface Evidence {
	readonly sessionId: string;
	/** Undefined: the call was not answered. */
	readonly response?: unknown;
	readonly redact: (text: string) => string;
}

/** A failure after which the agent may be running, with all that is known about it, such as the session to look at. */
export function withEvidence(failure: Failure, { sessionId, response, redact }: Evidence): Failure {
	const what = failure.description?.replace(/([^.!?…])$/, '$1.');
	const description = [what, `The session ID is ${sessionId}.`].filter(Boolean).join(' ');
	const details: IDataObject = { sessionId };
	if (response !== undefined) details.response = bounded(response, redact);
	return failure.with({ description, details: { ...details, ...failure.details } });
}

/** The last messages, as many as are not too much. */
export function messageDetails(
	messages: readonly SessionMessage[],
	redact: (text: string) => string,
): IDataObject {
	if (messages.length === 0) return {};
	const kept: IDataObject[] = [];
	let size = 0;
	for (const message of messages.toReversed()) {
		const shown = shownMessage(message, redact);
		size += JSON.stringify(shown).length;
		if (kept.length > 0 && size > mostOfMessages) break;
		kept.unshift(shown);
	}
	const left = messages.length - kept.length;
	return { messages: kept, ...(left > 0 && { messagesLeftOut: left }) };
}

function shownMessage(message: SessionMessage, redact: (text: string) => string): IDataObject {
	const { sequence, receivedAt, format } = message;
	return { sequence, receivedAt, format, message: bounded(message.message, redact) };
}

/** Unchanged if small, otherwise the beginning of its JSON. */
function bounded(value: unknown, redact: (text: string) => string): IDataObject[string] {
	const text = redact(JSON.stringify(value));
	if (text.length > mostOfOne) return shortened(text, mostOfOne);
	try {
		return JSON.parse(text) as IDataObject;
	} catch {
		// Once the secrets are removed, it is no longer valid JSON.
		return text;
	}
}
