import type { IDataObject } from 'n8n-workflow';

import { appendErrorCode, isNodeError, isRedirect, NodeError, toError } from '../../core/errors';
import { joinSentences, shorten } from '../../core/text';
import type { Sanitize } from '../../core/sanitizer';
import { mentionChoice, quoteField } from '../../fields/field';
import {
	type BodyErrorTexts,
	convertBodyError,
	createStoppedError,
	type ServiceTexts,
} from '../../http/attempt';
import { BodyError } from '../../http/body';
import { parseRetryAfter } from '../../http/loop';
import {
	type AttemptResult,
	classifyNetworkError,
	classifyStatus,
	formatNetworkMessage,
} from '../../http/networkErrors';
import { type CloseReason, maxMessageMebibytes } from '../session/closeReason';
import { networkAdvice } from '../session/networkAdvice';
import {
	type FieldCondition,
	findText,
	findFieldText,
	listDistinct,
} from '../session/messageFields';
import type { SessionMessage } from '../session/messages';
import type { WaitSettings } from './parameters';
import { describeFields } from './messageTexts';
import { type AgentResponse, buildExcerpt } from './response';
import { maxMessages, type MessageCollector } from './waitEnd';

export interface CallErrorContext {
	readonly url: string;
	readonly params: { readonly timeoutSeconds: number };
	readonly sanitize: Sanitize;
}

const unknownOutcomeText =
	'The service may have started the agent. The call was not repeated. Check the session before you run it again.';

/** Converts what was thrown by a call that got no complete response to the error for the user. */
export function convertThrownError(error: unknown, call: CallErrorContext): NodeError {
	if (isNodeError(error)) return error;
	if (error instanceof BodyError) return convertBodyError(error, bodyErrorTexts);
	const networkError = classifyNetworkError(error);
	const { statusCode, errorCode, outcome, retryable, category } = networkError;
	const description = appendErrorCode(
		networkError.cure ?? networkAdvice[category] ?? unknownOutcomeText,
		errorCode,
	);
	// The HTTP client's error contains the request, so only its message is kept.
	const cause = new Error(call.sanitize(toError(error).message));
	const message = formatNetworkMessage(networkError, error, call.url);
	return new NodeError({ code: statusCode, message, description, outcome, retryable, cause });
}

/** Texts for a successful response whose body cannot be read. The call is not repeated. */
const bodyErrorTexts: BodyErrorTexts = {
	tooLarge: [
		"The agent service's response is larger than 64 MiB",
		'The agent was started, but a larger response is not read. Have the agent return a link instead.',
	],
	tooCostly: [
		"The agent service's response has too many parts to read, or is nested too deeply",
		'The agent was started, but reading its response would block n8n, or take more memory than it has. Have the agent return less data or a link.',
	],
	cutShort: ["The agent service's response was cut off", unknownOutcomeText],
};

/** Converts a response with a status outside 200–299 to the error for the user. */
export function convertFailedResponse(
	agentResponse: AgentResponse,
	call: CallErrorContext,
): NodeError {
	const { statusCode, headers } = agentResponse;
	if (isRedirect(statusCode)) return createRedirectError(statusCode, headers.location, call.url);
	const retryAfterMilliseconds = parseRetryAfter(headers['retry-after'], Date.now());
	// A service may have started the agent before it failed. But 503 with Retry-After says, as 429 does, that the agent was not started.
	const saysNotDone = statusCode === 503 && retryAfterMilliseconds !== undefined;
	const attemptResult: AttemptResult = saysNotDone
		? { outcome: 'notDone', retryable: true }
		: classifyStatus(statusCode);
	const excerpt = buildExcerpt(agentResponse, call.sanitize);
	const [meaning, description] = statusTexts[statusCode] ?? getUnlistedStatusTexts(attemptResult);
	const message = `${meaning} (${statusCode})${excerpt ? `: ${excerpt}` : ''}`;
	return new NodeError({
		code: statusCode,
		message,
		description,
		retryAfterMilliseconds,
		...attemptResult,
	});
}

const nothingSentText = 'Nothing was sent: the agent was not started.';

export const createStoppedBeforeCallError = () => createStoppedError(nothingSentText);

/** Used if the output of the other items leaves no room for this item within the limit of a run. */
export function createTooMuchOutputError(limitMebibytes: number): NodeError {
	return new NodeError({
		code: 503,
		message: `The responses and messages of this execution are larger than ${limitMebibytes} MiB together`,
		outcome: 'done',
		description:
			'The agent was started, but n8n cannot hold its answer beside those of the other items. Process fewer items in one execution (Loop Over Items with a sub-workflow), or have the agent return a link.',
	});
}

