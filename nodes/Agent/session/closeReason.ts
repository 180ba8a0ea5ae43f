import { isOfPolicy } from './egress';
import type { UpgradeAnswer } from './webSocket';

/** Takes the secrets out of a text. */
type Redact = (text: string) => string;

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
	/** Not open in time. */
	| { readonly kind: 'connectTimeout' }
	/** No answer to a ping. */
	| { readonly kind: 'silent' }
	/** A message above the limit. */
	| { readonly kind: 'tooLarge'; readonly maxMessageBytes: number }
	/** A message that breaks the WebSocket protocol, e.g. invalid UTF-8; `code` is the library's. */
	| { readonly kind: 'malformed'; readonly code: string }
	/** The credentials could not be read; or they are not complete, or may not be read, which only the user can mend. */
	| { readonly kind: 'credentials'; readonly message: string; readonly isMistake: boolean };

/** `retry`: backoff; `suspect`: once more at once, with credentials read again; `final`: only the slow lane tries again. */
export type RetryDecision = 'retry' | 'suspect' | 'final';

interface Circumstances {
	/** `signOf` the refusal that was answered with an immediate attempt. */
	readonly suspected: string | undefined;
	/** Endings in a row by a message that is too large or malformed, this one included. */
	readonly faultyFrames: number;
	/** The user's list, beside the built-in one. */
	readonly finalCloseCodes: readonly number[];
}

const finalCloseCodes = [1002, 1003, 1007, 1008, 1010];
/** A server that replays unread messages would send the same message forever. */
const faultyFramesInARow = 3;
const passingStatus = [408, 425, 429];

/**
 * What the end of a channel means for the next attempt.
 *
 * | close reason | decision |
 * |---|---|
 * | 408, 425, 429, 5xx; network, timeouts, silence, credentials that cannot be read now | retry |
 * | any other status but 3xx; close codes 4400-4499, read as status 400-499 | suspect, then final when it comes again |
 * | 3xx; close codes 1002, 1003, 1007, 1008, 1010 and the user's; a mistake in the credentials; what n8n does not allow | final |
 * | 1009, messages too large or malformed | retry, final when it is the third in a row |
 * | every other close code, 1000 included | retry |
 */
export function retryDecisionOf(
	closeReason: CloseReason,
	{ suspected, faultyFrames, finalCloseCodes: own }: Circumstances,
): RetryDecision {
	if (isFaultyFrame(closeReason) && faultyFrames >= faultyFramesInARow) return 'final';
	if (closeReason.kind === 'credentials') return closeReason.isMistake ? 'final' : 'retry';
	if (closeReason.kind === 'blocked') return 'final';
	if (closeReason.kind === 'closeFrame' && [...finalCloseCodes, ...own].includes(closeReason.code))
		return 'final';
	const status = statusOf(closeReason);
	if (status === undefined || status >= 500 || passingStatus.includes(status)) return 'retry';
	if (status >= 300 && status <= 399) return 'final';
	return suspected === signOf(closeReason) ? 'final' : 'suspect';
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

/** The HTTP status of an answer, or the one that a close code of 4400 to 4499 stands for. */
function statusOf(closeReason: CloseReason): number | undefined {
	if (closeReason.kind === 'answer') return closeReason.answer.statusCode;
	if (closeReason.kind === 'closeFrame' && closeReason.code >= 4400 && closeReason.code <= 4499)
		return closeReason.code - 4000;
	return undefined;
}

/** Why a socket closed, without secrets. @param cause what was known before it closed */
export function closeReasonOf(
	{ code, reason }: { readonly code: number; readonly reason: string },
	cause: CloseReason | undefined,
	redact: Redact,
): CloseReason {
	// An error after the server's close frame, such as a ping that could not be sent, is only its echo.
	if (code !== 1006 && (cause ?? { kind: 'network' }).kind === 'network') {
		return { kind: 'closeFrame', code, reason: redact(reason) };
	}
	return cause ?? { kind: 'dropped' };
}

/** What an error of the socket says, without secrets. */
export function causeOf(
	error: Error & { code?: unknown },
	{ maxMessageBytes, redact }: { readonly maxMessageBytes: number; readonly redact: Redact },
): CloseReason {
	if (isOfPolicy(error)) return { kind: 'blocked' };
	const code = typeof error.code === 'string' ? error.code : undefined;
	if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { kind: 'tooLarge', maxMessageBytes };
	if (error.message === 'Opening handshake has timed out') return { kind: 'connectTimeout' };
	if (code?.startsWith('WS_ERR_')) return { kind: 'malformed', code };
	return { kind: 'network', code, message: redact(error.message) };
}

/** The server refused to open the channel. */
export function refusedBy(answer: UpgradeAnswer, redact: Redact): CloseReason {
	const location = answer.location === undefined ? undefined : redact(answer.location);
	return { kind: 'answer', answer: { ...answer, location, body: redact(answer.body) } };
}
