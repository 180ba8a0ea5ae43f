import type { NodeError } from '../core/errors';

/** What became of one attempt of a request, and whether another one may help. */
export type AttemptResult = Pick<NodeError, 'outcome' | 'retryable'>;

const refused = { outcome: 'notDone', retryable: false } as const;
const notYet = { outcome: 'notDone', retryable: true } as const;
const unclear = { outcome: 'unknown', retryable: true } as const;

/** What became of the request, by the kind of error that came instead of a response. */
const resultByCategory = {
	notConnected: notYet,
	certificate: refused,
	handshake: refused,
	/** n8n's egress policy forbids the address. */
	blocked: refused,
	timeout: unclear,
	lost: unclear,
	unknown: unclear,
} as const satisfies Readonly<Record<string, AttemptResult>>;

/** Says what a status outside 200–299 means for the attempt. */
export function classifyStatus(statusCode: number): AttemptResult {
	if (statusCode === 429) return notYet;
	// The service may have done something before it failed, or before it named where the result is.
	return statusCode >= 500 || statusCode === 408 || statusCode === 303 ? unclear : refused;
}

/**
 * Whether the service refused the request because of a quota. Google also uses 403, and of its
 * errors with 403, only this one is retryable.
 */
export const isRateLimited = ({ code, outcome, retryable }: NodeError) =>
	(code === 429 || code === 403) && retryable && outcome === 'notDone';

type Category = keyof typeof resultByCategory;

/** An error that Node, n8n or the HTTP client reported instead of a response. */
export interface NetworkError extends AttemptResult {
	readonly category: Category;
	readonly statusCode: 503 | 504;
	/** A code of Node, of n8n or of the HTTP client, such as ECONNREFUSED. */
	readonly errorCode: string | undefined;
	/**
	 * The end of a sentence. It never contains the code, because n8n replaces an error text that
	 * contains such a code.
	 */
	readonly reason: string;
	/** What helps, if the code alone tells. */
	readonly cure?: string;
}

type NetworkErrorRow = readonly [category: Category, codes: RegExp, reason: string, cure?: string];

const unknownIssuerCure =
	"If it comes from your own certificate authority, put that authority's certificate into a file, set the environment variable NODE_EXTRA_CA_CERTS of n8n to its path, and restart n8n.";
const expiredCure =
	'Renew the certificate on the server. If it is up to date, check the clock of the machine that n8n runs on.';
const hostNameCure =
	'Enter the address with the host name of the certificate, or have the certificate issued for this host name.';

/**
 * The first row that matches the code applies. `adaptCategory` adapts its category to how far the
 * connection was.
 */
