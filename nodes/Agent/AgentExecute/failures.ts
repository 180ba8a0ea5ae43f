import { parseRetryAfter } from '../../http/backoff';
import { BodyError, maxAnswerBytes } from '../../http/body';
import { Fault, type FaultKind, kindOfStatus, stopped } from '../../http/fault';
import { type NetworkFault, networkFaultOf } from '../../http/network';
import { Failure, isFailure, withCode } from '../../items/failure';
import { named } from '../../parameters/naming';
import type { Answer } from './answer';
import { excerpt } from './excerpt';

/** What the texts of a failure need to know of the call. */
export interface CallFacts {
	readonly url: string;
	readonly timeoutSeconds: number;
	/** Of the answer, unpacked. */
	readonly maxResponseBytes?: number;
	redact(text: string): string;
}

const unknownOutcome =
	'The service may have started the agent. The call was not repeated; look at the session before you run it again.';

/** A call without a complete answer. */
export function thrownFault(error: unknown, call: CallFacts): Fault {
	if (error instanceof Fault) return error;
	if (isFailure(error)) return new Fault('final', error);
	if (error instanceof BodyError) return bodyFault(error, call);
	const fault = networkFaultOf(error);
	const { status: code, kind } = fault;
	const ambiguous = kind === 'unknown';
	const description = withCode(networkAdvice(fault), fault.code);
	// The request is part of an HTTP client's error: only its own words are kept.
	const cause = new Error(call.redact(error instanceof Error ? error.message : String(error)));
	const message = networkMessage(fault, new URL(call.url).host);
	return new Fault(kind, new Failure({ code, message, description, ambiguous, cause }));
}

function networkMessage({ what, reason }: NetworkFault, host: string): string {
	switch (what) {
		case 'notConnected':
			return `No connection to ${host}: ${reason}`;
		case 'certificate':
			return `The certificate of ${host} is not trusted`;
		case 'handshake':
			return `No encrypted connection to ${host} could be made`;
		case 'blocked':
			return `n8n does not allow requests to ${host}`;
		case 'timeout':
			return `${host} did not answer in time`;
		default:
			return `The connection to ${host} broke before the service answered`;
	}
}

function networkAdvice({ what }: NetworkFault): string {
	switch (what) {
		case 'notConnected':
			return 'Check the Deployment URL in the credential for a typo, that the service is running, and that n8n can reach it, through a proxy if there is one.';
		case 'certificate':
			return "If the server's certificate is self-signed on purpose, turn on 'Ignore SSL Issues' in the credential.";
		case 'handshake':
			return 'Check that the Deployment URL in the credential begins with https:// only where the service speaks TLS, and its port.';
		case 'blocked':
			return 'Nothing was sent. Ask whoever runs n8n to allow the address (N8N_SSRF_ALLOWED_HOSTNAMES, N8N_SSRF_ALLOWED_IP_RANGES).';
		default:
			return unknownOutcome;
	}
}

/** The call has been answered by then, so nothing is repeated. */
function bodyFault({ reason, code }: BodyError, { maxResponseBytes = maxAnswerBytes }: CallFacts): Fault {
	if (reason === 'tooLarge') {
		const failure = new Failure({
			code: 502,
			message: `The answer of the agent service is larger than ${sized(maxResponseBytes)}`,
			carriedOut: true,
			description: `The agent was started, but its answer is not read beyond that limit. Let the agent answer with a link instead, or raise ${named('maxResponseBytes')}.`,
		});
		return new Fault('final', failure);
	}
	if (reason === 'tooCostly') {
		const failure = new Failure({
			code: 502,
			message: 'The answer of the agent service would take more memory than n8n has',
			carriedOut: true,
			description:
				'The agent was started, but its answer has too many parts to be read. Let the agent answer with less or with a link, or give n8n more memory (NODE_OPTIONS=--max-old-space-size).',
		});
		return new Fault('final', failure);
	}
	const message = 'The answer of the agent service broke off before its end';
	const description = withCode(unknownOutcome, code);
	return new Fault('unknown', new Failure({ code: 502, message, description, ambiguous: true }));
}

function sized(bytes: number): string {
	const exact = `${bytes.toLocaleString('en-US')} bytes`;
	const mebibytes = bytes / 1024 / 1024;
	return Number.isInteger(mebibytes) ? `${mebibytes} MiB (${exact})` : exact;
}

/** A status outside 200–299. */
export function statusFault(answer: Answer, call: CallFacts): Fault {
	const { statusCode: code, headers } = answer;
	if (code >= 300 && code <= 399) return new Fault('final', redirected(answer, call));
	const retryAfterMilliseconds = parseRetryAfter(headers['retry-after'], Date.now());
	// A service that fails by itself may have started the agent before; 503 with Retry-After says that it did not.
	const saysNotDone = code === 503 && retryAfterMilliseconds !== undefined;
	const kind = saysNotDone ? 'notDone' : kindOfStatus(code);
	const said = excerpt(answer, call);
	const message = `${meaning(code)} (${code})${said ? `: ${said}` : ''}`;
	const description = advice(code, kind);
	const ambiguous = kind === 'unknown';
	return new Fault(kind, new Failure({ code, message, description, retryAfterMilliseconds, ambiguous }));
}

export function timedOut({ timeoutSeconds }: CallFacts): Fault {
	const failure = new Failure({
		code: 504,
		message: `The agent service did not answer within ${timeoutSeconds} s`,
		description: `${unknownOutcome} The option ${named('timeoutSeconds')} sets the limit.`,
		ambiguous: true,
	});
	return new Fault('unknown', failure);
}

/** @param kind `notDone` before the call is out */
export function stoppedCall(kind: FaultKind): Fault {
	if (kind === 'notDone') return new Fault(kind, stoppedBeforeCall());
	return new Fault(kind, stopped(unknownOutcome).with({ ambiguous: true }));
}

export function stoppedBeforeCall(): Failure {
	return stopped('Nothing was sent: the agent was not started.');
}

/** What the check let pass, and an expression made wrong by the time the item's turn came. */
export function refusedBeforeCall(failure: Failure): Failure {
	const description = [failure.description, 'Nothing was sent for this item.'].filter(Boolean).join(' ');
	return failure.with({ description });
}

/** While the messages were awaited. */
export function stoppedAfterCall(): Failure {
	return stopped('The agent was started. Its messages are not awaited any more.').with({ carriedOut: true });
}

/** Of the retry. */
export const retryWords = {
	service: 'The agent service',
	nothingDone: 'The service accepted no call: the agent was not started.',
};

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
	if (code === 429) return 'The agent service is rate-limiting requests';
	return code >= 500 ? 'The agent service failed' : 'The agent service did not accept the call';
}

function advice(code: number, kind: FaultKind): string {
	if (code === 401 || code === 403) {
		return 'Check the API key, the signature and its timestamp in the two credentials; the operating team issues them.';
	}
	if (code === 404) return "Check the Deployment URL: the node calls it with '/execute' at its end.";
	if (code === 429) return `Lower the option ${named('parallelRequests')}, or run the workflow less often.`;
	if (kind === 'notDone') return 'The service is busy or down for the moment; it did not start the agent.';
	if (kind === 'unknown') return `${unknownOutcome} The service reports a failure of its own.`;
	return 'The text above is what the service said. The call was not repeated.';
}
