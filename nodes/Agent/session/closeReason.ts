import { toError, isNodeError, isRedirect, NodeError } from '../../core/errors';
import { shorten } from '../../core/text';
import type { Sanitize } from '../../core/sanitizer';
import { blockedAdvice, classifyNetworkError, isBlockedByPolicy } from '../../http/networkErrors';
import type { NetworkError } from '../../http/networkErrors';
import { parseRetryAfter } from '../../http/loop';

/** The HTTP response of a server, or of a proxy, that did not open the channel. */
export interface UpgradeResponse {
	readonly statusCode: number;
	readonly retryAfter: string | undefined;
	readonly date: string | undefined;
	/** The target of a redirect. It may have a query. */
	readonly location: string | undefined;
	readonly contentType: string | undefined;
	/** The first 2 KiB at most, decoded as UTF-8. It may repeat what was sent. */
	readonly body: string;
	readonly fromProxy?: boolean;
}

/** A larger message closes the channel. */
export const maxMessageMebibytes = 16;

/** Why a channel closed or did not open. The texts contain no secrets. */
export type CloseReason =
	/** The server sent a close frame. `code` is 1005 if the frame had none. */
	| { readonly kind: 'closeFrame'; readonly code: number; readonly reason: string }
	/** The connection was lost without a close frame. */
	| { readonly kind: 'dropped' }
	/** The server or a proxy responded to the upgrade with an HTTP status. */
	| { readonly kind: 'response'; readonly response: UpgradeResponse }
	/** The connection failed. `code` is Node's, such as ECONNREFUSED. */
	| { readonly kind: 'network'; readonly code: string | undefined; readonly message: string }
	/** n8n's egress policy forbids the address, so nothing was sent. */
	| { readonly kind: 'blocked' }
	| { readonly kind: 'connectTimeout' }
	/** The server did not respond to a ping and has sent nothing for `milliseconds`. */
	| { readonly kind: 'silent'; readonly milliseconds: number }
	| { readonly kind: 'tooLarge' }
	/** The server agreed to open the channel, but with a response that the WebSocket protocol forbids. `message` is that of the `ws` library. */
	| { readonly kind: 'invalidUpgrade'; readonly message: string }
	/** A frame broke the WebSocket protocol, for example by invalid UTF-8. `code` is that of the `ws` library. */
	| { readonly kind: 'malformed'; readonly code: string }
	/** The credentials could not be read. `needsUser`: only the user can fix this, because they are incomplete or access is denied. */
	| { readonly kind: 'credentials'; readonly message: string; readonly needsUser: boolean };

/** When to make the next attempt. Agent Execute and the trigger's test fail instead of waiting for the long backoff. */
export type RetryDecision =
	/** A random delay, up to a limit that doubles with each attempt (exponential backoff with jitter). */
	| 'backoff'
	/** One attempt, after 1 to 2 s. Attempts share credentials for a second, so this attempt reads them again. */
	| 'freshCredentials'
	/** 5 to 10 s, then twice as long with each attempt, up to 15 minutes. */
	| 'longBackoff';

const longBackoffCloseCodes = [1002, 1003, 1007, 1008, 1010];
/** After this many faulty frames in a row, the long backoff applies, because a server that repeats unread messages repeats such a frame. */
const maxFaultyCloses = 3;
const isTemporaryStatus = (statusCode: number) =>
	statusCode >= 500 || [408, 425, 429].includes(statusCode);

/**
 * Decides how to reconnect. Unknown close codes mean `backoff`, and so does 1000, because servers and load balancers use it for any close.
 * @param history what happened in this outage, as `OutageHistory` describes it. `faultyCloseCount` includes this close reason
 */
export function decideRetry(
	closeReason: CloseReason,
	history: { readonly retriedCloseKey: string | undefined; readonly faultyCloseCount: number },
): RetryDecision {
	const { kind } = closeReason;
	if (isClosedByFaultyFrame(closeReason) && history.faultyCloseCount >= maxFaultyCloses)
		return 'longBackoff';
	if (kind === 'credentials') return closeReason.needsUser ? 'longBackoff' : 'backoff';
	if (kind === 'blocked' || kind === 'invalidUpgrade') return 'longBackoff';
	if (kind === 'closeFrame' && longBackoffCloseCodes.includes(closeReason.code))
		return 'longBackoff';
	const statusCode = findHttpStatus(closeReason);
	if (statusCode === undefined || isTemporaryStatus(statusCode)) return 'backoff';
	if (isRedirect(statusCode)) return 'longBackoff';
	return history.retriedCloseKey === getCloseKey(closeReason)
		? 'longBackoff'
		: 'freshCredentials';
}

/** Whether a faulty frame closed the channel: one that is too large or malformed. A server that finds a frame too large closes with 1009. */
export function isClosedByFaultyFrame(closeReason: CloseReason): boolean {
	if (closeReason.kind === 'closeFrame') return closeReason.code === 1009;
	return closeReason.kind === 'tooLarge' || closeReason.kind === 'malformed';
}

