import { type Clock, systemClock } from '../../core/runtime';
import { isNodeError } from '../../core/errors';
import type { CloseReason } from './closeReason';
import {
	type AgentApiCredential,
	type CredentialReader,
	type Credentials,
	type Identity,
	identityOf,
	type IdentityOverrides,
	readCredentials,
	redactorOf,
	secretsOf,
} from './credentials';
import { checkAddress, type EgressFilter, egressFilterOf, isOfPolicy, UnknownAddress } from './egress';
import { channelBase, channelUrl, checkAllowedHost } from './urls';
import type { OpenSocket } from './webSocket';

/** Read again before every attempt: `getCredentials` of both types, then `identityOf` with the time of the attempt. */
export type ReadIdentity = () => Promise<{
	readonly api: AgentApiCredential;
	readonly identity: Identity;
	/** What n8n lets sockets reach; undefined: anything. */
	readonly egress?: EgressFilter;
}>;

interface IdentityContext extends CredentialReader {
	readonly helpers: Parameters<typeof egressFilterOf>[0];
}

/** After a refusal the next attempt is at least this much later, so that it reads the credentials again. */
const sharedMilliseconds = 1000;

/**
 * Reads both credentials and signs in with the time as it is now; n8n's policy goes with them. What is asked for within a second shares
 * one reading: n8n spends about 150 ms of processor time on it with its default expression engine, and a hundred sessions may reconnect
 * at once.
 */
export function identityReader(
	context: IdentityContext,
	overrides: IdentityOverrides = {},
	clock: Pick<Clock, 'monotonicMilliseconds'> = systemClock,
): ReadIdentity {
	let shared: { readonly begunAt: number; readonly reading: Promise<Credentials> } | undefined;
	return async () => {
		const now = clock.monotonicMilliseconds();
		if (shared === undefined || now - shared.begunAt >= sharedMilliseconds) {
			shared = { begunAt: now, reading: readCredentials(context) };
		}
		const { api, signer } = await shared.reading;
		checkAllowedHost(signer, channelBase(api), !api.allowUnauthorizedCerts);
		return { api, identity: identityOf(signer, overrides), egress: egressFilterOf(context.helpers) };
	};
}

/** What an attempt to open a channel needs, created again for each. */
export interface ConnectRequest {
	readonly openSocket: OpenSocket;
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** Host and port, to be shown. */
	readonly host: string;
	readonly redact: (text: string) => string;
	readonly allowUnauthorizedCerts: boolean;
	readonly egress: EgressFilter | undefined;
}

/** Reads the credentials as they are now, and signs in with the time as it is now. */
export class ConnectRequests {
	readonly #sessionId: string;
	readonly #readIdentity: ReadIdentity;
	readonly #loadSocket: () => Promise<OpenSocket>;
	#redact = redactorOf([]);

	constructor(sessionId: string, readIdentity: ReadIdentity, loadSocket: () => Promise<OpenSocket>) {
		this.#sessionId = sessionId;
		this.#readIdentity = readIdentity;
		this.#loadSocket = loadSocket;
	}

	async next(): Promise<ConnectRequest> {
		const openSocket = await this.#loadSocket();
		const { api, identity, egress } = await this.#readIdentity();
		const redact = redactorOf(secretsOf(api, identity));
		this.#redact = redact;
		const { host } = channelBase(api);
		const url = channelUrl(api, this.#sessionId, identity);
		if (egress) await checkAddress(egress, url);
		return { openSocket, url, host, redact, allowUnauthorizedCerts: api.allowUnauthorizedCerts, egress };
	}

	/** Why `next()` failed; our own failures hold no secrets. */
	explain(error: unknown): Extract<CloseReason, { kind: 'credentials' | 'blocked' | 'network' }> {
		if (error instanceof Error && isOfPolicy(error)) return { kind: 'blocked' };
		if (error instanceof UnknownAddress) {
			return { kind: 'network', code: error.code, message: this.#redact(error.message) };
		}
		const text = error instanceof Error ? error.message : String(error);
		// n8n's words for an expression with $env where N8N_BLOCK_ENV_ACCESS_IN_NODE forbids it.
		const isForbidden = text.includes('access to env vars denied');
		const message = isNodeError(error) ? text : this.#redact(text);
		return { kind: 'credentials', message, isMistake: isNodeError(error) || isForbidden };
	}
}
