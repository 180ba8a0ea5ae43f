import type { LookupFunction } from 'node:net';
import type { ICredentialDataDecryptedObject, NodeEgressFilter } from 'n8n-workflow';

import { createRefusal } from '../../core/errors';
import { type Clock, systemClock } from '../../core/clock';
import { Sanitizer } from '../../core/sanitizer';
import { splitList } from '../../fields/values';

/** The values of one item that replace those of the credential. An empty value or a timestamp of 0 replaces nothing. */
export type IdentityOverrides = Readonly<Partial<Record<keyof Identity, unknown>>>;

/** The values that identify the user, with the timestamp of one request. */
export interface Identity {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

export type AgentApiCredential = ReturnType<typeof parseAgentApiCredential>;

/** Parses the `agentApi` credential. @throws NodeError with 400 if the API key is empty */
export function parseAgentApiCredential(raw: Readonly<Record<string, unknown>>) {
	const apiKey = trimValue(raw.apiKey);
	const advice = 'Enter the API key from the team that operates your agent.';
	if (apiKey === '') throw createRefusal('The Agent API credential has no API key', advice);
	return {
		deploymentUrl: trimValue(raw.deploymentUrl),
		webSocketUrl: trimValue(raw.webSocketUrl),
		apiKey,
		/** The unit of the channel's timestamp. The execute call always sends milliseconds. */
		timestampUnit: raw.timestampUnit === 'milliseconds' ? ('milliseconds' as const) : ('seconds' as const),
		allowUnauthorizedCerts: raw.allowUnauthorizedCerts === true,
	};
}

type AgentSignatureCredential = ReturnType<typeof parseAgentSignatureCredential>;

/** Parses the `agentSignatureApi` credential. Missing values are no error, because the item may override them. */
export function parseAgentSignatureCredential(raw: Readonly<Record<string, unknown>>) {
	return {
		userId: trimValue(raw.userId),
		userPublicKey: trimValue(raw.userPublicKey),
		signature: trimValue(raw.signature),
		/** `current` is the time of each call. `issued` is the timestamp that came with the signature. */
		timestampMode: raw.timestampMode === 'issued' ? ('issued' as const) : ('current' as const),
		/** Milliseconds since 1970. Not checked yet. */
		issuedTimestamp: raw.issuedTimestamp,
		/** The host names that the credential may be used for. An empty list allows every host. */
		allowedHosts: splitList(trimValue(raw.allowedHosts)),
	};
}

/** Builds the identity of one request or channel. @throws NodeError with 400 if a value is missing or the timestamp is wrong */
export function buildIdentity(
	credential: AgentSignatureCredential,
	overrides: IdentityOverrides = {},
	nowMilliseconds: number = Date.now(),
): Identity {
	return {
		userId: requireIdentityValue(overrides.userId, credential.userId, 'user ID'),
		userPublicKey: requireIdentityValue(overrides.userPublicKey, credential.userPublicKey, 'user public key'),
		signature: requireIdentityValue(overrides.signature, credential.signature, 'signature'),
		timestamp: resolveTimestamp(credential, overrides.timestamp, nowMilliseconds),
	};
}

const trimValue = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

function requireIdentityValue(override: unknown, fallback: string, name: string): string {
	const value = trimValue(override) || fallback;
	if (value !== '') return value;
	const advice = `Enter the ${name} in the Agent Signature API credential or in the node's options.`;
	throw createRefusal(`The ${name} is missing`, advice);
}

function resolveTimestamp(credential: AgentSignatureCredential, override: unknown, now: number): number {
	if (override) return parseTimestamp(override, "The option 'Timestamp (Milliseconds)'");
	if (credential.timestampMode === 'current') return now;
	return parseTimestamp(
		credential.issuedTimestamp,
		'The issued timestamp of the Agent Signature API credential',
		" If you received no timestamp with the signature, set 'Timestamp' to 'Current'.",
	);
}

/** A time in 1973, in milliseconds. The current time in seconds is a far smaller number. */
const minTimestamp = 1e11;
/** A time in 5138, in milliseconds. The current time in microseconds is a far larger number. */
const maxTimestamp = 1e14;

function parseTimestamp(value: unknown, name: string, furtherAdvice = ''): number {
	const digits = trimValue(value);
	const number = Number(digits);
	if (/^\d{1,20}$/.test(digits) && number >= minTimestamp && number < maxTimestamp) return number;
	throw createRefusal(
		`${name} is not a time in milliseconds`,
		`Enter the milliseconds since 1970: 13 digits, such as 1767225600000. The node converts them to seconds for the channel.${furtherAdvice}`,
	);
}

export type AgentCredentials = Awaited<ReturnType<typeof readCredentials>>;

/** Reads both credentials. `signer` is the signature credential. @throws NodeError with 400 without an API key; n8n's error if it cannot read one */
export async function readCredentials(context: Pick<ConnectRequestContext, 'getCredentials'>) {
	return {
		api: parseAgentApiCredential(await context.getCredentials('agentApi')),
		signer: parseAgentSignatureCredential(await context.getCredentials('agentSignatureApi')),
	};
}

export function listSecrets(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}

export type Sanitize = (text: string) => string;

/** In characters. Each text that is shown is shorter. */
const maxSanitizedLength = 16_384;

/** Builds a function that sanitizes texts before they are shortened or become part of other texts. */
export function buildSanitizeFunction(secrets: readonly string[]): Sanitize {
	const sanitizer = new Sanitizer(secrets);
	return (text) => sanitizer.sanitizeText(text, maxSanitizedLength);
}

/** The part of n8n's egress policy that checks the addresses of sockets. */
export type EgressFilter = Pick<NodeEgressFilter, 'validateUrl' | 'validateConnectionHost'> & {
	createSecureLookup(): LookupFunction;
};

export type ConnectRequest = Readonly<ReturnType<typeof buildConnectRequest>>;

/** Builds the request of one attempt from credentials that are at most a second old. @throws like `readCredentials` and `buildIdentity` */
export type ConnectRequestReader = (sessionId: string) => Promise<ConnectRequest>;

interface ConnectRequestContext {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
	/** Missing before n8n 2.28. Only sockets need the filter, because n8n's HTTP helpers follow the egress policy themselves. */
	readonly helpers: { getSecureEgressFilter?(): EgressFilter };
}

/** How long attempts share one reading. An attempt after rejected credentials comes later than this, so it reads the credentials again. */
const sharedReadMilliseconds = 1000;

/** The reader reads the credentials at most once a second. A reading takes n8n about 150 ms, and 100 sessions may reconnect at once. */
export function createConnectRequestReader(
	context: ConnectRequestContext,
	overrides: IdentityOverrides = {},
	clock: Pick<Clock, 'getMonotonicMilliseconds'> = systemClock,
): ConnectRequestReader {
	let lastReading: { readonly begunAt: number; readonly reading: Promise<AgentCredentials> } | undefined;
	return async (sessionId) => {
		const now = clock.getMonotonicMilliseconds();
		if (lastReading === undefined || now - lastReading.begunAt >= sharedReadMilliseconds)
			lastReading = { begunAt: now, reading: readCredentials(context) };
		const { api, signer } = await lastReading.reading;
		checkAllowedHost(signer, buildChannelBaseUrl(api), !api.allowUnauthorizedCerts);
		const egress = context.helpers.getSecureEgressFilter?.();
		return buildConnectRequest(sessionId, api, buildIdentity(signer, overrides), egress);
	};
}

/** Builds what one attempt to open a channel needs. @param egress n8n's egress filter; undefined means that any address may be reached */
export function buildConnectRequest(
	sessionId: string,
	api: AgentApiCredential,
	identity: Identity,
	egress?: EgressFilter,
) {
	return {
		/** Contains secrets and must not appear in any text. */
		url: buildChannelUrl(api, sessionId, identity),
		/** The URL without its query, which may be shown. */
		baseUrl: buildChannelBaseUrl(api),
		sanitize: buildSanitizeFunction(listSecrets(api, identity)),
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		egress,
	};
}

/** Builds `{deploymentUrl}/execute`. @throws NodeError with 400 if the URL is not valid; its text does not contain the URL */
export function buildExecuteUrl(credential: Pick<AgentApiCredential, 'deploymentUrl'>): string {
	const url = parseBaseUrl(credential.deploymentUrl, 'Deployment URL', ['http:', 'https:']);
	return appendPathSegment(url, 'execute').href;
}

/**
 * Builds `{webSocketUrl}/ws?…`, with the API key and the signature in the query. Only the socket may get this URL.
 * @throws NodeError with 400 if the URL is not valid; its text does not contain the URL
 */
export function buildChannelUrl(api: AgentApiCredential, sessionId: string, identity: Identity): string {
	const url = buildChannelBaseUrl(api);
	const { userPublicKey, signature, timestamp: milliseconds } = identity;
	const timestamp = `${api.timestampUnit === 'seconds' ? Math.floor(milliseconds / 1000) : milliseconds}`;
	const query = new URLSearchParams({ sessionId, userPublicKey, signature, timestamp, apiKey: api.apiKey });
	// URLSearchParams writes a space as a plus sign, which only HTML forms use. A plus sign in a value is already %2B here.
	url.search = query.toString().replaceAll('+', '%20');
	return url.href;
}

/** Builds the channel's URL without its query. It may be shown. @throws NodeError with 400 if the URL is not valid */
export function buildChannelBaseUrl(credential: Pick<AgentApiCredential, 'webSocketUrl'>): URL {
	const url = parseBaseUrl(credential.webSocketUrl, 'WebSocket URL', ['ws:', 'wss:', 'http:', 'https:']);
	if (url.protocol === 'http:') url.protocol = 'ws:';
	if (url.protocol === 'https:') url.protocol = 'wss:';
	return appendPathSegment(url, 'ws');
}

function parseBaseUrl(value: string, name: string, protocols: readonly string[]): URL {
	const listFormat = new Intl.ListFormat('en-GB', { type: 'disjunction' });
	const advice = `Enter a complete URL that starts with ${listFormat.format(protocols.map((protocol) => `${protocol}//`))}.`;
	const subject = `The ${name} of the Agent API credential`;
	if (value === '') throw createRefusal(`${subject} is empty`, advice);
	const url = URL.canParse(value) ? new URL(value) : undefined;
	if (url === undefined || !protocols.includes(url.protocol))
		throw createRefusal(`${subject} is not a complete URL`, advice);
	if (url.username !== '' || url.password !== '') {
		const keyAdvice = 'Remove the part before the @. The API key has its own field.';
		throw createRefusal(`${subject} contains a user name or password`, keyAdvice);
	}
	if (url.search !== '' || url.hash !== '')
		throw createRefusal(`${subject} contains a ? or #`, 'Remove the query. The node adds it.');
	return url;
}

function appendPathSegment(url: URL, segment: string): URL {
	url.pathname = `${url.pathname.replace(/\/+$/, '')}/${segment}`;
	return url;
}

/**
 * Checks the host against the list in the signature credential. Without this check, a user with whom the credential is shared could send
 * the signature to any server, or unencrypted, with an Agent API credential of their own.
 * @param isVerified whether the server's certificate is checked
 * @throws NodeError with 400 if the host is not listed, or if the connection is not secure and the host is not listed with `http://`
 */
export function checkAllowedHost(signer: AgentSignatureCredential, url: URL, isVerified = true): void {
	const { allowedHosts } = signer;
	if (allowedHosts.length === 0) return;
	const entries = allowedHosts.map(parseAllowedHost).filter((entry) => matchesAllowedHost(entry, url));
	const isSecure = (isVerified && isEncrypted(url)) || isLoopback(url);
	if (entries.some(({ allowsUnencrypted }) => allowsUnencrypted || isSecure)) return;
	const list = `'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}.`;
	if (entries.length > 0)
		throw createRefusal(
			`The Agent Signature API credential is not allowed for ${url.host} without a verified encrypted connection`,
			`Nothing was sent. ${list} Use https:// and wss:// in the Agent API credential with 'Ignore SSL Issues' off, or ask the owner of the credential to enter http://${url.host}.`,
		);
	throw createRefusal(
		`The Agent Signature API credential is not allowed for ${url.host}`,
		`Nothing was sent. ${list} Ask the owner of the credential to add the host, or use an Agent API credential for one of these hosts.`,
	);
}

/** Parses an entry, and normalizes its host as in a URL (lower case, ASCII). @throws NodeError with 400 if the entry is not a host name */
export function parseAllowedHost(entry: string) {
	// A scheme and a slash at the end are allowed around the name.
	const [, scheme = '', name = ''] = /^((?:http|ws)s?:\/\/)?(.*?)\/?$/i.exec(entry) ?? [];
	const hasWildcard = name.startsWith('*.');
	const address = hasWildcard ? name.slice(2) : name;
	const [, port = ''] = /:(\d+)$/.exec(name) ?? [];
	if (!/[/?#@\s*]/.test(address) && URL.canParse(`ws://${address}`)) {
		const host = removeFinalDot(new URL(`ws://${address}`).hostname);
		return {
			/** Whether the entry starts with `http://` or `ws://`. Then neither encryption nor a valid certificate is required. */
			allowsUnencrypted: /^(?:http|ws):/i.test(scheme),
			hasWildcard,
			host,
			/** An empty text means any port. */
			port,
		};
	}
	throw createRefusal(
		`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
		'Enter names such as agent.example.com, agent.example.com:3010, *.example.com or http://agent.example.com, separated by commas.',
	);
}

function matchesAllowedHost(entry: ReturnType<typeof parseAllowedHost>, url: URL): boolean {
	const { hasWildcard, host, port } = entry;
	const hostname = removeFinalDot(url.hostname);
	const isHost = hasWildcard ? hostname.endsWith(`.${host}`) : hostname === host;
	const urlPort = url.port || (isEncrypted(url) ? '443' : '80');
	return isHost && (port === '' || port === urlPort);
}

const isEncrypted = ({ protocol }: URL) => protocol === 'https:' || protocol === 'wss:';

/** Whether the connection stays on this machine, so that it needs no encryption. */
const isLoopback = ({ hostname }: URL) => /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);

const removeFinalDot = (name: string) => name.replace(/\.$/, '');
