import { isFailure } from '../../core/failure';
import type { ConnectionEnvironment, ReadIdentity } from './connection';
import { channelBase, channelUrl } from './urls';
import { checkAddress, type EgressFilter, isOfPolicy, UnknownAddress } from './egress';
import type { Ending } from './closeReason';
import { redact, secretsOf } from './redaction';
import type { OpenSocket } from './transport';

/** What an attempt needs, created again for each. */
export interface Prepared {
	readonly openSocket: OpenSocket;
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** Host and port, to be shown. */
	readonly host: string;
	readonly secrets: readonly string[];
	readonly allowUnauthorizedCerts: boolean;
	readonly egress: EgressFilter | undefined;
}

/** Reads the credentials as they are now, and signs in with the time as it is now. */
export class Preparation {
	readonly #sessionId: string;
	readonly #readIdentity: ReadIdentity;
	readonly #loadSocket: ConnectionEnvironment['loadSocket'];
	#secrets: readonly string[] = [];

	constructor(
		sessionId: string,
		readIdentity: ReadIdentity,
		loadSocket: ConnectionEnvironment['loadSocket'],
	) {
		this.#sessionId = sessionId;
		this.#readIdentity = readIdentity;
		this.#loadSocket = loadSocket;
	}

	async make(): Promise<Prepared> {
		const openSocket = await this.#loadSocket();
		const { api, identity, egress } = await this.#readIdentity();
		const secrets = secretsOf(api, identity);
		this.#secrets = secrets;
		const { host } = channelBase(api);
		const url = channelUrl(api, this.#sessionId, identity);
		if (egress) await checkAddress(egress, url);
		return { openSocket, url, host, secrets, allowUnauthorizedCerts: api.allowUnauthorizedCerts, egress };
	}

	/** Why `make()` failed; our own failures hold no secrets. */
	explain(error: unknown): Extract<Ending, { kind: 'credentials' | 'blocked' | 'network' }> {
		if (error instanceof Error && isOfPolicy(error)) return { kind: 'blocked' };
		if (error instanceof UnknownAddress) {
			return { kind: 'network', code: error.code, message: redact(error.message, this.#secrets) };
		}
		const text = error instanceof Error ? error.message : String(error);
		// n8n's words for an expression with $env where N8N_BLOCK_ENV_ACCESS_IN_NODE forbids it.
		const isForbidden = text.includes('access to env vars denied');
		const message = isFailure(error) ? text : redact(text, this.#secrets);
		return { kind: 'credentials', message, isMistake: isFailure(error) || isForbidden };
	}
}
