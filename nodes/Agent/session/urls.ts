import { refusal } from '../../core/failure';
import type { AgentApiCredential, Identity } from './identity';

/**
 * Where the execute call goes: `{deploymentUrl}/execute`.
 * @throws Failure 400, without the URL in its text
 */
export function executeUrl(credential: Pick<AgentApiCredential, 'deploymentUrl'>): string {
	return at(base(credential.deploymentUrl, 'Deployment URL', ['http:', 'https:']), 'execute').href;
}

/**
 * Where the channel of a session is opened: `{webSocketUrl}/ws?…`. The result holds the API key and the signature: it goes
 * to the socket and nowhere else.
 * @throws Failure 400, without the URL in its text
 */
export function channelUrl(credential: AgentApiCredential, sessionId: string, identity: Identity): string {
	if (sessionId === '') throw refusal('The session ID is empty', 'Enter the ID of the session to listen to.');
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

/** The channel's address without its query: safe to show. @throws Failure 400 */
export function channelBase(credential: Pick<AgentApiCredential, 'webSocketUrl'>): URL {
	const url = base(credential.webSocketUrl, 'WebSocket URL', ['ws:', 'wss:', 'http:', 'https:']);
	if (url.protocol === 'http:') url.protocol = 'ws:';
	if (url.protocol === 'https:') url.protocol = 'wss:';
	return at(url, 'ws');
}

function base(value: string, name: string, protocols: readonly string[]): URL {
	const schemes = protocols
		.map((protocol) => `${protocol}//`)
		.join(', ')
		.replace(/, (?=[^,]*$)/, ' or ');
	const how = `Enter a complete URL that starts with ${schemes}.`;
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
