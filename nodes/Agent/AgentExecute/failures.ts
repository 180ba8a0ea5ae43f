import { Failure, isFailure, withCode } from '../../items/failure';
import type { Answer } from './answer';
import { excerpt } from './excerpt';

/** What the texts of a failure need to know of the call. */
export interface CallFacts {
	readonly url: string;
	readonly timeoutSeconds: number;
	readonly maxRetryWaitSeconds: number;
	redact(text: string): string;
}

export interface FailedCall {
	readonly failure: Failure;
	/** True when the service surely did not accept the call, so that repeating is safe. */
	readonly notAccepted: boolean;
}

const unknownOutcome =
	'The service may have started the agent. The call was not repeated; look at the session before you run it again.';

/** A call without a complete answer. */
export function callFailure(error: unknown, call: CallFacts): FailedCall {
	if (isFailure(error)) return { failure: error, notAccepted: false };
	const code = codeOf(error);
	const host = new URL(call.url).host;
	if (code === 'ECONNREFUSED') {
		const message = `The connection to ${host} was refused: no service listens there`;
		return {
			failure: unreachable(
				message,
				'Check the host and port of the Deployment URL, and that the service runs.',
				error,
			),
			notAccepted: true,
		};
	}
	if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
		const message = `The host ${host} was not found`;
		return {
			failure: unreachable(
				message,
				'Check the Deployment URL in the credential for a typing mistake.',
				error,
			),
			notAccepted: true,
		};
	}
	if (code === 'ECONNABORTED' || code === 'ETIMEDOUT') return { failure: timedOut(call), notAccepted: false };
	if (isCertificateCode(code)) {
		const message = `The certificate of ${host} is not trusted`;
		const description = withCode(
			"If the server's certificate is self-signed on purpose, switch on 'Ignore SSL Issues' in the credential.",
			code,
		);
		return { failure: unreachable(message, description, error), notAccepted: false };
	}
	const message = `The connection to ${host} broke before the service answered`;
	return {
		failure: new Failure({
			code: 503,
			message,
			description: withCode(unknownOutcome, code),
			ambiguous: true,
			cause: redacted(error, call),
		}),
		notAccepted: false,
	};
}

/** A status outside 200–299. */
export function statusFailure(
	answer: Answer,
	retryAfterMilliseconds: number | undefined,
	call: CallFacts,
): Failure {
	const { statusCode: code } = answer;
	const said = excerpt(answer, call);
	if (code >= 300 && code <= 399) return redirected(answer, call);
	const message = `${meaning(code)} (${code})${said ? `: ${said}` : ''}`;
	// A service that fails by itself may have started the agent before; 503 with Retry-After says that it did not.
	const ambiguous = code >= 500 && !(code === 503 && retryAfterMilliseconds !== undefined);
	return new Failure({ code, message, description: advice(code), retryAfterMilliseconds, ambiguous });
}

export function timedOut({ timeoutSeconds }: CallFacts): Failure {
	return new Failure({
		code: 504,
		message: `The agent service did not answer within ${timeoutSeconds} s`,
		description: `${unknownOutcome} The option 'Timeout' sets the limit.`,
		ambiguous: true,
	});
}

const stop = { code: 499, message: 'The execution was stopped' };

/** While the call was out. */
export function stopped(): Failure {
	return new Failure({ ...stop, description: unknownOutcome, ambiguous: true });
}

export function stoppedBeforeCall(): Failure {
	return new Failure({ ...stop, description: 'Nothing was sent: the agent was not started.' });
}

/** What the check let pass, and an expression made wrong by the time the item's turn came. */
export function refusedBeforeCall(failure: Failure): Failure {
	const description = [failure.description, 'Nothing was sent for this item.'].filter(Boolean).join(' ');
	return failure.with({ description });
}

/** Between two tries. */
export function stoppedBetweenTries(): Failure {
	return new Failure({ ...stop, description: 'The service accepted no call: the agent was not started.' });
}

/** While the messages were awaited. */
export function stoppedAfterCall(): Failure {
	const description = 'The agent was started. Its messages are not awaited any more.';
	return new Failure({ ...stop, description, carriedOut: true });
}

/** The service asks for a longer wait than the node may spend. @param leftMilliseconds of all waits, after those before */
export function waitTooLong(
	failure: Failure,
	waitMilliseconds: number,
	leftMilliseconds: number,
	call: CallFacts,
): Failure {
	const seconds = Math.ceil(waitMilliseconds / 1000);
	const inTotal = `${call.maxRetryWaitSeconds} s in total`;
	const left = `${Math.floor(leftMilliseconds / 100) / 10} s that are left of the ${inTotal}`;
	const allowed = leftMilliseconds < call.maxRetryWaitSeconds * 1000 ? left : inTotal;
	return new Failure({
		code: failure.code,
		message: `${failure.message}. It asks to wait ${seconds} s`,
		description: `That is more than the ${allowed} that the option 'Max Retry Wait' allows. Run the item again later, or raise the option.`,
		retryAfterMilliseconds: waitMilliseconds,
		cause: failure,
	});
}

function unreachable(message: string, description: string, error: unknown): Failure {
	return new Failure({ code: 503, message, description, cause: codeOf(error) });
}

function redirected({ statusCode, headers }: Answer, call: CallFacts): Failure {
	const target = targetOf(headers.location, call.url);
	return new Failure({
		code: statusCode,
		message: `The agent service answered with a redirect (${statusCode})${target ? ` to ${target}` : ''}, which is not followed`,
		description:
			'The key and the signature were sent to the Deployment URL only. If the new address is right, put it into the credential.',
	});
}

/** Host and path of a redirect, never its query. */
function targetOf(location: string | undefined, base: string): string | undefined {
	if (!location || !URL.canParse(location, base)) return undefined;
	const { protocol, host, pathname } = new URL(location, base);
	return `${protocol}//${host}${pathname}`;
}

function meaning(code: number): string {
	if (code === 401 || code === 403) return 'The agent service refused the API key or the signature';
	if (code === 404) return 'The agent service has nothing at this address';
	if (code === 429) return 'The agent service receives too many calls';
	return code >= 500 ? 'The agent service failed' : 'The agent service did not accept the call';
}

function advice(code: number): string {
	if (code === 401 || code === 403) {
		return 'Check the API key, the signature and its timestamp in the two credentials; the operating team issues them.';
	}
	if (code === 404) return "Check the Deployment URL: the node calls it with '/execute' at its end.";
	if (code === 429) return "Lower the option 'Parallel Requests', or run the workflow less often.";
	if (code >= 500) return `${unknownOutcome} The service reports a failure of its own.`;
	return 'The text above is what the service said. The call was not repeated.';
}

/** The error's code, wherever n8n's wrapping left it. */
function codeOf(error: unknown, depth = 0): string | undefined {
	if (typeof error !== 'object' || error === null || depth > 4) return undefined;
	if ('code' in error && typeof error.code === 'string') return error.code;
	if ('cause' in error) return codeOf(error.cause, depth + 1);
	return undefined;
}

function isCertificateCode(code = ''): boolean {
	return /CERT|SIGNATURE|^ERR_TLS|^EPROTO$|^UNABLE_TO/.test(code);
}

/** The request is part of an HTTP client's error: only its own words are kept. */
function redacted(error: unknown, call: CallFacts): Error {
	return new Error(call.redact(error instanceof Error ? error.message : String(error)));
}
