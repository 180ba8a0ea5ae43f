import { createRefusal } from '../../core/errors';
import type { AgentApiCredential, Identity } from './credentials';

/** Builds `{deploymentUrl}/execute`. @throws NodeError 400 if the URL is not valid; its text does not contain the URL */
export function buildExecuteUrl(credential: Pick<AgentApiCredential, 'deploymentUrl'>): string {
	const url = parseBaseUrl(credential.deploymentUrl, 'Deployment URL', ['http:', 'https:']);
	return appendPathSegment(url, 'execute').href;
}

/**
 * Builds `{webSocketUrl}/ws?…`, with the API key and the signature in the query. Only the socket may get this URL.
 * @throws NodeError 400 if the URL is not valid; its text does not contain the URL
 */
export function buildChannelUrl(
	api: AgentApiCredential,
	sessionId: string,
	identity: Identity,
): string {
	const url = buildChannelBaseUrl(api);
	const { userPublicKey, signature, timestamp: milliseconds } = identity;
	const timestamp = `${api.timestampUnit === 'seconds' ? Math.floor(milliseconds / 1000) : milliseconds}`;
	const query = new URLSearchParams({
		sessionId,
		userPublicKey,
		signature,
		timestamp,
		apiKey: api.apiKey,
	});
	// URLSearchParams writes a space as a plus sign, which only HTML forms use. A plus sign in a value is already %2B here.
	url.search = query.toString().replaceAll('+', '%20');
	return url.href;
}

/** Builds the channel's URL without its query. It may be shown. @throws NodeError 400 if the URL is not valid */
export function buildChannelBaseUrl(credential: Pick<AgentApiCredential, 'webSocketUrl'>): URL {
	const url = parseBaseUrl(credential.webSocketUrl, 'WebSocket URL', [
		'ws:',
		'wss:',
		'http:',
		'https:',
	]);
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
