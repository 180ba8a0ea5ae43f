import { asError, isNodeError, isRedirect, NodeError, shortened } from '../../core/errors';
import { blockedAdvice, isBlocked, type NetworkError, networkErrorOf } from '../../http/networkErrors';
import { parseRetryAfter } from '../../http/retry';
import type { Redact } from './credentials';

/** What a server answered instead of opening the channel. */
export interface UpgradeAnswer {
	readonly statusCode: number;
	readonly retryAfter: string | undefined;
	readonly date: string | undefined;
	/** Of a redirect; may hold a query. */
	readonly location: string | undefined;
	readonly contentType: string | undefined;
	/** At most 2 KiB, decoded as UTF-8; may echo what was sent. */
	readonly body: string;
	/** Whether a proxy answered in the server's place. */
	readonly fromProxy?: boolean;
}

/** How a channel ended, or why it never opened. Texts are redacted. */
export type CloseReason =
	/** The server sent a close frame; 1005 when the frame had no code. */
	| { readonly kind: 'closeFrame'; readonly code: number; readonly reason: string }
	/** The connection broke off without a close frame. */
	| { readonly kind: 'dropped' }
	/** The server, or a proxy, answered the upgrade with a status. */
	| { readonly kind: 'answer'; readonly answer: UpgradeAnswer }
	/** `code` is Node's, e.g. ECONNREFUSED. */
	| { readonly kind: 'network'; readonly code: string | undefined; readonly message: string }
	/** n8n's policy of where connections may go forbids it: nothing was sent. */
	| { readonly kind: 'blocked' }
	| { readonly kind: 'connectTimeout' }
	/** No answer to a ping, and nothing else since that many milliseconds. */
	| { readonly kind: 'silent'; readonly milliseconds: number }
	/** A message above the limit. */
	| { readonly kind: 'tooLarge'; readonly maxMessageBytes: number }
	/** A message that breaks the WebSocket protocol, e.g. invalid UTF-8; `code` is the library's. */
	| { readonly kind: 'malformed'; readonly code: string }
	/** The credentials could not be read; or they are not complete, or may not be read, which only the user can mend. */
	| { readonly kind: 'credentials'; readonly message: string; readonly isMistake: boolean };

/** `retry`: backoff; `suspect`: once more at once, with credentials read again; `final`: only the slow lane tries again. */
export type RetryDecision = 'retry' | 'suspect' | 'final';

const finalCloseCodes = [1002, 1003, 1007, 1008, 1010];
/** A server that replays unread messages would send the same message forever. */
const faultyFramesInARow = 3;
/** A fault that passes by itself. */
const isPassing = (status: number) => status >= 500 || [408, 425, 429].includes(status);

/**
 * What the end of a channel means for the next attempt. A close code that nothing is known of means trying again, and so does 1000:
 * servers and balancers close with it.
 * @param history `suspected`: `signOf` the refusal that was answered with an immediate attempt; `faultyFrames`: endings in a row by a
 * message that is too large or malformed, this one included
 */
export function retryDecisionOf(
	closeReason: CloseReason,
	history: { readonly suspected: string | undefined; readonly faultyFrames: number },
	ownFinalCloseCodes: readonly number[],
): RetryDecision {
	if (isFaultyFrame(closeReason) && history.faultyFrames >= faultyFramesInARow) return 'final';
	if (closeReason.kind === 'credentials') return closeReason.isMistake ? 'final' : 'retry';
	if (closeReason.kind === 'blocked') return 'final';
	const final = [...finalCloseCodes, ...ownFinalCloseCodes];
	if (closeReason.kind === 'closeFrame' && final.includes(closeReason.code)) return 'final';
	const status = statusOf(closeReason);
	if (status === undefined || isPassing(status)) return 'retry';
	if (isRedirect(status)) return 'final';
	return history.suspected === signOf(closeReason) ? 'final' : 'suspect';
}

/** Whether a message ended the channel. */
export function isFaultyFrame(closeReason: CloseReason): boolean {
	if (closeReason.kind === 'closeFrame') return closeReason.code === 1009;
	return closeReason.kind === 'tooLarge' || closeReason.kind === 'malformed';
}

/** Names a refusal, so that the same one is known again. */
export function signOf(closeReason: CloseReason): string {
	if (closeReason.kind === 'closeFrame') return `close ${closeReason.code}`;
	return closeReason.kind === 'answer' ? `status ${closeReason.answer.statusCode}` : closeReason.kind;
}

