import { createRefusal } from '../../core/errors';
import type { AgentApiCredential, Identity } from './credentials';

/**
 * Builds `{deploymentUrl}/execute`.
 * @throws NodeError 400 if the URL is not valid; its text does not contain the URL
 */
export function buildExecuteUrl(credential: Pick<AgentApiCredential, 'deploymentUrl'>): string {
	const url = parseBaseUrl(credential.deploymentUrl, 'Deployment URL', ['https', 'http']);
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
export function buildChannelBaseUrl(credential: Pick<AgentApiCredential, 'webSocketUrl'>): URL {
	const schemes = ['wss', 'ws', 'https', 'http'];
	const url = parseBaseUrl(credential.webSocketUrl, 'WebSocket URL', schemes);
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
