import { isNodeError, NodeError, toError } from '../../core/errors';
import { buildExcerpt, joinSentences, shorten } from '../../core/text';
import type { Sanitizer } from '../../core/sanitizer';
import { classifyNetworkError, type NetworkError } from '../../http/networkErrors';

/** The HTTP response of a server, or of a proxy before it, that did not open the channel. */
export interface UpgradeResponse {
	readonly statusCode: number;
	readonly retryAfterMilliseconds: number | undefined;
	/** The first 2 KiB at most, decoded as UTF-8. */
	readonly body: string;
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
	/**
	 * The connection failed, the server broke the WebSocket protocol, or n8n's egress policy
	 * forbids the address.
	 */
	| { readonly kind: 'network'; readonly error: NetworkError; readonly message: string }
	| { readonly kind: 'connectTimeout' }
	/** The server did not respond to a ping and has sent nothing for `milliseconds`. */
	| { readonly kind: 'silent'; readonly milliseconds: number }
	| { readonly kind: 'tooLarge' }
	/**
	 * The credentials could not be read. `needsUser`: only the user can fix this, because they are
	 * incomplete or access is denied.
	 */
	| { readonly kind: 'credentials'; readonly message: string; readonly needsUser: boolean };

/** What is known about the last channel of a session. */
export interface ChannelHistory {
	/**
	 * When and why the channel was lost, in monotonic milliseconds. Undefined if no channel was
	 * lost, or one is open again.
	 */
	loss?: { readonly lostAt: number; readonly reason: string } | undefined;
}

/** Whether a frame was too large: one from the server, or one that the server refused with 1009. */
export const isTooLarge = (closeReason: CloseReason): boolean =>
	closeReason.kind === 'tooLarge' ||
	(closeReason.kind === 'closeFrame' && closeReason.code === 1009);

/** Converts what the socket, n8n's egress policy or the name server reported. */
export function convertNetworkError(
	error: Error & { readonly code?: unknown },
	sanitizer: Sanitizer,
): CloseReason {
	if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { kind: 'tooLarge' };
	return {
		kind: 'network',
		error: classifyNetworkError(error),
		message: sanitizer.sanitizeText(error.message),
	};
}

/**
 * Converts an error of reading the credentials.
 * @param sanitizer used for n8n's errors. A NodeError contains no secrets
 */
export function convertCredentialError(error: unknown, sanitizer: Sanitizer): CloseReason {
	if (isNodeError(error)) return { kind: 'credentials', message: error.message, needsUser: true };
	const { name, message } = toError(error);
	// An expression in the credential failed, for example because n8n does not allow $env in it.
	const needsUser = name === 'ExpressionError';
	return { kind: 'credentials', message: sanitizer.sanitizeText(message), needsUser };
}

/** Creates the error for the user. The host is undefined if the credentials could never be read. */
export function createChannelError(
	closeReason: CloseReason,
	{ sessionId, host }: { readonly sessionId: string; readonly host: string | undefined },
): NodeError {
	const { code = 503, reason, advice = unreachableAdvice } = explainCloseReason(closeReason);
	const place = host === undefined ? '' : ` to ${host}`;
	return new NodeError({
		code,
		message: `The channel of session ${shorten(sessionId)}${place} is not open: ${reason}`,
		description: advice,
		retryAfterMilliseconds: findRetryAfter(closeReason),
	});
}

/** Finds the delay that the server asked for. */
export const findRetryAfter = (closeReason: CloseReason): number | undefined =>
	closeReason.kind === 'response' ? closeReason.response.retryAfterMilliseconds : undefined;

interface Explanation {
	/** An HTTP status number. By default 503. */
	readonly code?: number;
	/** A clause for events, logs and the end of an error message. */
	readonly reason: string;
	/** By default `unreachableAdvice`. */
	readonly advice?: string;
}

const unreachableAdvice =
	'Check that the agent service is running and that n8n can reach the WebSocket URL in the Agent API credential: its scheme, host and port, and the proxy, if you use one.';
const operatorAdvice = 'Ask the team that operates the agent service what this means.';

export function explainCloseReason(closeReason: CloseReason): Explanation {
	switch (closeReason.kind) {
		case 'closeFrame': {
			const text = closeReason.reason && ` (${closeReason.reason})`;
			const reason = `closed by the server with code ${closeReason.code}${text}`;
			return { reason, advice: operatorAdvice };
		}
		case 'dropped':
			return { reason: 'the connection was lost' };
		case 'response':
			return explainResponse(closeReason.response);
		case 'network':
			return explainNetworkError(closeReason.error, closeReason.message);
		case 'connectTimeout':
			return { code: 504, reason: 'it did not open in time' };
		case 'silent':
			return { code: 504, reason: 'the server stopped responding' };
		case 'tooLarge':
			return {
				code: 502,
				reason: `a message was larger than the limit of ${maxMessageMebibytes} MiB`,
				advice: 'Have the agent send smaller messages, or a link to the data.',
			};
		case 'credentials':
			return {
				code: 400,
				reason: `the credentials could not be read: ${closeReason.message}`,
				advice: 'Open the credentials of this node, check them, and save them again. If one of them uses $env, n8n must allow it (N8N_BLOCK_ENV_ACCESS_IN_NODE).',
			};
	}
}

function explainNetworkError(error: NetworkError, message: string): Explanation {
	const { category, reason, errorCode, cure } = error;
	if (category !== 'unknown') return { reason, advice: cure };
	return { reason: `the connection failed (${errorCode ?? message})` };
}

function explainResponse(response: UpgradeResponse): Explanation {
	const { statusCode } = response;
	const excerpt = buildExcerpt(response.body);
	return {
		// Another status is no error, but this response is one.
		code: statusCode < 400 ? 502 : statusCode,
		reason: `the server, or a proxy before it, responded with status ${statusCode}`,
		advice: joinSentences(getStatusAdvice(statusCode), excerpt && `The response: ${excerpt}`),
	};
}

export const isTemporaryStatus = (statusCode: number) =>
	statusCode >= 500 || [408, 425, 429].includes(statusCode);

function getStatusAdvice(statusCode: number): string {
	if (statusCode === 407)
		return 'Check the proxy environment variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).';
	if ([400, 401, 403].includes(statusCode))
		return "Check the API key, the user public key and the signature, the 'WebSocket Timestamp Unit' and 'Timestamp' settings in the credentials, and the clock of this machine. The team that operates the agent issues new values. If n8n uses a proxy, check that the proxy allows this address.";
	if (isTemporaryStatus(statusCode))
		return 'The agent service is temporarily busy or down. Try again later.';
	return "Check the WebSocket URL in the Agent API credential (the node adds '/ws' to it, and follows no redirect), and check that the session exists.";
}