export function createStoppedAfterCallError(): NodeError {
	const description = 'The agent was started, but the node no longer waits for its messages.';
	return createStoppedError(description).with({ outcome: 'done' });
}

export const agentTexts: ServiceTexts = {
	service: 'The agent service',
	nothingDone: 'The agent was not started.',
	mayBeDone: unknownOutcomeText,
};

function createRedirectError(
	statusCode: number,
	location: string | undefined,
	url: string,
): NodeError {
	const target = location && URL.canParse(location, url) ? new URL(location, url) : undefined;
	// The query is left out, because it may contain a secret.
	const targetText = target ? ` to ${target.protocol}//${target.host}${target.pathname}` : '';
	return new NodeError({
		code: statusCode,
		message: `The agent service responded with a redirect (${statusCode})${targetText}, which was not followed`,
		description:
			'The key and the signature were sent only to the Deployment URL. If the new address is correct, enter it in the credential.',
	});
}

type ErrorTexts = readonly [message: string, description: string];

const credentialsRefusedTexts: ErrorTexts = [
	'The agent service refused the API key or the signature',
	'Check the API key, the signature and its timestamp in the two credentials. The team that operates the agent issues them.',
];

const statusTexts: Readonly<Record<number, ErrorTexts>> = {
	401: credentialsRefusedTexts,
	403: credentialsRefusedTexts,
	404: [
		'The agent service was not found at this address',
		"Check the Deployment URL. The node adds '/execute' to it.",
	],
	408: ['The agent service did not get the whole call in time', unknownOutcomeText],
	429: [
		'The agent service is rate-limiting requests',
		`Lower the option ${quoteField('parallelRequests')}, or run the workflow less often.`,
	],
	502: [
		'The gateway in front of the agent service got no valid response from it',
		unknownOutcomeText,
	],
	504: [
		'The gateway in front of the agent service got no response from it in time',
		unknownOutcomeText,
	],
};

function getUnlistedStatusTexts({ outcome, retryable }: AttemptResult): ErrorTexts {
	const rejectedText = "The text above is the service's response. The call was not repeated.";
	if (!retryable) return ['The agent service rejected the call', rejectedText];
	const internalErrorText = `${unknownOutcomeText} The service reported an internal error.`;
	const busyText = 'The service is temporarily busy or down. It did not start the agent.';
	return [
		'The agent service reported an error',
		outcome === 'notDone' ? busyText : internalErrorText,
	];
}

/** The limit for all messages together, in characters of JSON. n8n stores errors with the execution and shows their whole text. */
const maxMessagesLength = 32_768;
/** The limit for one message, or for the response to the call. */
const maxDetailLength = 8192;

/** Adds session and response to a failure after which the agent may be running. */
export function addCallDetails(
	failure: NodeError,
	{ sessionId, sanitize }: Pick<CallErrorContext, 'sanitize'> & { readonly sessionId: string },
	response?: unknown,
): NodeError {
	// A description that comes from n8n, or quotes the agent, may end without a period.
	const sentence = failure.description?.replace(/([^.!?…])$/, '$1.');
	const responseDetail = response !== undefined && { response: limitDetail(response, sanitize) };
	return failure.with({
		description: joinSentences(sentence, `The session ID is ${sessionId}.`),
		details: { sessionId, ...responseDetail, ...failure.details },
	});
}

/** Builds the details of an error: the last messages that fit the limit. At least one message is listed. */
export function buildMessageDetails(
	messages: readonly SessionMessage[],
	sanitize: Sanitize,
): IDataObject {
	if (messages.length === 0) return {};
	const listedMessages: IDataObject[] = [];
	let length = 0;
	for (const { sequence, receivedAt, format, message } of messages.toReversed()) {
		const detail = { sequence, receivedAt, format, message: limitDetail(message, sanitize) };
		length += JSON.stringify(detail).length;
		if (listedMessages.length > 0 && length > maxMessagesLength) break;
		listedMessages.unshift(detail);
	}
	const leftOutCount = messages.length - listedMessages.length;
	return { messages: listedMessages, ...(leftOutCount > 0 && { messagesLeftOut: leftOutCount }) };
}

/** Sanitizes a value. A large value becomes the beginning of its JSON. */
function limitDetail(value: unknown, sanitize: Sanitize): IDataObject[string] {
	const text = sanitize(JSON.stringify(value));
	if (text.length > maxDetailLength) return shorten(text, maxDetailLength);
	try {
		return JSON.parse(text) as IDataObject;
	} catch {
		// Replacing the secrets may have made the JSON invalid.
		return text;
	}
}

