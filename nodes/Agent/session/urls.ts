import { refusal } from '../../core/errors';
import type { AgentApiCredential, AgentSignatureCredential, Identity } from './credentials';

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

/**
 * Users who may use a signature credential but do not own it could enter their own server in an Agent API credential. So the owner's
 * list decides where the signature may be sent.
 * @throws Failure 400 for another host
 */
export function checkAllowedHost({ allowedHosts }: AgentSignatureCredential, url: URL): void {
	if (allowedHosts.length === 0) return;
	const patterns = allowedHosts.map(patternOf);
	const hostname = withoutFinalDot(url.hostname);
	const isAllowed = patterns.some(({ isBelow, host, port }) => {
		const isHost = isBelow ? hostname.endsWith(`.${host}`) : hostname === host;
		return isHost && (port === '' || port === portOf(url));
	});
	if (isAllowed) return;
	throw refusal(
		`The Agent Signature API credential is not allowed for ${url.host}`,
		`Nothing was sent. 'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}. Ask the owner of the credential to add the host, or use an Agent API credential for one of these hosts.`,
	);
}

/** @throws Failure 400 for what is no host name */
export function checkHostNames({ allowedHosts }: AgentSignatureCredential): void {
	allowedHosts.forEach(patternOf);
}

interface Pattern {
	readonly isBelow: boolean;
	readonly host: string;
	/** Empty: any. */
	readonly port: string;
}

/** Parsed as an address, so that upper case and letters beyond ASCII are written as in a URL. @throws Failure 400 */
function patternOf(entry: string): Pattern {
	const isBelow = entry.startsWith('*.');
	const address = `ws://${isBelow ? entry.slice(2) : entry}`;
	const [, port = ''] = /:(\d+)$/.exec(entry) ?? [];
	if (!/[/?#@\s*]/.test(address.slice('ws://'.length)) && URL.canParse(address)) {
		return { isBelow, host: withoutFinalDot(new URL(address).hostname), port };
	}
	throw refusal(
		`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
		'Enter names such as agent.example.com, agent.example.com:3010 or *.example.com, separated by commas.',
	);
}

const withoutFinalDot = (name: string) => name.replace(/\.$/, '');

function portOf({ port, protocol }: URL): string {
	if (port !== '') return port;
	return protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
}
