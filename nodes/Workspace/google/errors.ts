import { Readable } from 'node:stream';

import { isNodeError, isRedirect, NodeError, shortened, toNodeError, withCode } from '../../core/errors';
import { named } from '../../fields/field';
import { isRecord } from '../../fields/values';
import { BodyError, jsonOf, maxAnswerBytes, readErrorBody } from '../../http/body';
import {
	blockedAdvice,
	causesOf,
	codeIn,
	isBlocked,
	networkErrorOf,
	networkMessage,
	property,
} from '../../http/networkErrors';
import { type BodyTexts, errorOfBody } from '../../http/request';
import { classifyStatus, parseRetryAfter } from '../../http/retry';
import { adviceFor, type Api, apiNames, type Envelope, type FailedCall, reconnect } from './advice';

const maxMessageLength = 500;

/** Accepts bodies that are empty, HTML, or have a string as `error`. */
function envelopeOf(body: Buffer): Envelope {
	const answer = jsonOf(body);
	const error = property(answer, 'error');
	const text = trimmed(property(error, 'message') ?? property(answer, 'error_description') ?? error);
	const details = [property(error, 'errors'), property(error, 'details')].flat();
	return {
		message: text && shortened(text, maxMessageLength),
		status: trimmed(property(error, 'status')),
		reasons: [error, ...details.map((detail) => property(detail, 'reason'))].flatMap(
			(reason) => trimmed(reason) ?? [],
		),
		activationUrl: details
			.map((detail) => trimmed(property(property(detail, 'metadata'), 'activationUrl')))
			.find((url) => url?.startsWith('https://console.')),
	};
}

function trimmed(value: unknown): string | undefined {
	return typeof value === 'string' ? value.trim() || undefined : undefined;
}

interface ErrorAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, unknown>>;
	readonly body: Buffer;
}

const rateReasons = ['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED'];

/** Turns an unsuccessful answer into what the user reads and whether a retry is safe. */
export function errorOfAnswer(answer: ErrorAnswer, call: FailedCall): NodeError {
	const { status, headers } = answer;
	const envelope = envelopeOf(answer.body);
	// A 403 has three meanings. Only the reason tells them apart.
	const isRefusedForRate = status === 403 && envelope.reasons.some((reason) => rateReasons.includes(reason));
	const { outcome, retryable } = isRefusedForRate ? classifyStatus(429) : classifyStatus(status);
	const limited = retryable && outcome === 'notDone';
	return new NodeError({
		code: status,
		status: envelope.status ?? (limited ? 'RESOURCE_EXHAUSTED' : undefined),
		message: messageOf(status, envelope, call.api),
		description: adviceFor({ status, limited, envelope, call }),
		retryAfterMilliseconds: retryable ? waitAskedFor(headers, envelope) : undefined,
		outcome,
		retryable,
	});
}

