export interface BackoffBounds {
	/** Upper end of the range of the first wait (attempt 0). */
	readonly baseMilliseconds: number;
	/** Upper end of every range. */
	readonly capMilliseconds: number;
}

/**
 * Full jitter: a wait drawn evenly from 0 to `base * 2^attempt`, at most the cap. Clients that failed
 * together do not come back together.
 * @param attempt number of waits so far, from 0
 * @param random returns 0 <= x < 1
 * @returns whole milliseconds
 */
export function fullJitterMilliseconds(
	attempt: number,
	{ baseMilliseconds, capMilliseconds }: BackoffBounds,
	random: () => number,
): number {
	const window = Math.min(capMilliseconds, baseMilliseconds * 2 ** Math.max(0, attempt));
	return Math.floor(random() * window);
}

const deltaSeconds = /^\d{1,12}(\.\d+)?$/;
/** The three forms of an HTTP date start with the name of the day (RFC 9110, section 5.6.7). */
const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)/i;
const asctimeDate = /^\w{3} \w{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from now; 0 for a date in the past.
 * Undefined if there is no header, or if it is neither a number of seconds nor an HTTP date.
 */
export function parseRetryAfter(
	header: string | readonly string[] | undefined,
	nowMilliseconds: number,
): number | undefined {
	const value = (typeof header === 'string' ? header : header?.[0])?.trim();
	if (value === undefined) return undefined;
	if (deltaSeconds.test(value)) return Math.ceil(Number(value) * 1000);
	if (!httpDate.test(value)) return undefined;
	// asctime has no time zone and means UTC, but Date.parse would read it as local time.
	const at = Date.parse(asctimeDate.test(value) ? `${value} GMT` : value);
	return Number.isNaN(at) ? undefined : Math.max(0, at - nowMilliseconds);
}