/** Lists the values that were compared with the match value. If there are none, lists the fields of the messages. */
function describeMessages(
	messages: readonly SessionMessage[],
	match: FieldCondition | undefined,
): string {
	const field = match?.field;
	if (field !== undefined) {
		const values = listDistinct(messages.map((message) => findFieldText(message, field)));
		const valuesText = field === '' ? 'Text messages' : `Values of '${field}'`;
		if (values.length > 0) return `${valuesText} received: ${values.join(', ')}.`;
	}
	const fields = describeFields(messages);
	const fieldsText = fields === '' ? '' : `Fields of the messages received: ${fields}.`;
	if (!field || messages.length === 0) return fieldsText;
	return `No message has the field '${field}'. ${fieldsText || 'None of them is a JSON object.'}`;
}

/** How long the channel may take to open before the call. */
export const openTimeoutSeconds = 20;

/** @param closeReason why no further attempt is made; undefined after the time limit */
export function createChannelNotOpenError(
	lastFailure?: NodeError,
	closeReason?: CloseReason,
): NodeError {
	const message = `The session channel did not open within ${openTimeoutSeconds} s`;
	const failure = lastFailure ?? new NodeError({ code: 504, message });
	const response = closeReason?.kind === 'response' ? closeReason.response : undefined;
	const isRefused = response !== undefined && !response.isFromProxy && response.statusCode >= 400;
	// The service may refuse a session that it does not know yet.
	const mayNeedSession = isRefused || closeReason?.kind === 'closeFrame';
	const advice = `If the service creates the session only with the call, set the option ${quoteField('openChannel')} to '${mentionChoice('openChannel', 'after')}'.`;
	return failure.with({
		description: joinSentences(
			'The agent was not started.',
			failure.description,
			mayNeedSession && advice,
		),
	});
}

/** Adds that the agent was started. Used if the channel was lost after the call and cannot be opened again. */
export function addStartedText(failure: NodeError): NodeError {
	const startedText = 'The agent was started, but its messages cannot be received.';
	return failure.with({ description: joinSentences(startedText, failure.description) });
}

const outputChoice = `${quoteField('onWaitTimeout')} to '${mentionChoice('onWaitTimeout', 'output')}'`;

export function createWaitTimeoutError(
	{
		waitTimeoutSeconds,
		matchCondition,
	}: Pick<WaitSettings, 'waitTimeoutSeconds' | 'matchCondition'>,
	{ earlyCount, messages }: Pick<MessageCollector, 'earlyCount' | 'messages'>,
	sanitize: Sanitize,
): NodeError {
	const countText = messages.length === 1 ? '1 message' : `${messages.length} messages`;
	return new NodeError({
		code: 504,
		message: `The wait for messages did not end within ${waitTimeoutSeconds} s. ${countText} received`,
		description: joinSentences(
			sanitize(describeMessages(messages, matchCondition)),
			earlyCount > 0 &&
				`Messages that arrived before the call and did not count: ${earlyCount}.`,
			`The agent was started. Raise 'Wait Timeout', check the condition in ${quoteField('waitUntil')}, or set ${outputChoice}.`,
		),
	});
}

/** Adds that messages may be missing. @param loss the error of the channel that was lost after the call; undefined if none was lost */
export function addPossibleGap(failure: NodeError, loss: NodeError | undefined): NodeError {
	if (loss === undefined) return failure;
	const lossText = joinSentences(
		`${loss.message}.`,
		loss.description,
		'Messages may be missing.',
	);
	return failure.with({ description: joinSentences(lossText, failure.description), cause: loss });
}

export function createTooManyMessagesError(count: number): NodeError {
	return new NodeError({
		code: 502,
		message: `Too many messages arrived: ${count.toLocaleString('en-US')} were received`,
		description: `The agent was started and kept sending messages. A wait collects ${maxMessages.toLocaleString('en-US')} messages, which may have 64 MiB together. Leave out messages with ${quoteField('filterField')} and ${quoteField('filterValue')}, or set ${outputChoice}.`,
		outcome: 'done',
	});
}

export function createOversizedMessageError(): NodeError {
	return new NodeError({
		code: 502,
		message: `The agent sent a message that is larger than ${maxMessageMebibytes} MiB, which was not received`,
		description: `The agent was started. Have it send smaller messages or a link, or set ${outputChoice}.`,
		outcome: 'done',
	});
}

const maxReportLength = 500;

export function createAgentFailureError(
	message: SessionMessage | undefined,
	textField: string,
	sanitize: Sanitize,
): NodeError {
	const report = sanitize(
		findText(message?.message, textField) ?? JSON.stringify(message?.message ?? null),
	);
	return new NodeError({
		code: 500,
		message: 'The agent reported a failure',
		description: shorten(report, maxReportLength),
		outcome: 'done',
	});
}