function messageOf(status: number, { message }: Envelope, api: Api): string {
	if (message) return `${apiNames[api]}: ${message}`;
	if (isRedirect(status)) return `${apiNames[api]} responded with a redirect (HTTP ${status})`;
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

/** Turns whatever n8n's request helper, or the reading of a body, threw into what the user reads. */
export async function errorOfThrown(error: unknown, call: FailedCall): Promise<NodeError> {
	if (isNodeError(error)) return error;
	if (error instanceof BodyError) return errorOfBody(error, bodyTexts);
	const chain = causesOf(error);
	// The service account's credential itself explains why it gets no token.
	const own = chain.find(isNodeError);
	if (own) return own.with({ retryable: own.code >= 500 });
	if (chain.some((link) => isElsewhere(link, call))) return errorOfRefresh(chain, call);
	for (const link of chain) {
		const response = property(link, 'response');
		const status = property(response, 'status');
		if (typeof status === 'number') return await errorOfResponse(status, response, call);
	}
	return errorOfNetwork(error, chain, call);
}

export function timeoutError(seconds: number): NodeError {
	return new NodeError({
		code: 504,
		message: `Google did not respond within ${seconds} s`,
		description: `Try again, or raise the option ${named('timeoutSeconds')}.`,
		outcome: 'unknown',
		retryable: true,
	});
}

/**
 * Turns whatever an operation threw into a failure. A TypeError comes from a response of a wrong form or a mistake in this package.
 * @param log receives its place in the code, without the message, which may quote the response
 */
export function errorOfReading(error: unknown, log: (text: string) => void): NodeError {
	const failure = toNodeError(error);
	const isOfScript = error instanceof Error && /^(Type|Range)Error$/.test(error.name);
	if (!isOfScript || failure.code !== 500) return failure;
	const { name, message, stack = '' } = error;
	const places = stack.slice(stack.indexOf(message) + message.length).split(/\s*\n\s*/, 4);
	log(`${unreadable}: ${name}${places.join(' ')}`);
	return failure.with({
		code: 502,
		status: undefined,
		message: "Google's response does not have the form that Google documents, so it could not be read",
		description: `${checkBases} If there is none, please report the line in n8n's log that begins with '${unreadable}'.`,
	});
}

const unreadable = 'A response could not be read';
export const checkBases = 'Check the API bases in the credential and any proxy in between.';

const tooMuch = 'Request less at once, for example a smaller range or fewer results.';

const bodyTexts: BodyTexts = {
	tooLarge: [`Google's response is larger than the limit of ${maxAnswerBytes / 2 ** 20} MiB`, tooMuch],
	tooCostly: ["Google's response needs more memory than n8n has, so it was not read", tooMuch],
	noMemory: [
		"n8n has no memory left for Google's response while it reads other responses",
		'Run fewer workflows at once, request less, or give n8n more memory.',
	],
	cutShort: ["Google's response was cut off", 'Try again.'],
};

async function errorOfResponse(status: number, response: unknown, call: FailedCall): Promise<NodeError> {
	const headers = property(response, 'headers');
	const data = property(response, 'data') ?? null;
	const isRaw = data instanceof Readable || Buffer.isBuffer(data);
	const body = isRaw ? await readErrorBody(data) : Buffer.from(JSON.stringify(data));
	return errorOfAnswer({ status, headers: isRecord(headers) ? headers : {}, body }, call);
}

function errorOfNetwork(error: unknown, chain: readonly unknown[], call: FailedCall): NodeError {
	const reason = networkErrorOf(error);
	const { what, outcome, retryable, status, code } = reason;
	if (what === 'blocked')
		return errorOfBlocked(networkMessage(reason, error, call.url), chain.find(isBlocked));
	const texts = chain.flatMap((link) => (link instanceof Error ? [link.message] : []));
	const isAboutToken =
		code === undefined
			? texts.some((text) => /access token|not connected|reconnect|refresh|credential/i.test(text))
			: code === 'EAUTH' || code === 'ESTATUS';
	// n8n found no token or could not refresh it, so nothing was carried out.
	if (isAboutToken) {
		const message = 'The credential has no valid token, and a new one could not be obtained';
		return new NodeError({ code: 401, message, description: reconnect(call.signIn) });
	}
	const own = texts[0] ?? 'The request could not be completed';
	const message = code === undefined ? own : networkMessage(reason, error, call.url);
	const description =
		'Check that the machine that n8n runs on can reach the address (network, proxy, API bases in the credential), then try again.';
	return new NodeError({
		code: status,
		message,
		description: withCode(description, code),
		outcome,
		retryable,
	});
}

/** @param error n8n's own error, whose message is passed on */
function errorOfBlocked(message: string, error: Error | undefined): NodeError {
	const advice = property(error, 'description');
	const own = [error?.message, typeof advice === 'string' ? advice : undefined].filter(Boolean).join('. ');
	const description = own ? `${blockedAdvice} n8n says: ${own}` : blockedAdvice;
	return new NodeError({ code: 503, message, description });
}

/** Whether n8n sent the failed request on its own, to the token endpoint. */
function isElsewhere(link: unknown, { url }: FailedCall): boolean {
	const other = property(property(link, 'config'), 'url');
	return typeof other === 'string' && other !== url;
}

/** n8n asks for a new token only after a 401, so nothing was carried out. */
function errorOfRefresh(chain: readonly unknown[], { signIn }: FailedCall): NodeError {
	const status = chain.map((link) => property(property(link, 'response'), 'status')).find(Boolean);
	const why = typeof status === 'number' ? `HTTP ${status}` : codeIn(chain);
	const retryable = typeof status !== 'number' || status >= 500 || status === 429;
	const message = 'The token of the credential could not be refreshed';
	const description = withCode(`Try again later. If the problem persists: ${reconnect(signIn)}`, why);
	return new NodeError({ code: 401, message, description, retryable });
}
