import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { appendErrorCode, isNodeError, isRedirect, NodeError } from '../../core/errors';
import { endSentence, joinSentences } from '../../core/text';
import type { Sanitizer } from '../../core/sanitizer';
import { mentionChoice, quoteField } from '../../fields/field';
import {
	type BodyErrorAdvice,
	convertBodyError,
	createStoppedError,
	type ServiceTexts,
} from '../../http/attempt';
import { BodyError, maxResponseBytes, tryParseJson } from '../../http/body';
import { parseRetryAfter } from '../../http/loop';
import {
	type AttemptResult,
	classifyNetworkError,
	classifyStatus,
	formatNetworkMessage,
} from '../../http/networkErrors';
import { maxMessageMebibytes } from '../session/closeReason';
import { findText, type SessionMessage } from '../session/messages';
import { quoteResponse, type RawResponse } from './response';
import { maxMessages, type Turn } from './wait/turn';

const unknownOutcomeText =
	'The service may have started the agent. The call was not repeated. Check the session before you run it again.';
const unreachableAdvice =
	'Check the Deployment URL in the credential, that the service is running, and that n8n can reach it (through a proxy, if you use one).';
/** For a successful response whose body cannot be read. The call is not repeated. */
const bodyErrorAdvice: BodyErrorAdvice = {
	tooLarge:
		'The agent was started, but a larger response is not read. Have the agent return a link instead.',
	tooCostly:
		'The agent was started, but reading its response would block n8n. Have the agent return less data or a link.',
	cutShort: unknownOutcomeText,
};
const outputAdvice = `set ${quoteField('onWaitTimeout')} to ${mentionChoice('onWaitTimeout', 'output')}`;
/**
 * The limit for one message, or for the response, in the details of an error, in characters of
 * JSON. n8n stores errors with the execution and shows their whole text.
 */
const maxDetailLength = 4000;
/** How many messages the details of an error contain, the last ones. */
const maxDetailMessages = 10;
/** How many characters of a failure that the agent reports are shown. */
const maxReportLength = 500;

export const agentTexts: ServiceTexts = {
	service: 'The agent service',
	nothingDone: 'The agent was not started.',
	mayBeDone: unknownOutcomeText,
};

/** Converts what was thrown by a call that got no complete response to the error for the user. */
export function convertThrownError(error: unknown, url: string): NodeError {
	if (isNodeError(error)) return error;
	if (error instanceof BodyError) return convertBodyError(error, agentTexts, bodyErrorAdvice);
	const networkError = classifyNetworkError(error);
	const { errorCode, outcome, retryable, cure = unreachableAdvice } = networkError;
	const advice = outcome === 'notDone' ? cure : unknownOutcomeText;
	return new NodeError({
		code: networkError.statusCode,
		message: formatNetworkMessage(networkError, url),
		description: appendErrorCode(advice, errorCode),
		outcome,
		retryable,
	});
}

/** Converts a response with a status outside 200–299 to the error for the user. */
export function convertFailedResponse(response: RawResponse, sanitizer: Sanitizer): NodeError {
	const { statusCode } = response;
	const retryAfterMilliseconds = parseRetryAfter(response.headers['retry-after']);
	// A service may have started the agent before it failed. But 503 with Retry-After says, as 429
	// does, that the agent was not started.
	const saysBusy = statusCode === 503 && retryAfterMilliseconds !== undefined;
	const attemptResult = classifyStatus(saysBusy ? 429 : statusCode);
	const [meaning, description] = explainStatus(statusCode, attemptResult);
	const excerpt = quoteResponse(response, sanitizer);
	return new NodeError({
		code: statusCode,
		message: `${meaning} (${statusCode})${excerpt && `: ${excerpt}`}`,
		description,
		retryAfterMilliseconds,
		...attemptResult,
	});
}

function explainStatus(
	statusCode: number,
	{ outcome, retryable }: AttemptResult,
): readonly [meaning: string, advice: string] {
	if (statusCode === 401 || statusCode === 403)
		return [
			'The agent service refused the API key or the signature',
			'Check the API key, the signature and its timestamp in the two credentials. The team that operates the agent issues them.',
		];
	if (isRedirect(statusCode))
		return [
			'The agent service responded with a redirect, which was not followed',
			joinSentences(
				outcome === 'unknown' && unknownOutcomeText,
				'The key and the signature were sent only to the Deployment URL. Enter the final address there.',
			),
		];
	if (outcome === 'unknown') return ['The agent service reported an error', unknownOutcomeText];
	if (statusCode === 404)
		return [
			'The agent service was not found at this address',
			"Check the Deployment URL. The node adds '/execute' to it.",
		];
	if (retryable)
		return [
			'The agent service is busy',
			`It did not start the agent. Lower the option ${quoteField('parallelRequests')}, or run the workflow less often.`,
		];
	return ['The agent service rejected the call', 'The agent was not started.'];
}

export const createStoppedBeforeCallError = () => createStoppedError(agentTexts.nothingDone);

export const createStoppedAfterCallError = () =>
	createStoppedError(
		'The agent was started, but the node no longer waits for its messages.',
		'done',
	);