const errorTable: readonly NetworkErrorRow[] = [
	[
		'certificate',
		/^(UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|(DEPTH_ZERO_)?SELF_SIGNED_CERT|CERT_UNTRUSTED)/,
		"n8n does not know who issued the server's certificate",
		unknownIssuerCure,
	],
	[
		'certificate',
		/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
		"the server's certificate is not valid at this time",
		expiredCure,
	],
	[
		'certificate',
		/ALTNAME_INVALID|HOSTNAME_MISMATCH/,
		"the server's certificate is for another host name",
		hostNameCure,
	],
	// For example, the server wants a certificate of the client.
	['handshake', /^(EPROTO|ERR_(SSL|TLS))/, 'the secure (TLS) connection failed'],
	[
		'certificate',
		/CERT|UNABLE_TO_|SIGNATURE_FAILURE|^INVALID_(CA|PURPOSE)$/,
		"the server's certificate is not trusted",
		'Install a valid certificate on the server.',
	],
	['notConnected', /^ECONNREFUSED$/, 'the connection was refused'],
	['notConnected', /^ENOTFOUND$/, 'the host name was not found'],
	['notConnected', /^EAI_(AGAIN|FAIL|NODATA)$/, 'the host name could not be resolved'],
	['timeout', /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/, 'the server did not respond'],
	['lost', /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'the connection was reset'],
	['lost', /^EHOST(UNREACH|DOWN)$/, 'the host cannot be reached'],
	['lost', /^(ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, 'the network cannot be reached'],
	['lost', /^(ERR_BAD_RESPONSE|HPE_INVALID_CONSTANT)$/, 'the response was not valid HTTP'],
	// Without a code, nothing says that there was no connection.
	['unknown', /^$/, 'the request failed'],
];

const blockedRow: NetworkErrorRow = [
	'blocked',
	/^$/,
	'n8n does not allow connections to this address',
	'Nothing was sent. Ask your n8n administrator to allow the address (N8N_SSRF_ALLOWED_HOSTNAMES, N8N_SSRF_ALLOWED_IP_RANGES).',
];
const unknownRow: NetworkErrorRow = ['unknown', /./, 'the connection failed'];

/** Classifies anything that was thrown instead of a response. */
export function classifyNetworkError(error: unknown): NetworkError {
	const chain = collectErrorChain(error);
	const isBlocked = chain.some(isBlockedByPolicy);
	const errorCode = isBlocked ? undefined : findErrorCode(chain);
	const row = errorTable.find(([, codes]) => codes.test(errorCode ?? '')) ?? unknownRow;
	const [rowCategory, , reason, cure] = isBlocked ? blockedRow : row;
	const category = adaptCategory(rowCategory, chain);
	const statusCode = category === 'timeout' ? 504 : 503;
	return { category, ...resultByCategory[category], statusCode, errorCode, reason, cure };
}

/**
 * Nothing is sent before there is a connection and, with https:, TLS is established. Later, the
 * service may have got the request.
 */
function adaptCategory(category: Category, chain: readonly object[]): Category {
	const isPending = findPending(chain);
	const isConnecting = chain.some((link) => getProperty(link, 'syscall') === 'connect');
	const isUnclear = resultByCategory[category] === unclear;
	if (isUnclear && (isConnecting || isPending)) return 'notConnected';
	return category === 'handshake' && isPending === false ? 'lost' : category;
}

/**
 * Finds out from the request of the HTTP client whether a proxy had not connected it yet, so that
 * it has no socket, or TLS was pending. Undefined if the error does not tell.
 */
function findPending(chain: readonly object[]): boolean | undefined {
	for (const link of chain) {
		const socket = getProperty(getProperty(link, 'request'), 'socket');
		if (socket === null) return true;
		const isPending = getProperty(socket, 'secureConnecting');
		if (typeof isPending === 'boolean') return isPending;
	}
	return undefined;
}

/** Says what happened, with the same words in every node. @param url the requested address */
export function formatNetworkMessage({ category, outcome, reason }: NetworkError, url: string) {
	const { host } = new URL(url);
	if (category === 'timeout') return `${host} did not respond in time`;
	if (outcome === 'unknown')
		return `The connection to ${host} was lost before the service responded: ${reason}`;
	return `No connection to ${host}: ${reason}`;
}

/**
 * Collects the error and its causes, outermost first. An AggregateError adds all of its errors,
 * such as one for each address of a host.
 */
export function collectErrorChain(error: unknown): object[] {
	const maxChainLength = 16;
	const chain: object[] = [];
	const queue = [error];
	for (const link of queue) {
		if (typeof link !== 'object' || link === null || chain.includes(link)) continue;
		chain.push(link);
		if (chain.length === maxChainLength) break;
		queue.push(getProperty(link, 'cause'), ...[getProperty(link, 'errors')].flat());
	}
	return chain;
}

/**
 * Finds the first Node error code in the chain. n8n's wrapper may have put it into `httpCode`. A
 * code of digits is an HTTP status.
 */
export function findErrorCode(chain: readonly unknown[]): string | undefined {
	const codes = chain.map((link) => getProperty(link, 'httpCode') ?? getProperty(link, 'code'));
	return codes.find((code): code is string => typeof code === 'string' && !/^\d*$/.test(code));
}

export const getProperty = (value: unknown, key: string) =>
	typeof value === 'object' && value !== null
		? (value as Record<string, unknown>)[key]
		: undefined;

/** Returns whether this is an error of n8n's egress policy, which an administrator can turn on. */
const isBlockedByPolicy = (error: unknown) =>
	error instanceof Error && error.name.startsWith('SsrfBlocked');