/** The HTTP status of an answer, or the one that a close code from 4400 on stands for. */
function statusOf(closeReason: CloseReason): number | undefined {
	if (closeReason.kind === 'answer') return closeReason.answer.statusCode;
	return closeReason.kind === 'closeFrame' && closeReason.code >= 4400 ? closeReason.code - 4000 : undefined;
}

/** Why a socket closed, without secrets. @param cause what was known before it closed */
export function closeReasonOf(
	{ code, reason }: { readonly code: number; readonly reason: string },
	cause: CloseReason | undefined,
	redact: Redact,
): CloseReason {
	// An error after the server's close frame, such as a ping that could not be sent, is only its echo.
	if (code !== 1006 && (cause?.kind ?? 'network') === 'network') {
		return { kind: 'closeFrame', code, reason: redact(reason) };
	}
	return cause ?? { kind: 'dropped' };
}

/** What an error of the socket says, without secrets. */
export function causeOf(
	error: Error & { code?: unknown },
	{ maxMessageBytes, redact }: { readonly maxMessageBytes: number; readonly redact: Redact },
): CloseReason {
	const code = typeof error.code === 'string' ? error.code : undefined;
	if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { kind: 'tooLarge', maxMessageBytes };
	if (error.message === 'Opening handshake has timed out') return { kind: 'connectTimeout' };
	if (code?.startsWith('WS_ERR_')) return { kind: 'malformed', code };
	return notConnected(error, redact);
}

/** The connection could not be made, or broke. */
export function notConnected(error: Error & { code?: unknown }, redact: Redact): CloseReason {
	const { code, message } = error;
	if (isBlocked(error)) return { kind: 'blocked' };
	return { kind: 'network', code: typeof code === 'string' ? code : undefined, message: redact(message) };
}

export function refusedBy(answer: UpgradeAnswer, redact: Redact): CloseReason {
	const { location, body } = answer;
	return {
		kind: 'answer',
		answer: { ...answer, location: location && redact(location), body: redact(body) },
	};
}

/** Why there was nothing to connect with: reading the credentials failed. @param redact our own failures hold no secrets */
export function withoutCredentials(error: unknown, redact: Redact): CloseReason {
	const { message } = asError(error);
	if (isNodeError(error)) return { kind: 'credentials', message, isMistake: true };
	return { kind: 'credentials', message: redact(message), isMistake: message.includes(envDenied) };
}

/** n8n's words for an expression with $env where N8N_BLOCK_ENV_ACCESS_IN_NODE forbids it. */
const envDenied = 'access to env vars denied';

/** In a sentence without its subject, for events and logs. */
export function reasonOf(closeReason: CloseReason): string {
	switch (closeReason.kind) {
		case 'closeFrame':
			return `closed by the server with code ${closeReason.code}${closeReason.reason === '' ? '' : ` (${closeReason.reason})`}`;
		case 'dropped':
			return 'the connection was lost';
		case 'answer':
			return `${closeReason.answer.fromProxy ? 'the proxy' : 'the server'} responded with status ${closeReason.answer.statusCode}`;
		case 'network': {
			const { what, reason } = networkErrorOf(closeReason);
			return what === 'unknown'
				? `the connection failed (${closeReason.code ?? closeReason.message})`
				: reason;
		}
		case 'blocked':
			return 'n8n does not allow connections to this address';
		case 'connectTimeout':
			return 'the server did not open the channel in time';
		case 'silent':
			return 'the server stopped responding';
		case 'tooLarge':
			return `a message was larger than the limit of ${closeReason.maxMessageBytes} bytes`;
		case 'malformed':
			return `a message violated the WebSocket protocol (${closeReason.code})`;
		case 'credentials':
			return `the credentials could not be read: ${closeReason.message}`;
	}
}

/** For the user. Never holds a secret: the texts of a close reason are redacted. @param host undefined if no credential could be read */
export function errorOf(
	closeReason: CloseReason,
	{ sessionId, host, opened }: { sessionId: string; host: string | undefined; opened: boolean },
	nowMilliseconds: number,
): NodeError {
	const place = host === undefined ? '' : ` to ${host}`;
	const what = opened ? 'did not stay open' : 'is not open';
	return new NodeError({
		code: codeOf(closeReason),
		message: `The channel of session ${shortened(sessionId)}${place} ${what}: ${reasonOf(closeReason)}`,
		description: adviceOf(closeReason, nowMilliseconds),
		retryAfterMilliseconds: retryAfterOf(closeReason, nowMilliseconds),
	});
}

