import { isOfPolicy } from './egress';
import type { Ending } from './closeReason';
import { redact } from './redaction';
import type { UpgradeAnswer } from './transport';

/** Why a socket closed, without secrets. @param cause what was known before it closed */
export function endingOf(
	{ code, reason }: { readonly code: number; readonly reason: string },
	cause: Ending | undefined,
	secrets: readonly string[],
): Ending {
	// An error after the server's close frame, such as a ping that could not be sent, is only its echo.
	if (code !== 1006 && (cause ?? { kind: 'network' }).kind === 'network') {
		return { kind: 'closeFrame', code, reason: redact(reason, secrets) };
	}
	return cause ?? { kind: 'dropped' };
}

/** What an error of the socket says, without secrets. */
export function causeOf(
	error: Error & { code?: unknown },
	{ maxMessageBytes, secrets }: { readonly maxMessageBytes: number; readonly secrets: readonly string[] },
): Ending {
	if (isOfPolicy(error)) return { kind: 'blocked' };
	const code = typeof error.code === 'string' ? error.code : undefined;
	if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return { kind: 'tooLarge', maxMessageBytes };
	if (error.message === 'Opening handshake has timed out') return { kind: 'connectTimeout' };
	if (code?.startsWith('WS_ERR_')) return { kind: 'malformed', code };
	return { kind: 'network', code, message: redact(error.message, secrets) };
}

/** The server refused to open the channel. */
export function refusedBy(answer: UpgradeAnswer, secrets: readonly string[]): Ending {
	const location = answer.location === undefined ? undefined : redact(answer.location, secrets);
	return { kind: 'answer', answer: { ...answer, location, body: redact(answer.body, secrets) } };
}
