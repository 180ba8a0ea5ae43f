import type { IncomingMessage } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import WebSocket from 'ws';

import type { Sanitizer } from '../../core/sanitizer';
import { readBodyStart } from '../../http/body';
import { parseRetryAfter } from '../../http/loop';
import { type CloseReason, convertNetworkError, maxMessageMebibytes } from './closeReason';
import type { ConnectRequest } from './connectRequest';

export type SocketRequest = Omit<ConnectRequest, 'baseUrl'>;

/** The events of one socket. `onClose` is called exactly once and last. */
export interface SocketListener {
	readonly onOpen: () => void;
	readonly onFrame: (data: Buffer, isBinary: boolean) => void;
	readonly onControlFrame: (kind: 'ping' | 'pong') => void;
	readonly onClose: (closeReason: CloseReason) => void;
}

/**
 * What a connection uses of a socket. Once the socket was open, no method throws. `terminate` never
 * throws.
 */
export type ChannelSocket = Pick<
	WebSocket,
	'readyState' | 'send' | 'ping' | 'pause' | 'resume' | 'close' | 'terminate'
>;

/** @throws Error if the address of the proxy is not valid, or n8n's egress policy forbids it */
export type SocketOpener = (request: SocketRequest, listener: SocketListener) => ChannelSocket;

/** Opens a socket of the `ws` library. */
export const openSocket: SocketOpener = (request, listener) => {
	const { sanitizer } = request;
	const tunnelController = new AbortController();
	// Without an agent, the library connects directly and does not use the global agents that n8n
	// installs.
	const agent = createProxyAgent(request, tunnelController.signal);
	const socket = new WebSocket(request.url, { ...buildSocketOptions(request), agent });
	/** Why the socket closes without a close frame. */
	let cause: CloseReason | undefined;
	socket.on('open', listener.onOpen);
	socket.on('message', listener.onFrame);
	for (const kind of ['ping', 'pong'] as const)
		socket.on(kind, () => {
			listener.onControlFrame(kind);
		});
	socket.on('error', (error) => {
		cause ??= convertNetworkError(error, sanitizer);
	});
	// If this event has a listener, the library does not end the socket itself. The `close` event
	// comes only after terminate().
	socket.on('unexpected-response', (_request, response) => {
		void readUpgradeResponse(response, sanitizer).then((upgradeResponse) => {
			cause = { kind: 'response', response: upgradeResponse };
			socket.terminate();
		});
	});
	socket.on('close', (code, reason) => {
		tunnelController.abort();
		// 1006: there was no close frame. If there was one, a network error, such as a ping that
		// could not be sent, only follows from it.
		if (code !== 1006 && (cause === undefined || cause.kind === 'network'))
			cause = { kind: 'closeFrame', code, reason: sanitizer.sanitizeText(reason.toString()) };
		listener.onClose(cause ?? { kind: 'dropped' });
	});
	return socket;
};

/**
 * Creates an HTTP agent for the proxy that n8n would use for the address.
 * @returns undefined for a direct connection
 * @param signal ends the connection to the proxy. The WebSocket cannot do this before the proxy has
 * responded
 * @throws Error if the proxy's address is not valid; n8n's error if its egress policy forbids the
 * proxy
 */
function createProxyAgent({ url, egress }: SocketRequest, signal: AbortSignal) {
	const proxy = findProxy(url);
	if (proxy === undefined) return undefined;
	const host = proxy.hostname.replace(/^\[|\]$/g, '');
	const permission = egress?.validateConnectionHost?.(host);
	if (permission?.ok === false) throw permission.error;
	return new HttpsProxyAgent(proxy, { signal, lookup: egress?.createSecureLookup() });
}

/**
 * Finds the proxy in the variables that n8n uses for HTTP, such as HTTPS_PROXY and NO_PROXY.
 * @throws Error if its address is not valid
 */
export function findProxy(url: string): URL | undefined {
	const address = getProxyForUrl(url.replace(/^ws/, 'http'));
	if (address === '') return undefined;
	if (/^https?:/.test(address) && URL.canParse(address)) return new URL(address);
	throw new Error('The proxy environment variable does not contain an http: or https: address');
}

function buildSocketOptions({ egress, allowUnauthorizedCerts }: SocketRequest) {
	const options = {
		// By default, the library waits 30 s after a close frame before it reports the close.
		closeTimeout: 3000,
		followRedirects: false,
		maxPayload: maxMessageMebibytes * 1024 * 1024,
		perMessageDeflate: false,
		// Checks the address again when the socket connects, because the host name may then resolve
		// to a different address.
		lookup: egress?.createSecureLookup(),
	};
	// If invalid certificates are not allowed, the option stays unset, so that
	// NODE_TLS_REJECT_UNAUTHORIZED applies.
	return allowUnauthorizedCerts ? { ...options, rejectUnauthorized: false } : options;
}

const maxUpgradeBodyBytes = 2048;

/** Reads the beginning of the body. */
async function readUpgradeResponse(response: IncomingMessage, sanitizer: Sanitizer) {
	const { statusCode = 0, headers } = response;
	const retryAfterMilliseconds = parseRetryAfter(headers['retry-after']);
	const bytes = await readBodyStart(response);
	const body = sanitizer.sanitizeText(bytes.toString('utf8', 0, maxUpgradeBodyBytes));
	return { statusCode, retryAfterMilliseconds, body };
}
