import type { LookupFunction } from 'node:net';
import type { NodeEgressFilter } from 'n8n-workflow';

import { shareReadings } from '../../core/clock';
import { Sanitizer } from '../../core/sanitizer';
import * as credentials from './credentials';

/** The part of n8n's egress policy that checks the addresses of sockets. */
export type EgressFilter = Pick<NodeEgressFilter, 'validateUrl'> &
	// n8n 2.38 and older cannot check the host of a proxy.
	Partial<Pick<NodeEgressFilter, 'validateConnectionHost'>> & {
		createSecureLookup(): LookupFunction;
	};

export type ConnectRequest = Readonly<ReturnType<typeof buildConnectRequest>>;

/**
 * Builds the request of one attempt.
 * @throws like `readCredentials` and `buildIdentity`
 */
export type ConnectRequestReader = (sessionId: string) => Promise<ConnectRequest>;

interface ConnectRequestContext extends credentials.CredentialContext {
	/**
	 * Missing before n8n 2.28. Only sockets need the filter, because n8n's HTTP helpers follow the
	 * egress policy themselves.
	 */
	readonly helpers: { getSecureEgressFilter?(): EgressFilter };
}

/**
 * The reader reads the credentials at most once a second. A reading takes n8n about 150 ms, and 100
 * sessions may reconnect at once.
 */
export function createConnectRequestReader(
	context: ConnectRequestContext,
	override?: credentials.Identity,
	itemIndex?: number,
): ConnectRequestReader {
	const read = shareReadings(() => credentials.readCredentials(context, itemIndex));
	return async (sessionId) => {
		const { api, signatureApi } = await read();
		const identity = credentials.buildIdentity(signatureApi, override);
		const request = buildConnectRequest(
			sessionId,
			api,
			identity,
			context.helpers.getSecureEgressFilter?.(),
		);
		credentials.checkAllowedHost(signatureApi, api, request.baseUrl);
		return request;
	};
}

/**
 * Builds what one attempt to open a channel needs.
 * @param egress n8n's egress filter; undefined means that any address may be reached
 */
export function buildConnectRequest(
	sessionId: string,
	api: credentials.AgentApiCredential,
	identity: credentials.Identity,
	egress?: EgressFilter,
) {
	return {
		/** Contains secrets and must not appear in any text. */
		url: credentials.buildChannelUrl(api, sessionId, identity),
		/** The URL without its query, which may be shown. */
		baseUrl: credentials.buildChannelBaseUrl(api),
		sanitizer: new Sanitizer(credentials.listSecrets(api, identity)),
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		egress,
	};
}
