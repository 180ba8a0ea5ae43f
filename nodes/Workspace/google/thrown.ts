import { Readable } from 'node:stream';

import { Failure, isFailure, withCode } from '../../core/failure';
import { named } from '../../fields/naming';

import { reconnect } from './advice';
import { BodyError, maxAnswerBytes, readErrorBody } from '../../http/body';
import { causesOf, codeIn, property } from '../../http/causes';
import { Fault, type FaultKind } from '../../http/fault';
import { blockedAdvice, isBlocked, networkFaultOf, networkMessage } from '../../http/network';
import type { FailedCall } from './failedCall';
import { faultOfAnswer } from './errors';

/** Turns whatever n8n's request helper, or the reading of a body, threw into a fault. */
export async function faultOfThrown(error: unknown, call: FailedCall): Promise<Fault> {
	if (error instanceof Fault) return error;
	if (error instanceof BodyError) return faultOfBody(error);
	const chain = causesOf(error);
	// The service account's credential itself explains why it gets no token.
	const own = chain.find(isFailure);
	if (own) return new Fault(own.code >= 500 ? 'notDone' : 'final', own);
	if (chain.some((link) => isElsewhere(link, call))) return faultOfRefresh(chain, call);
	const response = chain.map((link) => property(link, 'response')).find(isResponse);
	if (response) return await faultOfResponse(response, call);
	return faultOfNetwork(error, chain, call);
}

export function timeoutFault(seconds: number): Fault {
	return new Fault(
		'unknown',
		new Failure({
			code: 504,
			message: `Google did not respond within ${seconds} s`,
			description: `Try again, or raise the option ${named('timeoutSeconds')}.`,
		}),
	);
}

function faultOfBody({ reason, code }: BodyError): Fault {
	if (reason === 'tooLarge') {
		const message = `Google's response is larger than the limit of ${maxAnswerBytes / 1024 / 1024} MiB`;
		const description = 'Request less at once, for example a smaller range or fewer results.';
		return new Fault('final', new Failure({ code: 502, message, description, ambiguous: true }));
	}
	if (reason === 'tooCostly') {
		const message = "Google's response needs more memory than n8n has, so it was not read";
		const description = 'Request less at once, for example a smaller range or fewer results.';
		return new Fault('final', new Failure({ code: 502, message, description, ambiguous: true }));
	}
	if (reason === 'noRoom') {
		const message = "n8n has no memory left for Google's response while it reads other responses";
		const description = 'Run fewer workflows at once, request less, or give n8n more memory.';
		return new Fault('unknown', new Failure({ code: 503, message, description }));
	}
	const message = "Google's response was cut off";
	return new Fault('unknown', new Failure({ code: 502, message, description: withCode('Try again.', code) }));
}

async function faultOfResponse(response: ErrorResponse, call: FailedCall): Promise<Fault> {
	const { status, headers, data } = response;
	const body =
		data instanceof Readable || Buffer.isBuffer(data)
			? await readErrorBody(data)
			: Buffer.from(JSON.stringify(data ?? null));
	return faultOfAnswer({ status, headers: headers ?? {}, body }, call);
}

function faultOfNetwork(error: unknown, chain: readonly unknown[], call: FailedCall): Fault {
	const fault = networkFaultOf(error);
	const { what, kind, status, code } = fault;
	const message = networkMessage(fault, error, call.url);
	if (what === 'blocked') return faultOfBlocked(message, chain.find(isBlocked));
	if (code === undefined || code === 'EAUTH' || code === 'ESTATUS') return faultOfSignIn(code, chain, call);
	return connectionFault(kind, status, message, code);
}

/**
 * @param status HTTP status
 * @param reason Node's error code
 */
function connectionFault(kind: FaultKind, status: number, message: string, reason?: string): Fault {
	const description =
		'Check that the machine that n8n runs on can reach the address (network, proxy, API bases in the credential), then try again.';
	return new Fault(kind, new Failure({ code: status, message, description: withCode(description, reason) }));
}

/** @param error n8n's own error, whose message is passed on */
function faultOfBlocked(message: string, error: Error | undefined): Fault {
	const advice = property(error, 'description');
	const own = [error?.message, typeof advice === 'string' ? advice : undefined].filter(Boolean).join('. ');
	const description = own ? `${blockedAdvice} n8n says: ${own}` : blockedAdvice;
	return new Fault('final', new Failure({ code: 503, message, description }));
}

/** Whether n8n sent the failed request on its own, to the token endpoint. */
function isElsewhere(link: unknown, { url }: FailedCall): boolean {
	const other = property(property(link, 'config'), 'url');
	return typeof other === 'string' && other !== url;
}

/** n8n asks for a new token only after a 401, so nothing was carried out. */
function faultOfRefresh(chain: readonly unknown[], { signIn }: FailedCall): Fault {
	const status = chain.map((link) => property(property(link, 'response'), 'status')).find(Boolean);
	const why = typeof status === 'number' ? `HTTP ${status}` : codeIn(chain);
	const passing = typeof status !== 'number' || status >= 500 || status === 429;
	const message = 'The token of the credential could not be refreshed';
	const description = withCode(`Try again later. If the problem persists: ${reconnect(signIn)}`, why);
	return new Fault(passing ? 'notDone' : 'final', new Failure({ code: 401, message, description }));
}

/** n8n found no token or could not refresh it, so nothing was carried out. */
function faultOfSignIn(code: string | undefined, chain: readonly unknown[], { signIn }: FailedCall): Fault {
	const texts = chain.flatMap((link) => (link instanceof Error ? [link.message] : []));
	const aboutToken = texts.some((text) =>
		/access token|not connected|reconnect|refresh|credential/i.test(text),
	);
	if (code !== undefined || aboutToken) {
		const message = 'The credential has no valid token, and a new one could not be obtained';
		return new Fault('final', new Failure({ code: 401, message, description: reconnect(signIn) }));
	}
	return connectionFault('unknown', 503, texts[0] ?? 'The request could not be completed');
}

interface ErrorResponse {
	readonly status: number;
	readonly headers?: Readonly<Record<string, unknown>>;
	readonly data?: unknown;
}

function isResponse(value: unknown): value is ErrorResponse {
	return typeof property(value, 'status') === 'number';
}
