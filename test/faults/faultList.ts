import type { ExecuteStep } from '../../dev/agent-service/server.ts';
import type { Fault } from '../../dev/google/server';

/** Timeouts of a request in seconds: for faults that only a timeout ends, and for all others. */
export const timeoutSeconds = 8;
export const patientSeconds = 120;

export interface ListedFault {
	/** With ` (done)` at the end where the service carries the request out in spite of what it answers. */
	readonly name: string;
	readonly google: Omit<Fault, 'match' | 'nth' | 'times'>;
	/** The same fault at the agent service; undefined if it has none like it. */
	readonly agent: ExecuteStep | undefined;
	/** Whether the fault hits all later requests, too, not only one. */
	readonly stays?: true;
	/** Whether only the timeout ends the request. */
	readonly isSlow?: true;
}

const page = '<!DOCTYPE html><html><title>Sign in to the network</title></html>';
const yearSeconds = 365 * 24 * 3600;

/** Refusals, with which the request was certainly not carried out. */
const refusals: readonly ListedFault[] = [
	{ name: '401 once', google: { status: 401 }, agent: { status: 401 } },
	{ name: '401 for good', google: { status: 401 }, agent: { status: 401 }, stays: true },
	{
		name: '403 scope',
		google: { status: 403, reason: 'insufficientPermissions' },
		agent: { status: 403 },
	},
	{
		name: '403 rate',
		google: { status: 403, reason: 'userRateLimitExceeded' },
		agent: undefined,
	},
	{ name: '404', google: { status: 404 }, agent: { status: 404 } },
	{ name: '409', google: { status: 409 }, agent: { status: 409 } },
	...(
		[
			['429', undefined],
			['429, Retry-After: seconds', () => 1],
			['429, Retry-After: date', () => new Date(Date.now() + 1500).toUTCString()],
			['429, Retry-After: a year', () => yearSeconds],
			['429, Retry-After: nonsense', () => 'in a while'],
		] as const
	).map(([name, wait]): ListedFault => {
		const refused = {
			status: 429,
			get retryAfter() {
				return wait?.();
			},
		};
		return { name, google: refused, agent: refused };
	}),
	{
		name: 'redirect',
		google: { status: 302, body: '', headers: { Location: 'https://elsewhere.example/' } },
		agent: { status: 302, body: '', headers: { Location: 'https://elsewhere.example/' } },
	},
];

/** Answers that do not tell whether the request was carried out. Each is played both ways. */
const unclear: readonly ListedFault[] = [
	...[408, 500, 502, 503, 504].map((status) => ({ name: String(status), fault: { status } })),
	{ name: '503 for good', fault: { status: 503 }, stays: true as const },
	{
		name: 'HTML page',
		fault: { status: 200, body: page, headers: { 'Content-Type': 'text/html' } },
	},
].flatMap(({ name, fault, ...more }) => [
	{ name, google: fault, agent: { ...fault, carriedOut: false }, ...more },
	{
		name: `${name} (done)`,
		google: { ...fault, carriedOut: true },
		agent: { ...fault, carriedOut: true },
		...more,
	},
]);

/** What happens to the connection, or to the answer of a request that was carried out. */
const broken: readonly ListedFault[] = [
	{ name: 'reset', google: { connection: 'resetBefore' }, agent: { fault: 'resetBeforeRead' } },
	{
		name: 'reset (done)',
		google: { connection: 'resetAfter' },
		agent: { fault: 'resetAfterRead', carriedOut: true },
	},
	{
		name: 'reset for good (done)',
		google: { connection: 'resetAfter' },
		agent: { fault: 'resetAfterRead', carriedOut: true },
		stays: true,
	},
	{
		name: 'reset mid-answer (done)',
		google: { connection: 'cutBody' },
		agent: { fault: 'resetBody', body: { status: 'accepted' } },
	},
	{
		name: 'black hole',
		google: { connection: 'blackHole' },
		agent: { fault: 'silence' },
		isSlow: true,
	},
	{
		name: 'black hole (done)',
		google: { connection: 'blackHoleAfter' },
		agent: { fault: 'silence', carriedOut: true },
		isSlow: true,
	},
	{
		name: 'slow drip (done)',
		// So slow that no request is patient enough for a whole answer.
		google: { connection: 'slowDrip', dripMilliseconds: timeoutSeconds * 5000 },
		agent: { dripMilliseconds: timeoutSeconds * 750, body: { status: 'accepted' } },
		isSlow: true,
	},
	{
		name: 'cut JSON (done)',
		google: { connection: 'halfBody' },
		agent: { body: Buffer.from('{"status":"acc'), contentType: 'application/json' },
	},
	{
		name: 'wrong content type (done)',
		google: { headers: { 'Content-Type': 'text/plain' } },
		agent: { body: '{"status":"accepted"}' },
	},
];

export const faultList: readonly ListedFault[] = [...refusals, ...unclear, ...broken];
