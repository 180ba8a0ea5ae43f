import { ApiError } from './service.ts';

/** Requests that a user may make within a minute. By default, there is no quota. */
export interface QuotaLimits {
	/** Quota units per minute: https://developers.google.com/workspace/gmail/api/reference/quota */
	readonly gmail?: number;
	/**
	 * Requests; reads and writes are counted separately:
	 * https://developers.google.com/workspace/sheets/api/limits
	 */
	readonly sheetsReads?: number;
	readonly sheetsWrites?: number;
	/**
	 * Concurrent Gmail requests, here of all users together:
	 * https://github.com/googleapis/google-api-dotnet-client/issues/1982
	 */
	readonly gmailAtOnce?: number;
	/** How many milliseconds a minute has. Tests set a shorter minute. The default is 60,000. */
	readonly minute?: number;
}

/** Quota units of Gmail's methods, as of 2026-05-01. */
const gmailUnits: Readonly<Record<string, number>> = {
	'gmail.users.messages.list': 5,
	'gmail.users.messages.get': 20,
	'gmail.users.messages.attachments.get': 20,
	'gmail.users.threads.get': 40,
	'gmail.users.messages.send': 100,
};

type Counter = Exclude<keyof QuotaLimits, 'minute' | 'gmailAtOnce'>;

/**
 * Quotas that are refilled each minute ("after 1 minute, you can execute requests again"). A minute begins
 * with its first request.
 */
export class Quotas {
	limits: QuotaLimits = {};
	/** Number of refusals so far. */
	refused = 0;
	private readonly used = new Map<string, number>();
	private minuteStart = -Infinity;
	private gmailRunning = 0;

	/** Counts a request. @throws ApiError if its quota is used up */
	take(method: string, user: string): void {
		const counter = getCounter(method);
		const limit = counter && this.limits[counter];
		if (counter === undefined || limit === undefined) return;
		this.startNewMinute();
		const key = `${counter} ${user}`;
		const units = (this.used.get(key) ?? 0) + (gmailUnits[method] ?? 1);
		if (units > limit) {
			this.refused++;
			throw counter === 'gmail' ? createGmailQuotaError() : createSheetsQuotaError(counter);
		}
		this.used.set(key, units);
	}

	/** @throws ApiError if as many Gmail requests are running as allowed */
	async limitConcurrency<T>(method: string | undefined, work: () => Promise<T>): Promise<T> {
		const limit = this.limits.gmailAtOnce;
		if (limit === undefined || !method?.startsWith('gmail.')) return await work();
		if (this.gmailRunning >= limit) {
			this.refused++;
			const message = 'Too many concurrent requests for user';
			throw new ApiError(429, message, { reason: 'rateLimitExceeded' });
		}
		this.gmailRunning++;
		try {
			return await work();
		} finally {
			this.gmailRunning--;
		}
	}

	clear(): void {
		this.limits = {};
		this.refused = 0;
		this.used.clear();
		this.minuteStart = -Infinity;
	}

	private startNewMinute(): void {
		const now = performance.now();
		if (now - this.minuteStart < (this.limits.minute ?? 60_000)) return;
		this.minuteStart = now;
		this.used.clear();
	}
}

function getCounter(method: string): Counter | undefined {
	if (method.startsWith('gmail.')) return 'gmail';
	if (!method.startsWith('sheets.')) return undefined;
	return /\.(get|batchGet)$/.test(method) ? 'sheetsReads' : 'sheetsWrites';
}

function createGmailQuotaError(): ApiError {
	const message =
		"Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com'.";
	return new ApiError(403, message, { reason: 'rateLimitExceeded' });
}

/** Google sends no Retry-After header: https://github.com/n8n-io/n8n/issues/32869 */
function createSheetsQuotaError(counter: 'sheetsReads' | 'sheetsWrites'): ApiError {
	const metric = counter === 'sheetsReads' ? 'Read requests' : 'Write requests';
	const message = `Quota exceeded for quota metric '${metric}' and limit '${metric} per minute per user' of service 'sheets.googleapis.com'.`;
	return new ApiError(429, message, {
		status: 'RESOURCE_EXHAUSTED',
		reason: 'rateLimitExceeded',
	});
}
