import { isDeepStrictEqual } from 'node:util';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { createRefusal } from '../../core/errors';
import { splitList } from '../../fields/values';

/** The values that identify the user, with the timestamp of one request. */
export interface Identity {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

export type AgentApiCredential = ReturnType<typeof parseAgentApiCredential>;

/** Parses the `agentApi` credential. @throws NodeError 400 if the API key cannot be sent */
export function parseAgentApiCredential(raw: Readonly<Record<string, unknown>>) {
	const apiKey = trimValue(raw.apiKey);
	const advice = 'Enter the API key from the team that operates your agent.';
	if (apiKey === '') throw createRefusal('The Agent API credential has no API key', advice);
	// The key is sent in a header. Invisible characters come along when it is copied.
	if (!/^[\t -~\x80-\xff]*$/.test(apiKey))
		throw createRefusal(
			'The API key of the Agent API credential contains a line break or a character that cannot be sent',
			advice,
		);
	return {
		deploymentUrl: trimValue(raw.deploymentUrl),
		webSocketUrl: trimValue(raw.webSocketUrl),
		apiKey,
		/** The unit of the channel's timestamp. The execute call always sends milliseconds. */
		timestampUnit: raw.timestampUnit,
		allowUnauthorizedCerts: raw.allowUnauthorizedCerts === true,
	};
}

type AgentSignatureCredential = ReturnType<typeof parseAgentSignatureCredential>;

/**
 * Parses the `agentSignatureApi` credential. Missing values are no error, because each item may
 * override them.
 */
export function parseAgentSignatureCredential(raw: Readonly<Record<string, unknown>>) {
	return {
		userId: trimValue(raw.userId),
		userPublicKey: trimValue(raw.userPublicKey),
		signature: trimValue(raw.signature),
		/**
		 * `issued` is the timestamp that came with the signature. Otherwise, the time of each call
		 * is sent.
		 */
		timestampMode: raw.timestampMode,
		/** Milliseconds since 1970. Not checked yet. */
		issuedTimestamp: raw.issuedTimestamp,
		/** The host names that the credential may be used for. An empty list allows every host. */
		allowedHosts: 'allowedHosts' in raw ? readAllowedHosts(raw.allowedHosts) : [],
	};
}

/** @throws NodeError 400 if an expression gives no list, because that must not allow every host */
function readAllowedHosts(raw: unknown): string[] {
	if (raw === '') return [];
	const hosts = typeof raw === 'string' ? splitList(raw) : raw;
	if (Array.isArray(hosts) && hosts.length > 0) return hosts.map(trimValue);
	throw createRefusal(
		"'Allowed Hosts' of the Agent Signature API credential gives no hosts",
		'Nothing was sent. Check its expression. It must give a text or an array.',
	);
}

/**
 * Builds the identity of one request or channel.
 * @param override the values of one item that replace those of the credential
 */
export function buildIdentity(credential: AgentSignatureCredential, override?: Identity): Identity {
	const { userId, userPublicKey, signature } = override ?? credential;
	return {
		userId: requireIdentityValue(userId, 'user ID'),
		userPublicKey: requireIdentityValue(userPublicKey, 'user public key'),
		signature: requireIdentityValue(signature, 'signature'),
		timestamp: chooseTimestamp(credential, override) ?? Date.now(),
	};
}

/** Returns undefined if the time of the call is sent. */
function chooseTimestamp(
	{ timestampMode, issuedTimestamp }: AgentSignatureCredential,
	override?: Identity,
) {
	if (override) return parseTimestamp(override.timestamp, "'Timestamp (Milliseconds)'");
	if (timestampMode !== 'issued') return undefined;
	const name = 'The issued timestamp of the Agent Signature API credential';
	return parseTimestamp(issuedTimestamp, name);
}

const trimValue = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

function requireIdentityValue(value: string, name: string): string {
	if (value.trim() !== '') return value.trim();
	throw createRefusal(
		`The ${name} is missing`,
		`Enter the ${name} in the Agent Signature API credential, or use the node's option 'Signature Override'.`,
	);
}

function parseTimestamp(value: unknown, name: string): number {
	const digits = trimValue(value);
	// Times from 1973 to 5138. The current time in seconds has fewer digits, in microseconds more.
	if (/^[1-9]\d{11,13}$/.test(digits)) return Number(digits);
	throw createRefusal(
		`${name} is not a time in milliseconds`,
		`Enter the milliseconds since 1970: 13 digits, such as 1767225600000. If you received no timestamp with the signature, set 'Timestamp' in the credential to 'Current'.`,
	);
}

/** The part of n8n's contexts that reads credentials. */
export interface CredentialContext {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
}

export type AgentCredentials = Awaited<ReturnType<typeof readCredentials>>;

/**
 * Reads both credentials. n8n evaluates their expressions for the item.
 * @throws NodeError 400 without a usable API key; n8n's error if it cannot read one
 */
export async function readCredentials(context: CredentialContext, itemIndex?: number) {
	return {
		api: parseAgentApiCredential(await context.getCredentials('agentApi', itemIndex)),
		signatureApi: parseAgentSignatureCredential(
			await context.getCredentials('agentSignatureApi', itemIndex),
		),
	};
}

/**
 * Creates the reader of each item's credentials. A reading takes n8n milliseconds, so credentials
 * that are the same for all items are read only once. n8n does not tell whether they are. But for
 * an item that does not exist, an expression about the item fails or gives another value.
 */
export async function createItemCredentialsReader(context: CredentialContext, itemCount: number) {
	const read = (itemIndex: number) => readCredentials(context, itemIndex);
	if (itemCount === 1) return read;
	const [first, missing] = await Promise.all(
		[0, itemCount].map((itemIndex) => read(itemIndex).catch(() => undefined)),
	);
	return first && isDeepStrictEqual(first, missing) ? () => first : read;
}

export const listSecrets = (
	{ apiKey }: AgentApiCredential,
	{ signature, userPublicKey }: Identity,
): string[] => [apiKey, signature, userPublicKey];

/**
 * Builds `{deploymentUrl}/execute`.
 * @throws NodeError 400 if the URL is not valid; its text does not contain the URL
 */
export function buildExecuteUrl({ deploymentUrl }: AgentApiCredential): string {
	const url = parseBaseUrl(deploymentUrl, 'Deployment URL', ['https', 'http']);
	return appendPathSegment(url, 'execute').href;
}

/**
 * Builds `{webSocketUrl}/ws?…`, with the API key and the signature in the query. Only the socket
 * may get this URL.
 * @throws NodeError 400 if the URL is not valid; its text does not contain the URL
 */
export function buildChannelUrl(
	api: AgentApiCredential,
	sessionId: string,
	identity: Identity,
): string {
	const url = buildChannelBaseUrl(api);
	const { userPublicKey, signature } = identity;
	const unitMilliseconds = api.timestampUnit === 'milliseconds' ? 1 : 1000;
	const timestamp = Math.floor(identity.timestamp / unitMilliseconds);
	const query = new URLSearchParams({
		sessionId,
		userPublicKey,
		signature,
		timestamp: String(timestamp),
		apiKey: api.apiKey,
	});
	// URLSearchParams writes a space as a plus sign, which only HTML forms use. A plus sign in a
	// value is already %2B here.
	url.search = query.toString().replaceAll('+', '%20');
	return url.href;
}

/**
 * Builds the channel's URL without its query. It may be shown.
 * @throws NodeError 400 if the URL is not valid
 */
export function buildChannelBaseUrl({ webSocketUrl }: AgentApiCredential): URL {
	const schemes = ['wss', 'ws', 'https', 'http'];
	const url = parseBaseUrl(webSocketUrl, 'WebSocket URL', schemes);
	url.protocol = url.protocol.replace('http', 'ws');
	return appendPathSegment(url, 'ws');
}

function parseBaseUrl(value: string, name: string, schemes: readonly string[]): URL {
	const url = URL.canParse(value) ? new URL(value) : undefined;
	if (url && schemes.includes(url.protocol.slice(0, -1))) {
		const additions = url.username + url.password + url.search + url.hash;
		if (additions === '') return url;
	}
	const beginnings = schemes.map((scheme) => `${scheme}://`).join(', ');
	throw createRefusal(
		`The ${name} of the Agent API credential is not a complete URL`,
		`Enter a URL that starts with ${beginnings}, without a user name, a password, ? or #. The API key has its own field.`,
	);
}

function appendPathSegment(url: URL, segment: string): URL {
	url.pathname = `${url.pathname.replace(/\/+$/, '')}/${segment}`;
	return url;
}

/**
 * Checks the host against the list in the signature credential. Without this check, a user with
 * whom the credential is shared could send the signature to any server, or unencrypted, with an
 * Agent API credential of their own.
 * @throws NodeError 400 if the host is not listed, or if the connection is not secure and the host
 * is not listed with `http://`
 */
export function checkAllowedHost(
	{ allowedHosts }: AgentSignatureCredential,
	{ allowUnauthorizedCerts }: AgentApiCredential,
	{ host, hostname, protocol }: URL,
): void {
	if (allowedHosts.length === 0) return;
	const isEncrypted = protocol === 'https:' || protocol === 'wss:';
	// A connection that stays on this machine needs no encryption.
	const isLoopback = /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);
	const isSecure = (isEncrypted && !allowUnauthorizedCerts) || isLoopback;
	for (const entry of allowedHosts.map(parseAllowedHost))
		if (entry.hostname === hostname && (isSecure || entry.allowsUnencrypted)) return;
	throw createRefusal(
		`The Agent Signature API credential is not allowed for ${host}`,
		`Nothing was sent. 'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}. The connection must be encrypted, with 'Ignore SSL Issues' off, unless the list has http:// before the host. Ask the owner of the credential to change the list, or use an Agent API credential for one of these hosts.`,
	);
}

/**
 * Parses an entry, and normalizes its host as in a URL (lower case, ASCII).
 * @throws NodeError 400 if the entry is not a host name
 */
export function parseAllowedHost(entry: string) {
	const [, scheme = '', name = ''] = /^((?:http|ws)s?:\/\/)?(.*?)\/?$/i.exec(entry) ?? [];
	const url = URL.canParse(`ws://${name}`) ? new URL(`ws://${name}`) : undefined;
	if (url === undefined || /[/?#@\s*]|:\d+$/.test(name))
		throw createRefusal(
			`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
			'Enter names such as agent.example.com or http://agent.example.com, without a port, separated by commas.',
		);
	/** `allowsUnencrypted`: neither encryption nor a valid certificate is required. */
	return { hostname: url.hostname, allowsUnencrypted: /^(?:http|ws):/i.test(scheme) };
}
