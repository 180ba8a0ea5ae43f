import { Failure } from '../../core/errors';
import { shortened } from '../../core/text';
import { type SessionMessage, fieldText } from '../session/messages';
import { textIn } from './response';
import type { WaitSettings } from './parameters';

const mostNamed = 10;
const longestName = 40;

/**
 * Describes the received messages, so that the user can see which field or value marks the end.
 * @param field of the match; empty: texts; undefined: the wait does not end by a match
 */
function describeMessages(messages: readonly SessionMessage[], field: string | undefined): string {
	if (messages.length === 0) return '';
	const values = field === undefined ? [] : named(messages.map((message) => fieldText(message, field)));
	if (values.length > 0 && field !== '') return `Values of '${field}' received: ${values.join(', ')}.`;
	if (values.length > 0) return `Text messages received: ${values.join(', ')}.`;
	const fields = named(messages.flatMap(({ message }) => keysOf(message)));
	if (fields.length === 0)
		return field ? `No message has the field '${field}', because none of them is a JSON object.` : '';
	const had = `Fields of the messages received: ${fields.join(', ')}.`;
	return field ? `No message has the field '${field}'. ${had}` : had;
}

const keysOf = (message: unknown): string[] =>
	typeof message === 'object' && message !== null && !Array.isArray(message) ? Object.keys(message) : [];

/** Each once, the first of them, shortened. */
function named(texts: ReadonlyArray<string | undefined>): string[] {
	const distinct = new Set<string>();
	for (const text of texts) {
		if (text === undefined) continue;
		if (distinct.size === mostNamed) return [...distinct, '…'];
		distinct.add(shortened(text, longestName));
	}
	return [...distinct];
}

/** The channel did not open before the call. @param lastFailure why the last attempt failed */
export function notOpen(limitSeconds: number, lastFailure: Failure | undefined): Failure {
	return new Failure({
		code: lastFailure?.code ?? 504,
		message: lastFailure?.message ?? `The session channel did not open within ${limitSeconds} s`,
		description: sentences('The agent was not started.', lastFailure?.description),
		cause: lastFailure,
	});
}

/** The service refuses to open the channel again while the messages are awaited. */
export function channelLost(failure: Failure): Failure {
	const { code, message, description } = failure;
	return new Failure({
		code,
		message,
		description: sentences('The agent was started, but its messages cannot be received.', description),
		cause: failure,
	});
}

/** @param lastFailure why the channel is not open; undefined when it is */
export function notOver(
	{ timeoutSeconds, end }: Pick<WaitSettings, 'timeoutSeconds' | 'end'>,
	{ early, messages }: Readonly<Record<'early' | 'messages', readonly SessionMessage[]>>,
	lastFailure: Failure | undefined,
	redact: (text: string) => string,
): Failure {
	const came = messages.length === 1 ? '1 message' : `${messages.length} messages`;
	const field = end.by === 'match' ? end.field : undefined;
	return new Failure({
		code: 504,
		message: `The wait for messages did not end within ${timeoutSeconds} s. ${came} received`,
		description: sentences(
			lastFailure && `${lastFailure.message}.`,
			redact(describeMessages(messages, field)),
			early.length > 0 &&
				`Messages that did not count because they were of an earlier turn: ${early.length}.`,
			"The agent was started. Raise 'Wait Timeout', check the condition in 'Wait Until', or set 'On Wait Timeout' to 'Output Messages Received So Far'.",
		),
		cause: lastFailure,
	});
}

const longestReport = 500;

/** A message with the failure value came. */
export function agentFailed(
	message: SessionMessage | undefined,
	textField: string,
	redact: (text: string) => string,
): Failure {
	const report = redact(textIn(message?.message, textField) ?? JSON.stringify(message?.message ?? null));
	return new Failure({
		code: 500,
		message: 'The agent reported a failure',
		description: shortened(report, longestReport),
		carriedOut: true,
	});
}

const sentences = (...texts: ReadonlyArray<string | false | undefined>): string =>
	texts.filter(Boolean).join(' ');