/** Returns a text that is equal for two close reasons if the second repeats the first: the close code, the HTTP status or the kind. */
export function getCloseKey(closeReason: CloseReason): string {
	if (closeReason.kind === 'closeFrame') return `close ${closeReason.code}`;
	return closeReason.kind === 'response'
		? `status ${closeReason.response.statusCode}`
		: closeReason.kind;
}

/** Finds the HTTP status of a response or a close code. Many services send 4401 for the status 401, and so on, though no standard says so. */
function findHttpStatus(closeReason: CloseReason): number | undefined {
	if (closeReason.kind === 'response') return closeReason.response.statusCode;
	return closeReason.kind === 'closeFrame' && closeReason.code >= 4400
		? closeReason.code - 4000
		: undefined;
}

/** Builds the reason why a socket closed. @param cause the error or response that came before the socket closed */
export function buildCloseReason(
	{ code, reason }: { readonly code: number; readonly reason: string },
	cause: CloseReason | undefined,
	sanitize: Sanitize,
): CloseReason {
	// 1006: there was no close frame. If there was one, an error such as a ping that could not be sent is only a consequence of the close.
	if (code !== 1006 && (cause === undefined || cause.kind === 'network'))
		return { kind: 'closeFrame', code, reason: sanitize(reason) };
	return cause ?? { kind: 'dropped' };
}

type CodedError = Error & { code?: unknown };

/** The code of a socket's error after an upgrade that the `ws` library refused. The library itself gives these errors no code. */
export const invalidUpgradeCode = 'INVALID_UPGRADE';

export function convertSocketError(error: CodedError, sanitize: Sanitize): CloseReason {
	const code = typeof error.code === 'string' ? error.code : '';
	if (code === invalidUpgradeCode)
		return { kind: 'invalidUpgrade', message: sanitize(error.message) };
	if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { kind: 'tooLarge' };
	if (code.startsWith('WS_ERR_')) return { kind: 'malformed', code };
	return convertNetworkError(error, sanitize);
}

export function convertNetworkError(error: CodedError, sanitize: Sanitize): CloseReason {
	const { code, message } = error;
	if (isBlockedByPolicy(error)) return { kind: 'blocked' };
	return {
		kind: 'network',
		code: typeof code === 'string' ? code : undefined,
		message: sanitize(message),
	};
}

export function convertUpgradeResponse(response: UpgradeResponse, sanitize: Sanitize): CloseReason {
	const location = response.location && sanitize(response.location);
	return { kind: 'response', response: { ...response, location, body: sanitize(response.body) } };
}

/** Converts an error of reading the credentials. @param sanitize used for n8n's errors. A NodeError contains no secrets */
export function convertCredentialError(error: unknown, sanitize: Sanitize): CloseReason {
	if (isNodeError(error)) return { kind: 'credentials', message: error.message, needsUser: true };
	const { name, message } = toError(error);
	// An expression in the credential failed, for example because n8n does not allow $env in it.
	const needsUser = name === 'ExpressionError';
	return { kind: 'credentials', message: sanitize(message), needsUser };
}

/** Describes the reason in a clause for events, logs and the end of an error message. */
export function describeCloseReason(closeReason: CloseReason): string {
	switch (closeReason.kind) {
		case 'closeFrame':
			return `closed by the server with code ${closeReason.code}${closeReason.reason && ` (${closeReason.reason})`}`;
		case 'dropped':
			return 'the connection was lost';
		case 'response':
			return `${closeReason.response.fromProxy ? 'the proxy' : 'the server'} responded with status ${closeReason.response.statusCode}`;
		case 'network': {
			const { category, reason, errorCode } = classifyNetworkError(closeReason);
			return category === 'unknown'
				? `the connection failed (${errorCode ?? closeReason.message})`
				: reason;
		}
		case 'blocked':
			return 'n8n does not allow connections to this address';
		case 'connectTimeout':
			return 'the server did not open the channel in time';
		case 'silent':
			return 'the server stopped responding';
		case 'tooLarge':
			return `a message was larger than the limit of ${maxMessageMebibytes} MiB`;
		case 'invalidUpgrade':
			return `the server violated the WebSocket protocol when it opened the channel (${closeReason.message})`;
		case 'malformed':
			return `a message violated the WebSocket protocol (${closeReason.code})`;
		case 'credentials':
			return `the credentials could not be read: ${closeReason.message}`;
	}
}

/** Creates the error for the user. The host is undefined if the credentials could never be read. */
export function createChannelError(
	closeReason: CloseReason,
	{ sessionId, host, wasOpen }: { sessionId: string; host: string | undefined; wasOpen: boolean },
	nowMilliseconds: number,
): NodeError {
	const place = host === undefined ? '' : ` to ${host}`;
	const stateText = wasOpen ? 'did not stay open' : 'is not open';
	const statusCode =
		closeReason.kind === 'response'
			? closeReason.response.statusCode
			: statusCodeByKind[closeReason.kind];
	return new NodeError({
		code: statusCode ?? 503,
		message: `The channel of session ${shorten(sessionId)}${place} ${stateText}: ${describeCloseReason(closeReason)}`,
		description: getCloseAdvice(closeReason, nowMilliseconds),
		retryAfterMilliseconds: parseCloseRetryAfter(closeReason, nowMilliseconds),
	});
}

