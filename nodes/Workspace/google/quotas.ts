import { RateLimiter, type RateLimiterSettings } from '../../http/rateLimiter';
import type { Api } from './baseUrls';

/** The rate limiters of a process: one for each credential and each quota that Google counts separately. */
export class RateLimiters {
	private readonly limiters = new Map<string, RateLimiter>();
	private readonly settings: RateLimiterSettings | undefined;

	constructor(settings?: RateLimiterSettings) {
		this.settings = settings;
	}

	/** @param credentialKey identifies the credential */
	of(credentialKey: string, api: Api, method: string): RateLimiter {
		const key = `${quotaOf(api, method)} ${credentialKey}`;
		const limiter = this.limiters.get(key) ?? new RateLimiter(this.settings);
		this.limiters.set(key, limiter);
		return limiter;
	}
}

export const rateLimiters = new RateLimiters();

/** Sheets and Docs count reads and writes separately. */
function quotaOf(api: Api, method: string): string {
	if (api === 'mail' || api === 'drive') return api;
	return `${api} ${method === 'GET' ? 'reads' : 'writes'}`;
}