/** The wait that the server asked for, in milliseconds. */
export function retryAfterOf(closeReason: CloseReason, nowMilliseconds: number): number | undefined {
	return closeReason.kind === 'answer'
		? parseRetryAfter(closeReason.answer.retryAfter, nowMilliseconds)
		: undefined;
}

/** By kind, where it is not 503. */
const codes: Partial<Record<CloseReason['kind'], number>> = {
	connectTimeout: 504,
	silent: 504,
	tooLarge: 502,
	malformed: 502,
	credentials: 400,
};

function codeOf(closeReason: CloseReason): number {
	return closeReason.kind === 'answer' ? closeReason.answer.statusCode : (codes[closeReason.kind] ?? 503);
}

const reachAdvice =
	'Check that the agent service is running and that n8n can reach the WebSocket URL in the Agent API credential (through a proxy, if you use one).';

/** By kind. For every other kind the advice is to check that the service can be reached. */
const advice: Partial<Record<CloseReason['kind'] | NetworkError['what'], string>> = {
	closeFrame: 'Ask the team that operates the agent service what this close code means.',
	tooLarge: "Raise 'Max Message Size' in the options, or have the agent send smaller messages.",
	malformed:
		'The agent service, or something between it and n8n, sent data that is not valid WebSocket traffic. Ask the team that operates the agent service.',
	credentials: 'Open the credentials of this node, check them, and save them again.',
	blocked: `${blockedAdvice} The same goes for the proxy, if you use one.`,
	certificate:
		"Install a valid certificate on the server. If you trust this server, you can turn on 'Ignore SSL Issues' in the Agent API credential instead.",
	handshake:
		'Check the WebSocket URL in the Agent API credential: its port, and whether the service supports wss:// and https:// connections.',
};

export function adviceOf(closeReason: CloseReason, nowMilliseconds: number): string {
	if (closeReason.kind === 'answer') {
		const { answer } = closeReason;
		const parts = [statusAdvice(answer), skew(answer, nowMilliseconds), quote(answer)];
		return parts.filter(Boolean).join(' ');
	}
	if (closeReason.kind === 'credentials' && closeReason.message.includes(envDenied)) {
		return 'The credential uses $env, which this n8n does not allow (N8N_BLOCK_ENV_ACCESS_IN_NODE). Enter the value itself, or use an external secret.';
	}
	const kind = closeReason.kind === 'network' ? networkErrorOf(closeReason).what : closeReason.kind;
	return advice[kind] ?? reachAdvice;
}

function statusAdvice({ statusCode, location, fromProxy }: UpgradeAnswer): string {
	if (fromProxy)
		return 'Check the proxy environment variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).';
	if (isRedirect(statusCode))
		return `It redirects${target(location)}. Enter the final address as the WebSocket URL.`;
	if ([400, 401, 403].includes(statusCode)) {
		return "Check the API key, the user public key and the signature, and the 'WebSocket Timestamp Unit' and 'Timestamp' settings in the credentials. The team that operates the agent issues new values.";
	}
	if (isPassing(statusCode)) return 'The agent service is temporarily busy or down. Try again later.';
	return "Check the WebSocket URL in the Agent API credential (the node adds '/ws' to it), and check that the session exists.";
}

/** Host and path only: the query may carry what was sent. */
function target(location: string | undefined): string {
	if (location === undefined || !URL.canParse(location, 'ws://relative')) return '';
	const { host, pathname } = new URL(location, 'ws://relative');
	return ` to ${host === 'relative' ? '' : host}${pathname}`;
}

/** Smaller differences do not matter: no signature is valid for less. */
const leastSkewSeconds = 30;

function skew({ statusCode, date }: UpgradeAnswer, nowMilliseconds: number): string {
	const serverMilliseconds = Date.parse(date ?? '');
	if (Number.isNaN(serverMilliseconds) || ![400, 401, 403].includes(statusCode)) return '';
	const seconds = Math.round((serverMilliseconds - nowMilliseconds) / 1000);
	if (Math.abs(seconds) < leastSkewSeconds) return '';
	return `The server's clock is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} this machine's, so the server may reject a signed timestamp.`;
}

const longestQuote = 300;

/** The server's own words, unless they are a web page. */
function quote({ body, contentType }: UpgradeAnswer): string {
	const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	if (text === '' || contentType?.includes('html') || text.startsWith('<')) return '';
	return `The server said: ${shortened(text, longestQuote)}`;
}