/** Parses the delay that the server asked for, in milliseconds. */
export function parseCloseRetryAfter(
	closeReason: CloseReason,
	nowMilliseconds: number,
): number | undefined {
	if (closeReason.kind !== 'response') return undefined;
	return parseRetryAfter(closeReason.response.retryAfter, nowMilliseconds);
}

/** HTTP status numbers by kind of close reason. A response has its own status. All other kinds have 503. */
const statusCodeByKind: Partial<Record<CloseReason['kind'], number>> = {
	connectTimeout: 504,
	silent: 504,
	tooLarge: 502,
	malformed: 502,
	invalidUpgrade: 502,
	credentials: 400,
};

const unreachableAdvice =
	'Check that the agent service is running and that n8n can reach the WebSocket URL in the Agent API credential (through a proxy, if you use one).';

/** Advice by kind of close reason or category of network error. A response has its own advice. All others have `unreachableAdvice`. */
const adviceByKind: Partial<Record<CloseReason['kind'] | NetworkError['category'], string>> = {
	closeFrame: 'Ask the team that operates the agent service what this close code means.',
	tooLarge: 'Have the agent send smaller messages, or a link to the data.',
	malformed:
		'The agent service, or something between it and n8n, sent data that is not valid WebSocket traffic. Ask the team that operates the agent service.',
	invalidUpgrade:
		'Ask the team that operates the agent service: its response to the upgrade must not contain anything that n8n did not ask for, such as an extension or a subprotocol. A proxy in between may also have added it.',
	credentials:
		'Open the credentials of this node, check them, and save them again. If one of them uses $env, n8n must allow it (N8N_BLOCK_ENV_ACCESS_IN_NODE).',
	blocked: `${blockedAdvice} This also applies to the proxy, if you use one.`,
	handshake:
		'Check the WebSocket URL in the Agent API credential: its port, and whether the service supports wss:// and https:// connections.',
};

export function getCloseAdvice(closeReason: CloseReason, nowMilliseconds: number): string {
	if (closeReason.kind === 'response') {
		const { response } = closeReason;
		const adviceTexts = [
			getUpgradeStatusAdvice(response),
			describeClockSkew(response, nowMilliseconds),
		];
		return [...adviceTexts, quoteResponseBody(response)].filter(Boolean).join(' ');
	}
	if (closeReason.kind !== 'network') return adviceByKind[closeReason.kind] ?? unreachableAdvice;
	const { category, cure } = classifyNetworkError(closeReason);
	return cure ?? adviceByKind[category] ?? unreachableAdvice;
}

function getUpgradeStatusAdvice({ statusCode, location, fromProxy }: UpgradeResponse): string {
	if (fromProxy)
		return 'Check the proxy environment variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).';
	if (isRedirect(statusCode))
		return `It redirects${formatRedirectTarget(location)}. Enter the final address as the WebSocket URL.`;
	if ([400, 401, 403].includes(statusCode))
		return "Check the API key, the user public key and the signature, and the 'WebSocket Timestamp Unit' and 'Timestamp' settings in the credentials. The team that operates the agent issues new values.";
	if (isTemporaryStatus(statusCode))
		return 'The agent service is temporarily busy or down. Try again later.';
	return "Check the WebSocket URL in the Agent API credential (the node adds '/ws' to it), and check that the session exists.";
}

/** Formats host and path. The query is left out, because it may repeat secrets. For a location without a host, `relative` stands in for it. */
function formatRedirectTarget(location: string | undefined): string {
	if (location === undefined || !URL.canParse(location, 'ws://relative')) return '';
	const { host, pathname } = new URL(location, 'ws://relative');
	return ` to ${host === 'relative' ? '' : host}${pathname}`;
}

/** A smaller difference between the clocks is not reported, because signatures are valid for longer. */
const minClockSkewSeconds = 30;

function describeClockSkew({ statusCode, date }: UpgradeResponse, nowMilliseconds: number): string {
	const serverMilliseconds = Date.parse(date ?? '');
	if (Number.isNaN(serverMilliseconds) || ![400, 401, 403].includes(statusCode)) return '';
	const seconds = Math.round((serverMilliseconds - nowMilliseconds) / 1000);
	if (Math.abs(seconds) < minClockSkewSeconds) return '';
	return `The server's clock is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} this machine's, so the server may reject a signed timestamp.`;
}

const maxQuoteLength = 300;

/** Quotes the body of the response unless it is a web page. */
function quoteResponseBody({ body, contentType }: UpgradeResponse): string {
	const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	if (text === '' || contentType?.includes('html') || text.startsWith('<')) return '';
	return `The server said: ${shorten(text, maxQuoteLength)}`;
}
