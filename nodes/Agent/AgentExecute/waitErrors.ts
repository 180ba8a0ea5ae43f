import { NodeError, shortened } from '../../core/errors';
import { type CloseReason } from '../session/closeReason';
import { fieldText, type SessionMessage } from '../session/messages';
import { describeFields, named, textIn } from './response';
import type { WaitSettings } from './parameters';

/**
 * Describes the received messages, so that the user can see which field or value marks the end.
 * @param field of the match; empty: texts; undefined: the wait does not end by a match
 */
function describeMessages(messages: readonly SessionMessage[], field: string | undefined): string {
	if (messages.length === 0) return '';
	const values = field === undefined ? [] : named(messages.map((message) => fieldText(message, field)));
	if (values.length > 0 && field !== '') return `Values of '${field}' received: ${values.join(', ')}.`;
	if (values.length > 0) return `Text messages received: ${values.join(', ')}.`;
	const fields = describeFields(messages);
	if (fields === '')
		return field ? `No message has the field '${field}', because none of them is a JSON object.` : '';
	const had = `Fields of the messages received: ${fields}.`;
	return field ? `No message has the field '${field}'. ${had}` : had;
}

/**
 * The channel did not open before the call.
 * @param lastFailure why the last attempt failed
 * @param refusal how the service refused the channel for good
 */
export function notOpen(
	limitSeconds: number,
	lastFailure: NodeError | undefined,
	refusal?: CloseReason,
): NodeError {
	return new NodeError({
		code: lastFailure?.code ?? 504,
		message: lastFailure?.message ?? `The session channel did not open within ${limitSeconds} s`,
		description: sentences(
			'The agent was not started.',
			lastFailure?.description,
			refusal !== undefined &&
				mayNeedSession(refusal) &&
				"If the service creates the session only with the call, set the option 'Open Channel' to 'After the Call'.",
		),
		cause: lastFailure,
	});
}

/** Whether the service may refuse the channel because it does not know the session yet. */
function mayNeedSession(refusal: CloseReason): boolean {
	if (refusal.kind === 'closeFrame') return true;
	return refusal.kind === 'answer' && !refusal.answer.fromProxy && refusal.answer.statusCode >= 400;
}

/** The service refuses to open the channel again while the messages are awaited. */
export function channelLost(failure: NodeError): NodeError {
	const { code, message, description } = failure;
	return new NodeError({
		code,
		message,
		description: sentences('The agent was started, but its messages cannot be received.', description),
		cause: failure,
	});
}

/** What was waited for has not come in time. */
export function notOver(
	{ timeoutSeconds, end }: Pick<WaitSettings, 'timeoutSeconds' | 'end'>,
	{ early, messages }: Readonly<Record<'early' | 'messages', readonly SessionMessage[]>>,
	redact: (text: string) => string,
): NodeError {
	const came = messages.length === 1 ? '1 message' : `${messages.length} messages`;
	const field = end.by === 'match' ? end.field : undefined;
	return new NodeError({
		code: 504,
		message: `The wait for messages did not end within ${timeoutSeconds} s. ${came} received`,
		description: sentences(
			redact(describeMessages(messages, field)),
			early.length > 0 && `Messages that did not count because they came before the call: ${early.length}.`,
			"The agent was started. Raise 'Wait Timeout', check the condition in 'Wait Until', or set 'On Wait Timeout' to 'Output Messages Received So Far'.",
		),
	});
}

/** @param loss how the channel was lost while messages were expected */
export function withLoss(failure: NodeError, loss: NodeError): NodeError {
	const description = sentences(
		`${loss.message}.`,
		loss.description,
		'Messages may be missing.',
		failure.description,
	);
	return failure.with({ description, cause: loss });
}

/** @param count of the messages that were collected */
export function tooMany(count: number): NodeError {
	return new NodeError({
		code: 502,
		message: `More messages came than the node collects: ${count.toLocaleString('en-US')} were received`,
		description:
			"The agent was started, and went on sending. Raise 'Max Messages' (all messages together may have 64 MiB), leave out messages with 'Filter Field' and 'Filter Value', or set 'On Wait Timeout' to 'Output Messages Received So Far'.",
		carriedOut: true,
	});
}

const longestReport = 500;

/** A message with the failure value came. */
export function agentFailed(
	message: SessionMessage | undefined,
	textField: string,
	redact: (text: string) => string,
): NodeError {
	const report = redact(textIn(message?.message, textField) ?? JSON.stringify(message?.message ?? null));
	return new NodeError({
		code: 500,
		message: 'The agent reported a failure',
		description: shortened(report, longestReport),
		carriedOut: true,
	});
}

const sentences = (...texts: ReadonlyArray<string | false | undefined>): string =>
	texts.filter(Boolean).join(' ');
