import { isFailure } from '../../items/failure';
import type { ConnectionEnvironment, ReadIdentity } from './connection';
import { channelBase, channelUrl } from './addresses';
import { redact, secretsOf } from './redaction';
import type { OpenSocket } from './transport';

/** What an attempt needs, made anew for each. */
export interface Prepared {
	readonly openSocket: OpenSocket;
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** Host and port, to be shown. */
	readonly host: string;
	readonly secrets: readonly string[];
	readonly allowUnauthorizedCerts: boolean;
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
		const { api, identity } = await this.#readIdentity();
		const secrets = secretsOf(api, identity);
		this.#secrets = secrets;
		const { host } = channelBase(api);
		const url = channelUrl(api, this.#sessionId, identity);
		return { openSocket, url, host, secrets, allowUnauthorizedCerts: api.allowUnauthorizedCerts };
	}

	/** Why `make()` failed; our own failures hold no secrets. */
	explain(error: unknown): string {
		const text = error instanceof Error ? error.message : String(error);
		return isFailure(error) ? text : redact(text, this.#secrets);
	}
}
