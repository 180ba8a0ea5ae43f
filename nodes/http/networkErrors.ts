import { getHttpObserver } from './httpObserver';
import type { AttemptResult } from './retry';

/** Collects the error and its causes, outermost first. An AggregateError adds all of its errors, such as one for each address of a host. */
export function collectErrorChain(error: unknown): object[] {
	const maxChainLength = 16;
	const chain: object[] = [];
	const queue = [error];
	while (queue.length > 0 && chain.length < maxChainLength) {
		const link = queue.shift();
		if (typeof link !== 'object' || link === null || chain.includes(link)) continue;
		chain.push(link);
		queue.push(getProperty(link, 'cause'));
		const innerErrors = getProperty(link, 'errors');
		if (Array.isArray(innerErrors)) queue.push(...(innerErrors as unknown[]));
	}
	return chain;
}

/** Finds the first Node error code in the chain. n8n's wrapper may have put it into `httpCode`. A code of digits is an HTTP status. */
export function findErrorCode(chain: readonly unknown[]): string | undefined {
	const codes = chain.map((link) => getProperty(link, 'httpCode') ?? getProperty(link, 'code'));
	return codes.find((code): code is string => typeof code === 'string' && !/^\d*$/.test(code));
}

/** Finds the host that could not be reached: the host of the URL, or another one on the way, such as a proxy (then also its port if known). */
function findUnreachableHost(chain: readonly unknown[], url: string): string {
	const { host, hostname, port, protocol } = new URL(url);
	const defaultPort = protocol === 'https:' ? 443 : 80;
	const requestedPort = port === '' ? defaultPort : Number(port);
	for (const link of chain) {
		const name = getProperty(link, 'hostname');
		if (typeof name === 'string' && name !== hostname) return name;
		const address = getProperty(link, 'address');
		const peerPort = getProperty(link, 'port');
		if (
			typeof address === 'string' &&
			typeof peerPort === 'number' &&
			peerPort !== requestedPort
		)
			return `${address}:${peerPort}`;
	}
	return host;
}

export const getProperty = (value: unknown, key: string) =>
	typeof value === 'object' && value !== null
		? (value as Record<string, unknown>)[key]
		: undefined;

/** What became of the request, by category of error. Errors that occur only before a connection exists mean that nothing was done. */
const resultByCategory = {
	notConnected: { outcome: 'notDone', retryable: true },
	certificate: { outcome: 'notDone', retryable: false },
	handshake: { outcome: 'notDone', retryable: false },
	blocked: { outcome: 'notDone', retryable: false },
	timeout: { outcome: 'unknown', retryable: true },
	lost: { outcome: 'unknown', retryable: true },
	unknown: { outcome: 'unknown', retryable: true },
} as const satisfies Readonly<Record<string, AttemptResult>>;

/** An error that Node, n8n or the HTTP client reported instead of a response. */
export interface NetworkError extends AttemptResult {
	readonly category: keyof typeof resultByCategory;
	readonly statusCode: 503 | 504;
	/** A code of Node, of n8n or of the HTTP client, such as ECONNREFUSED. */
	readonly errorCode: string | undefined;
	/** The end of a sentence. It never contains the code, because n8n replaces an error text that contains such a code. */
	readonly reason: string;
}

const certificateCodePattern = /CERT|SELF_SIGNED|UNABLE_TO_|SIGNATURE_FAILURE|HOSTNAME_MISMATCH/;

type NetworkErrorRow = readonly [
	category: NetworkError['category'],
	codePattern: RegExp,
	reason: string,
	/** The row applies only to errors of this phase. `connecting`: before there is a connection. `beforeTls`: before TLS is established. */
	phase?: 'connecting' | 'beforeTls',
];

/** The first row that matches the code and the phase applies. A code can stand twice, because a route can also disappear later. */
const errorTable: readonly NetworkErrorRow[] = [
	['notConnected', /^EHOST(UNREACH|DOWN)$/, 'the host cannot be reached', 'connecting'],
	[
		'notConnected',
		/^(ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
		'the network cannot be reached',
		'connecting',
	],
	['notConnected', /^ETIMEDOUT$/, 'the server did not respond', 'connecting'],
	['certificate', certificateCodePattern, "the server's certificate is not trusted", 'beforeTls'],
	['handshake', /^(EPROTO|ERR_TLS|ERR_SSL)/, 'the secure (TLS) connection failed', 'beforeTls'],
	['notConnected', /^ECONNREFUSED$/, 'the connection was refused'],
	['notConnected', /^ENOTFOUND$/, 'the host name was not found'],
	['notConnected', /^EAI_(AGAIN|FAIL|NODATA)$/, 'the host name could not be resolved'],
	['timeout', /^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT)$/, 'the server did not respond'],
	['lost', /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'the connection was reset'],
	['lost', /^EHOST(UNREACH|DOWN)$/, 'the host cannot be reached'],
	['lost', /^ENET(UNREACH|DOWN)$/, 'the network cannot be reached'],
	['lost', /^(ERR_BAD_RESPONSE|HPE_INVALID_CONSTANT)$/, 'the response was not valid HTTP'],
];

/** Part of Node's message if a connection ended before TLS was established. The code ECONNRESET does not show when it ended. */
const resetBeforeTls = 'before secure TLS connection was established';

export const blockedAdvice =
	'Nothing was sent. Ask your n8n administrator to allow the address (N8N_SSRF_ALLOWED_HOSTNAMES, N8N_SSRF_ALLOWED_IP_RANGES).';

/** Classifies anything that was thrown instead of a response. */
export function classifyNetworkError(error: unknown): NetworkError {
	const chain = collectErrorChain(error);
	const errorCode = chain.some(isBlockedByPolicy) ? undefined : findErrorCode(chain);
	const [category, reason] = classifyCode(chain, errorCode);
	const statusCode = category === 'timeout' ? 504 : 503;
	return { category, ...resultByCategory[category], statusCode, errorCode, reason };
}

function classifyCode(
	chain: readonly object[],
	errorCode = '',
): [NetworkError['category'], string] {
	if (chain.some(isBlockedByPolicy))
		return ['blocked', 'n8n does not allow connections to this address'];
	if (errorCode === '') return ['unknown', 'the request failed'];
	if (chain.some((link) => link instanceof Error && link.message.includes(resetBeforeTls)))
		return ['notConnected', 'the connection was reset'];
	const phases = {
		connecting: chain.some((link) => getProperty(link, 'syscall') === 'connect'),
		beforeTls: !chain.some((link) => getHttpObserver().errorsAfterTls.has(link)),
	};
	const row = errorTable.find(
		([, pattern, , phase]) => pattern.test(errorCode) && (!phase || phases[phase]),
	);
	const [category = 'unknown', , reason = 'the connection failed'] = row ?? [];
	return [category, reason];
}

/** Says what happened, with the same words in every node. @param url the requested address */
export function formatNetworkMessage(networkError: NetworkError, error: unknown, url: string) {
	const { category, outcome, reason } = networkError;
	const { host } = new URL(url);
	if (category === 'timeout') return `${host} did not respond in time`;
	if (outcome === 'unknown')
		return `The connection to ${host} was lost before the service responded: ${reason}`;
	return `No connection to ${findUnreachableHost(collectErrorChain(error), url)}: ${reason}`;
}

/** Returns whether this is an error of n8n's egress policy, which an administrator can turn on. */
export const isBlockedByPolicy = (error: unknown): error is Error =>
	error instanceof Error && error.name.startsWith('SsrfBlocked');