/** Puts the message into the description, because n8n streams only the description of an error. */
export function putMessageIntoDescription(error: unknown, context: IExecuteFunctions): unknown {
	if (!(error instanceof Error) || !('description' in error) || !context.isStreaming())
		return error;
	const { message, description } = error;
	const advice = typeof description === 'string' && description;
	error.description = joinSentences(endSentence(message), advice);
	return error;
}

/** Adds session and response to a failure after which the agent may be running. */
export function addCallDetails(
	failure: NodeError,
	{ sessionId, sanitizer }: { readonly sessionId: string; readonly sanitizer: Sanitizer },
	response?: unknown,
): NodeError {
	// A description that comes from n8n, or quotes the agent, may end without a period.
	const sentence = endSentence(failure.description ?? '');
	const details: IDataObject = { sessionId, ...failure.details };
	if (response !== undefined) details.response = limitDetail(response, sanitizer);
	return failure.with({
		description: joinSentences(sentence, `The session ID is ${sessionId}.`),
		details,
	});
}

/** Adds what arrived after the call was sent to a failure. */
export function addMessages(
	failure: NodeError,
	{ turn, sanitizer }: { readonly turn?: Turn; readonly sanitizer: Sanitizer },
): NodeError {
	if (!turn || (turn.messages.length === 0 && !turn.gapCause)) return failure;
	const messages = turn.messages
		.slice(-maxDetailMessages)
		.map(({ sequence, receivedAt, format, message }) => ({
			sequence,
			receivedAt,
			format,
			message: limitDetail(message, sanitizer),
		}));
	const details: IDataObject = { ...failure.details, messages };
	if (turn.gapCause) details.gap = true;
	return failure.with({ details });
}

/** Sanitizes a value. A large value becomes the beginning of its JSON. */
function limitDetail(value: unknown, sanitizer: Sanitizer): IDataObject[string] {
	const text = sanitizer.sanitizeText(JSON.stringify(value), maxDetailLength);
	const sanitizedValue = tryParseJson(text) as IDataObject[string] | undefined;
	// The text is no JSON if it was shortened, or if a number was a secret.
	return sanitizedValue === undefined ? text : sanitizedValue;
}

/** @param lastFailure why the channel is not open, if that is known */
export function createChannelNotOpenError(
	timeoutSeconds: number,
	lastFailure: NodeError | undefined,
): NodeError {
	const message = `The session channel did not open within ${timeoutSeconds} s`;
	const failure = lastFailure ?? new NodeError({ code: 504, message });
	return failure.with({
		description: joinSentences(
			'The agent was not started.',
			failure.description,
			`If the service creates the session only with the call, set the option ${quoteField('openChannel')} to ${mentionChoice('openChannel', 'after')}.`,
		),
	});
}

/**
 * Says that the agent was started before the failure, and sets the outcome to `done`.
 * @param consequence what the failure prevents, as the end of a sentence
 */
export const markAsStarted = (failure: NodeError, consequence: string) =>
	failure.with({
		outcome: 'done',
		description: joinSentences(
			`The agent was started, but ${consequence}.`,
			failure.description,
		),
	});

export const createWaitTimeoutError = (
	waitTimeoutSeconds: number,
	{ messages, hasLeftOut }: Turn,
) =>
	new NodeError({
		code: 504,
		message: `The wait for messages did not end within ${waitTimeoutSeconds} s. Messages received: ${messages.length}`,
		description: joinSentences(
			messages.length === 0 &&
				hasLeftOut &&
				`${quoteField('filterValue')} left out all messages that arrived.`,
			`The agent was started. Raise ${quoteField('waitTimeoutSeconds')}, check the condition in ${quoteField('waitUntil')}, or ${outputAdvice}.`,
		),
		outcome: 'done',
	});

/**
 * Adds that messages may be missing.
 * @param loss the error of the channel that was lost after the call; undefined if none was lost
 */
export function addPossibleGap(failure: NodeError, loss: NodeError | undefined): NodeError {
	if (loss === undefined) return failure;
	const description = joinSentences(
		endSentence(loss.message),
		loss.description,
		'Messages may be missing.',
		failure.description,
	);
	return failure.with({ description });
}

export const createLimitError = (count: number) =>
	new NodeError({
		code: 502,
		message: `The agent sent a message that is larger than ${maxMessageMebibytes} MiB, or too many messages`,
		description: `The agent was started. A wait collects ${maxMessages.toLocaleString('en-US')} messages of ${maxResponseBytes / 2 ** 20} MiB together, and received ${count} before this one. Have the agent send less or a link, leave out messages with ${quoteField('filterField')} and ${quoteField('filterValue')}, or ${outputAdvice}.`,
		outcome: 'done',
	});

export function createAgentFailureError(
	message: SessionMessage | undefined,
	textField: string,
	sanitizer: Sanitizer,
): NodeError {
	const content = message?.message ?? null;
	const report = findText(content, textField) ?? JSON.stringify(content);
	return new NodeError({
		code: 500,
		message: 'The agent reported a failure',
		description: sanitizer.sanitizeText(report, maxReportLength),
		outcome: 'done',
	});
}
