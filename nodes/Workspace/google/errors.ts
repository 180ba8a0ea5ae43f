import { Readable } from 'node:stream';

import { Failure, isFailure, withCode } from '../../core/errors';
import { shortened } from '../../core/text';
import { named } from '../../fields/naming';
import { BodyError, maxAnswerBytes, readErrorBody } from '../../http/body';
import {
	blockedAdvice,
	causesOf,
	codeIn,
	isBlocked,
	networkFaultOf,
	networkMessage,
	property,
} from '../../http/networkErrors';
import { Fault, type FaultKind, kindOfStatus, parseRetryAfter } from '../../http/retry';
import { adviceFor, apiNames, type FailedCall, reconnect, type Envelope } from './advice';
import type { Api } from './baseUrls';

const maxMessageLength = 500;

/** Accepts bodies that are empty, HTML, or have a string as `error`. */
function envelopeOf(body: Buffer): Envelope {
	const error = member(jsonOf(body), 'error');
	if (typeof error === 'string') {
		// The token endpoint uses this shape.
		const text = trimmed(member(jsonOf(body), 'error_description')) ?? error;
		return { message: cut(text), status: undefined, reasons: [error], activationUrl: undefined };
	}
	const details = [...arrayOf(member(error, 'errors')), ...arrayOf(member(error, 'details'))];
	return {
		message: cut(trimmed(member(error, 'message'))),
		status: trimmed(member(error, 'status')),
		reasons: details.flatMap((detail) => trimmed(member(detail, 'reason')) ?? []),
		activationUrl: details.flatMap(activationUrl)[0],
	};
}

function activationUrl(detail: unknown): string[] {
	const url = trimmed(member(member(detail, 'metadata'), 'activationUrl'));
	return url?.startsWith('https://console.') ? [url] : [];
}

function jsonOf(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString('utf8')) as unknown;
	} catch {
		// HTML from a proxy, or nothing at all: the HTTP status is then the only information.
		return undefined;
	}
}

function member(value: unknown, key: string): unknown {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function arrayOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function trimmed(value: unknown): string | undefined {
	return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function cut(text: string | undefined): string | undefined {
	return text === undefined ? undefined : shortened(text, maxMessageLength);
}

interface ErrorAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, unknown>>;
	readonly body: Buffer;
}

const rateReasons = ['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED'];

/** Turns an unsuccessful answer into what the user reads and whether a retry is safe. */
export function faultOfAnswer(answer: ErrorAnswer, call: FailedCall): Fault {
	const { status, headers } = answer;
	const envelope = envelopeOf(answer.body);
	const limited = isRateLimit(status, envelope);
	const failure = new Failure({
		code: status,
		status: envelope.status ?? (limited ? 'RESOURCE_EXHAUSTED' : undefined),
		message: messageOf(status, envelope, call.api),
		description: adviceFor({ status, limited, envelope, call }),
		retryAfterMilliseconds: limited || status >= 500 ? waitAskedFor(headers, envelope) : undefined,
	});
	return new Fault(kindOf(status, limited), failure);
}

function kindOf(status: number, limited: boolean): FaultKind {
	return limited ? 'notDone' : kindOfStatus(status);
}

/** A 403 has three meanings. Only the reason tells them apart. */
function isRateLimit(status: number, { reasons }: Envelope): boolean {
	if (status === 429) return true;
	return status === 403 && reasons.some((reason) => rateReasons.includes(reason));
}

function messageOf(status: number, { message }: Envelope, api: Api): string {
	if (message) return `${apiNames[api]}: ${message}`;
	if (status >= 300 && status < 400) return `${apiNames[api]} responded with a redirect (HTTP ${status})`;
	return `${apiNames[api]} responded with HTTP ${status}`;
}

/**
 * Gmail gives the time in its message instead of a header, about 15 minutes ahead:
 * https://github.com/twentyhq/twenty/pull/17850, https://github.com/levz0r/gmail-tester/issues/23
 */
const timeInMessage = /Retry after (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/i;

/** @returns milliseconds from now; undefined if Google names no time */
function waitAskedFor(headers: ErrorAnswer['headers'], { message = '' }: Envelope): number | undefined {
	const header = headers['retry-after'];
	const fromHeader = typeof header === 'string' ? parseRetryAfter(header, Date.now()) : undefined;
	const time = timeInMessage.exec(message)?.[1];
	return fromHeader ?? (time === undefined ? undefined : Math.max(0, Date.parse(time) - Date.now()));
}

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
