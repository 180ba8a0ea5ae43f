import type { LookupFunction } from 'node:net';
import type { NodeEgressFilter } from 'n8n-workflow';

import { asError } from '../../core/errors';
import { type Clock, systemClock } from '../../core/runtime';
import { type CloseReason, notConnected } from './closeReason';
import {
	type AgentApiCredential,
	channelBase,
	channelUrl,
	checkAllowedHost,
	type CredentialReader,
	type Credentials,
	type Identity,
	identityOf,
	type IdentityOverrides,
	readCredentials,
	type Redact,
	redactorOf,
	secretsOf,
} from './credentials';

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

/**
 * What is asked for within a second shares one reading of the credentials: n8n spends about 150 ms of processor time on it with its
 * default expression engine, and a hundred sessions may reconnect at once.
 */
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

/**
 * Why the address may not be reached: n8n's policy forbids it, or what its name stands for. A name that is not found cannot be checked:
 * n8n sends no request then either, through a proxy or not.
 */
export async function refusedByPolicy({
	base,
	egress,
	redact,
}: ConnectRequest): Promise<CloseReason | undefined> {
	// Without the query: n8n need not see the secrets.
	const result = await egress
		?.validateUrl(base.href)
		.catch((error: unknown) => ({ ok: false as const, error: asError(error) }));
	return result?.ok === false ? notConnected(result.error, redact) : undefined;
}
