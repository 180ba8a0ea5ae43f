import { observeHttpClient } from './httpObserver';
import type { AttemptResult } from './retry';

/** The error and its causes, outermost first. If several occurred at once (one for each address of a host), all of them are included. */
export function collectCauses(error: unknown): object[] {
	const found: object[] = [];
	const open = [error];
	while (open.length > 0 && found.length < maxCauses) {
		const link = open.shift();
		if (typeof link !== 'object' || link === null || found.includes(link)) continue;
		found.push(link);
		open.push(getProperty(link, 'cause'));
		const several = getProperty(link, 'errors');
		if (Array.isArray(several)) open.push(...(several as unknown[]));
	}
	return found;
}

const maxCauses = 16;

/** The first Node error code in the chain, wherever n8n's wrapper put it. */
export function findErrorCode(chain: readonly unknown[]): string | undefined {
	const codes = chain.map((link) => getProperty(link, 'httpCode') ?? getProperty(link, 'code'));
	return codes.find((code): code is string => typeof code === 'string' && !/^\d*$/.test(code));
}

/** The host and port that could not be reached: those requested, or others on the way, such as a proxy. @param url the requested address */
function findUnreachableHost(chain: readonly unknown[], url: string): string {
	const { host, hostname, port, protocol } = new URL(url);
	const ownPort = Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port);
	for (const link of chain) {
		const name = getProperty(link, 'hostname');
		if (typeof name === 'string' && name !== hostname) return name;
		const [address, hop] = [getProperty(link, 'address'), getProperty(link, 'port')];
		if (typeof address === 'string' && typeof hop === 'number' && hop !== ownPort) return `${address}:${hop}`;
	}
	return host;
}

export const getProperty = (value: unknown, key: string) =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;

/** What became of the request. Codes that Node reports only before a connection exists mean that nothing was done. */
const outcomes = {
	notConnected: { outcome: 'notDone', retryable: true },
	certificate: { outcome: 'notDone', retryable: false },
	handshake: { outcome: 'notDone', retryable: false },
	blocked: { outcome: 'notDone', retryable: false },
	timeout: { outcome: 'unknown', retryable: true },
	lost: { outcome: 'unknown', retryable: true },
	unknown: { outcome: 'unknown', retryable: true },
} as const satisfies Readonly<Record<string, AttemptResult>>;

/** What Node, n8n or the HTTP client reported instead of an answer. */
export interface NetworkError extends AttemptResult {
	readonly category: keyof typeof outcomes;
	/** HTTP status that is reported to the user. */
	readonly status: 503 | 504;
	/** Node's error code; undefined if there is none. */
	readonly code: string | undefined;
	/** The end of a sentence, without its subject. Never contains the code, because n8n replaces texts that do with its own. */
	readonly reason: string;
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_|SIGNATURE_FAILURE|HOSTNAME_MISMATCH/;

type NetworkErrorRow = readonly [
	category: NetworkError['category'],
	codes: RegExp,
	reason: string,
	/** Limits the row to errors while connecting (a route can also disappear after a request was sent), or before TLS is established. */
	only?: 'connecting' | 'beforeTls',
];

/** The first row that matches the code applies. */
const rows: readonly NetworkErrorRow[] = [
	['notConnected', /^EHOST(UNREACH|DOWN)$/, 'the host cannot be reached', 'connecting'],
	['notConnected', /^(ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, 'the network cannot be reached', 'connecting'],
	['notConnected', /^ETIMEDOUT$/, 'the server did not respond', 'connecting'],
	['certificate', certificateCodes, "the server's certificate is not trusted", 'beforeTls'],
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

/** From Node's message for a connection that ended before TLS was established. Its code is the same as for any reset. */
const resetBeforeTls = 'before secure TLS connection was established';

/** The advice when n8n's egress policy stopped a request. The wording is the same in every node. */
export const blockedAdvice =
	'Nothing was sent. Ask your n8n administrator to allow the address (N8N_SSRF_ALLOWED_HOSTNAMES, N8N_SSRF_ALLOWED_IP_RANGES).';

/** Classifies anything that was thrown instead of an answer. */
export function classifyNetworkError(error: unknown): NetworkError {
	const chain = collectCauses(error);
	const code = chain.some(isBlockedByPolicy) ? undefined : findErrorCode(chain);
	const [category, reason] = findMeaning(chain, code);
	return { category, ...outcomes[category], status: category === 'timeout' ? 504 : 503, code, reason };
}

function findMeaning(chain: readonly object[], code = ''): [NetworkError['category'], string] {
	if (chain.some(isBlockedByPolicy)) return ['blocked', 'n8n does not allow connections to this address'];
	if (code === '') return ['unknown', 'the request failed'];
	if (chain.some((link) => link instanceof Error && link.message.includes(resetBeforeTls))) {
		return ['notConnected', 'the connection was reset'];
	}
	const { errorsAfterTls } = observeHttpClient();
	const applies = {
		connecting: chain.some((link) => getProperty(link, 'syscall') === 'connect'),
		beforeTls: !chain.some((link) => errorsAfterTls.has(link)),
	};
	const row = rows.find(([, codes, , only]) => codes.test(code) && (only === undefined || applies[only]));
	return row ? [row[0], row[2]] : ['unknown', 'the connection failed'];
}

/** What happened, for the user. The wording is the same in every node. @param url the requested address */
export function formatNetworkMessage({ category, reason }: NetworkError, error: unknown, url: string) {
	const { host } = new URL(url);
	if (category === 'timeout') return `${host} did not respond in time`;
	const isLost = category === 'lost' || category === 'unknown';
	if (isLost) return `The connection to ${host} was lost before the service responded: ${reason}`;
	return `No connection to ${findUnreachableHost(collectCauses(error), url)}: ${reason}`;
}

/** Whether this is an error of n8n's own egress policy, if that is turned on. */
export const isBlockedByPolicy = (link: unknown): link is Error =>
	link instanceof Error && link.name.startsWith('SsrfBlocked');
