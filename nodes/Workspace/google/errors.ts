import { parseRetryAfter } from '../../http/backoff';
import { Failure } from '../../core/failure';

import { adviceFor, apiNames } from './advice';
import type { Api } from './bases';
import type { FailedCall } from './failedCall';
import { Fault, kindOfStatus, type FaultKind } from '../../http/fault';
import { envelopeOf, type Envelope } from './envelope';

export interface ErrorAnswer {
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
