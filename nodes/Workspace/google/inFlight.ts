import pLimit, { type LimitFunction } from 'p-limit';

/** Gmail answers 429 "Too many concurrent requests for user" below its quota; 4 to 6 at once are known to work. */
const maxInFlight = 5;

const slot = Symbol.for('n8n-nodes-agent-workspace.requestsInFlight');

/**
 * At most 5 of these run at once for one credential in the process.
 * @param key names the credential; without one nothing is limited
 */
export async function inFlight<T>(key: string | undefined, request: () => Promise<T>): Promise<T> {
	return key === undefined ? await request() : await limitOf(key)(request);
}

/** In a global slot, because each bundle has its own copy of this module. */
function limitOf(key: string): LimitFunction {
	const holder = globalThis as { [slot]?: Map<string, LimitFunction> };
	const limits = (holder[slot] ??= new Map<string, LimitFunction>());
	const limit = limits.get(key) ?? pLimit(maxInFlight);
	limits.set(key, limit);
	return limit;
}
