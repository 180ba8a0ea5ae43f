import type { LookupFunction } from 'node:net';
import type { ICredentialDataDecryptedObject, NodeEgressFilter } from 'n8n-workflow';

import { refusal } from '../../core/errors';
import { type Clock, systemClock } from '../../core/runtime';
import { Sanitizer } from '../../core/sanitizer';
import { entriesOf } from '../../fields/values';

/** Values of one item that take the place of the credential's; empty means the credential's. */
export type IdentityOverrides = Readonly<Partial<Record<keyof Identity, unknown>>>;

/** Who calls, with the timestamp of this very call. */
export interface Identity {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

export type AgentApiCredential = ReturnType<typeof agentApiCredential>;

/** The `agentApi` credential, checked. @throws NodeError 400 without an API key */
export function agentApiCredential(raw: Readonly<Record<string, unknown>>) {
	const apiKey = text(raw.apiKey);
	if (apiKey === '') {
		throw refusal(
			'The Agent API credential has no API key',
			'Enter the API key from the team that operates your agent.',
		);
	}
	return {
		deploymentUrl: text(raw.deploymentUrl),
		webSocketUrl: text(raw.webSocketUrl),
		apiKey,
		/** Of the channel's timestamp; the execute call always sends milliseconds. */
		timestampUnit: raw.timestampUnit === 'milliseconds' ? ('milliseconds' as const) : ('seconds' as const),
		allowUnauthorizedCerts: raw.allowUnauthorizedCerts === true,
	};
}

type AgentSignatureCredential = ReturnType<typeof agentSignatureCredential>;

/** The `agentSignatureApi` credential; what is missing here may still come from the item. */
export function agentSignatureCredential(raw: Readonly<Record<string, unknown>>) {
	return {
		userId: text(raw.userId),
		userPublicKey: text(raw.userPublicKey),
		signature: text(raw.signature),
		/** `current`: the time of each call; `issued`: the timestamp that came with the signature. */
		timestampMode: raw.timestampMode === 'issued' ? ('issued' as const) : ('current' as const),
		/** As typed; milliseconds. */
		issuedTimestamp: raw.issuedTimestamp,
		/** Host names that it may be used for; empty: any. */
		allowedHosts: entriesOf(text(raw.allowedHosts)),
	};
}

/** The identity of one request or connection, with a fresh timestamp. @throws NodeError 400 for a missing value, or wrong timestamp */
export function identityOf(
	credential: AgentSignatureCredential,
	overrides: IdentityOverrides = {},
	nowMilliseconds: number = Date.now(),
): Identity {
	return {
		userId: present(overrides.userId, credential.userId, 'user ID'),
		userPublicKey: present(overrides.userPublicKey, credential.userPublicKey, 'user public key'),
		signature: present(overrides.signature, credential.signature, 'signature'),
		timestamp: timestampOf(credential, overrides, nowMilliseconds),
	};
}

const text = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

function present(override: unknown, fallback: string, name: string): string {
	const value = text(override) || fallback;
	if (value === '') {
		throw refusal(
			`The ${name} is missing`,
			`Enter the ${name} in the Agent Signature API credential or in the node's options.`,
		);
	}
	return value;
}

function timestampOf(
	credential: AgentSignatureCredential,
	overrides: IdentityOverrides,
	nowMilliseconds: number,
): number {
	if (text(overrides.timestamp) !== '') {
		return milliseconds(overrides.timestamp, "The option 'Timestamp (Milliseconds)'");
	}
	if (credential.timestampMode === 'current') return nowMilliseconds;
	return milliseconds(
		credential.issuedTimestamp,
		'The issued timestamp of the Agent Signature API credential',
		" If you received no timestamp with the signature, set 'Timestamp' to 'Current'.",
	);
}

/** 1973 as milliseconds; the present as seconds is far below. */
const leastMilliseconds = 1e11;
/** The year 5138; the present as microseconds is far above. */
const mostMilliseconds = 1e14;

function milliseconds(value: unknown, name: string, more = ''): number {
	const digits = text(value);
	const number = Number(digits);
	if (/^\d{1,20}$/.test(digits) && number >= leastMilliseconds && number < mostMilliseconds) return number;
	throw refusal(
		`${name} is not a time in milliseconds`,
		`Enter the milliseconds since 1970: 13 digits, such as 1767225600000. The node converts them to seconds for the channel.${more}`,
	);
}

export type Credentials = Awaited<ReturnType<typeof readCredentials>>;

export interface CredentialReader {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/** Both credentials as they are now. @throws n8n's error, NodeError 400 */
export async function readCredentials(context: CredentialReader) {
	return {
		api: agentApiCredential(await context.getCredentials('agentApi')),
		signer: agentSignatureCredential(await context.getCredentials('agentSignatureApi')),
	};
}

/** What must never appear in a text. */
export function secretsOf(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}

/** Takes the secrets out of a text. */
export type Redact = (text: string) => string;

/** More than any text is shown of. */
const maxLength = 16_384;

/** Takes the secrets out of texts that are cut, or a part of other ones, later on. */
export function redactorOf(secrets: readonly string[]): Redact {
	const sanitizer = new Sanitizer(secrets);
	return (text) => sanitizer.text(text, maxLength);
}

/** What n8n lets a socket of ours reach. */
export type EgressFilter = Pick<NodeEgressFilter, 'validateUrl' | 'validateConnectionHost'> & {
	createSecureLookup(): LookupFunction;
};

/** What an attempt to open a channel needs. */
export interface ConnectRequest {
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** The address without its query: safe to show. */
	readonly base: URL;
	readonly redact: Redact;
	readonly allowUnauthorizedCerts: boolean;
	/** What n8n lets sockets reach; undefined: anything. */
	readonly egress?: EgressFilter;
}

/** For each attempt anew: with the credentials and the time as they are now. @throws NodeError 400, n8n's error */
export type ReadRequest = (sessionId: string) => Promise<ConnectRequest>;

interface RequestContext extends CredentialReader {
	/** Before n8n 2.28 there is no policy for sockets. n8n's own requests follow it by themselves. */
	readonly helpers: { getSecureEgressFilter?(): EgressFilter };
}

/** After a refusal the next attempt is at least this much later, so that it reads the credentials again. */
const sharedMilliseconds = 1000;

/** Within a second, one reading of the credentials serves all: it costs n8n about 150 ms, and a hundred sessions may reconnect at once. */
export function requestReader(
	context: RequestContext,
	overrides: IdentityOverrides = {},
	clock: Pick<Clock, 'monotonicMilliseconds'> = systemClock,
): ReadRequest {
	let shared: { readonly begunAt: number; readonly reading: Promise<Credentials> } | undefined;
	return async (sessionId) => {
		const now = clock.monotonicMilliseconds();
		if (shared === undefined || now - shared.begunAt >= sharedMilliseconds) {
			shared = { begunAt: now, reading: readCredentials(context) };
		}
		const { api, signer } = await shared.reading;
		checkAllowedHost(signer, channelBase(api), !api.allowUnauthorizedCerts);
		const egress = context.helpers.getSecureEgressFilter?.();
		return connectRequest(sessionId, api, identityOf(signer, overrides), egress);
	};
}

export function connectRequest(
	sessionId: string,
	api: AgentApiCredential,
	identity: Identity,
	egress?: EgressFilter,
): ConnectRequest {
	return {
		url: channelUrl(api, sessionId, identity),
		base: channelBase(api),
		redact: redactorOf(secretsOf(api, identity)),
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		egress,
	};
}

/** Where the execute call goes: `{deploymentUrl}/execute`. @throws NodeError 400, without the URL in its text */
export function executeUrl(credential: Pick<AgentApiCredential, 'deploymentUrl'>): string {
	return at(base(credential.deploymentUrl, 'Deployment URL', ['http:', 'https:']), 'execute').href;
}

/**
 * Where a session's channel is opened: `{webSocketUrl}/ws?…`. It holds the API key and the signature: for the socket alone.
 * @throws NodeError 400, without the URL in its text
 */
export function channelUrl(credential: AgentApiCredential, sessionId: string, identity: Identity): string {
	const url = channelBase(credential);
	const query = new URLSearchParams({
		sessionId,
		userPublicKey: identity.userPublicKey,
		signature: identity.signature,
		timestamp: String(
			credential.timestampUnit === 'seconds' ? Math.floor(identity.timestamp / 1000) : identity.timestamp,
		),
		apiKey: credential.apiKey,
	});
	// A plus sign for a space is understood in forms only; a real plus sign is already %2B here.
	url.search = query.toString().replaceAll('+', '%20');
	return url.href;
}

/** The channel's address without its query: safe to show. @throws NodeError 400 */
export function channelBase(credential: Pick<AgentApiCredential, 'webSocketUrl'>): URL {
	const url = base(credential.webSocketUrl, 'WebSocket URL', ['ws:', 'wss:', 'http:', 'https:']);
	if (url.protocol === 'http:') url.protocol = 'ws:';
	if (url.protocol === 'https:') url.protocol = 'wss:';
	return at(url, 'ws');
}

function base(value: string, name: string, protocols: readonly string[]): URL {
	const schemes = new Intl.ListFormat('en-GB', { type: 'disjunction' });
	const how = `Enter a complete URL that starts with ${schemes.format(protocols.map((protocol) => `${protocol}//`))}.`;
	const field = `The ${name} of the Agent API credential`;
	if (value === '') throw refusal(`${field} is empty`, how);
	const url = URL.canParse(value) ? new URL(value) : undefined;
	if (url === undefined || !protocols.includes(url.protocol))
		throw refusal(`${field} is not a complete URL`, how);
	if (url.username !== '' || url.password !== '') {
		throw refusal(
			`${field} contains a user name or password`,
			'Remove the part before the @. The API key has its own field.',
		);
	}
	if (url.search !== '' || url.hash !== '') {
		throw refusal(`${field} contains a ? or #`, 'Remove the query. The node adds it.');
	}
	return url;
}

function at(url: URL, segment: string): URL {
	url.pathname = `${url.pathname.replace(/\/+$/, '')}/${segment}`;
	return url;
}

/**
 * Users who may use a signature credential but do not own it could enter their own server in an Agent API credential, or take the
 * encryption away. So the owner's list decides where the signature may be sent, and how.
 * @param isVerified whether the server's certificate is checked
 * @throws NodeError 400 for another host, and without encryption or a valid certificate where the owner did not write `http://`
 */
export function checkAllowedHost(signer: AgentSignatureCredential, url: URL, isVerified = true): void {
	const { allowedHosts } = signer;
	if (allowedHosts.length === 0) return;
	const entries = allowedHosts.map(allowedHostOf).filter((entry) => isOf(entry, url));
	if (entries.some(({ isPlain }) => isPlain || (isVerified && isEncrypted(url)) || isLoopback(url))) return;
	const list = `'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}.`;
	if (entries.length > 0) {
		throw refusal(
			`The Agent Signature API credential is not allowed for ${url.host} without a verified encrypted connection`,
			`Nothing was sent. ${list} Use https:// and wss:// in the Agent API credential with 'Ignore SSL Issues' off, or ask the owner of the credential to enter http://${url.host}.`,
		);
	}
	throw refusal(
		`The Agent Signature API credential is not allowed for ${url.host}`,
		`Nothing was sent. ${list} Ask the owner of the credential to add the host, or use an Agent API credential for one of these hosts.`,
	);
}

/** @throws NodeError 400 for what is no host name */
export function checkHostNames({ allowedHosts }: AgentSignatureCredential): void {
	allowedHosts.forEach(allowedHostOf);
}

/** Parsed as an address, so that upper case and letters beyond ASCII are written as in a URL. @throws NodeError 400 */
function allowedHostOf(entry: string) {
	const [, scheme = '', name = ''] = /^((?:http|ws)s?:\/\/)?(.*?)\/?$/i.exec(entry) ?? [];
	const isBelow = name.startsWith('*.');
	const address = isBelow ? name.slice(2) : name;
	const [, port = ''] = /:(\d+)$/.exec(name) ?? [];
	if (!/[/?#@\s*]/.test(address) && URL.canParse(`ws://${address}`)) {
		const host = withoutFinalDot(new URL(`ws://${address}`).hostname);
		return {
			/** Written with `http://`: neither encryption nor a valid certificate is asked for. */
			isPlain: /^(?:http|ws):/i.test(scheme),
			isBelow,
			host,
			/** Empty: any. */
			port,
		};
	}
	throw refusal(
		`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
		'Enter names such as agent.example.com, agent.example.com:3010, *.example.com or http://agent.example.com, separated by commas.',
	);
}

function isOf({ isBelow, host, port }: ReturnType<typeof allowedHostOf>, url: URL): boolean {
	const hostname = withoutFinalDot(url.hostname);
	const isHost = isBelow ? hostname.endsWith(`.${host}`) : hostname === host;
	return isHost && ['', url.port || (isEncrypted(url) ? '443' : '80')].includes(port);
}

const isEncrypted = ({ protocol }: URL) => protocol === 'https:' || protocol === 'wss:';

/** What stays on this machine needs no encryption. */
const isLoopback = ({ hostname }: URL) => /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);

const withoutFinalDot = (name: string) => name.replace(/\.$/, '');
