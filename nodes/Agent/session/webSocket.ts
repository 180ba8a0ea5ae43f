import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import WebSocket from 'ws';

import { toError } from '../../core/errors';
import { invalidUpgradeCode, maxMessageMebibytes, type UpgradeResponse } from './closeReason';
import type { ConnectRequest, EgressFilter } from './connectRequest';

/**
 * Creates an HTTP agent for the proxy that n8n would use for the address. @returns undefined for a direct connection
 * @param signal ends the connection to the proxy. The WebSocket cannot do this before the proxy has responded
 * @throws Error if the proxy's address is not valid; n8n's error if its egress policy forbids the proxy
 */
function createProxyAgent({ url, egress }: SocketRequest, signal: AbortSignal) {
	const proxy = findProxy(url);
	if (proxy === undefined) return undefined;
	const host = proxy.hostname.replace(/^\[|\]$/g, '');
	const permission = egress?.validateConnectionHost(host);
	if (permission?.ok === false) throw permission.error;
	const lookup = egress?.createSecureLookup();
	if (proxy.protocol === 'http:') return new HttpsProxyAgent(proxy, { signal, lookup });
	// tls.connect() ignores a signal, so the TLS connection uses a socket that obeys the signal.
	const socket = connect({ host, port: Number(proxy.port || 443), signal, lookup });
	return new HttpsProxyAgent(proxy, { socket });
}

/** Finds the proxy in the variables that n8n uses for HTTP, such as HTTPS_PROXY and NO_PROXY. @throws Error if its address is not valid */
export function findProxy(url: string): URL | undefined {
	const address = getProxyForUrl(url.replace(/^ws/, 'http'));
	if (address === '') return undefined;
	const proxy = URL.canParse(address) ? new URL(address) : undefined;
	if (proxy !== undefined && ['http:', 'https:'].includes(proxy.protocol)) return proxy;
	throw new Error('The proxy environment variable does not contain an http: or https: address');
}

const maxUpgradeBodyBytes = 2048;
const upgradeBodyTimeoutMilliseconds = 1000;

/** Reads at most 2 KiB of the body, for at most a second. @returns a function that stops reading without calling `onRead` */
function readUpgradeResponse(
	response: IncomingMessage,
	onRead: SocketListener['onUnexpectedResponse'],
) {
	const { statusCode = 0, headers } = response;
	let body = Buffer.alloc(0);
	let isOver = false;
	const stop = () => {
		isOver = true;
		clearTimeout(timer);
	};
	const finish = () => {
		if (isOver) return;
		stop();
		onRead({
			statusCode,
			retryAfter: headers['retry-after'],
			date: headers.date,
			location: headers.location,
			contentType: headers['content-type'],
			body: body.toString('utf8', 0, maxUpgradeBodyBytes),
		});
	};
	const timer = setTimeout(finish, upgradeBodyTimeoutMilliseconds);
	response.on('data', (chunk: Buffer) => {
		body = Buffer.concat([body, chunk]);
		if (body.length >= maxUpgradeBodyBytes) finish();
	});
	for (const event of ['end', 'error', 'close']) response.on(event, finish);
	return stop;
}

/** Opens a socket of the `ws` library. Reports every error to the listener, even an invalid address. */
export const openSocket: SocketOpener = (request, listener) => {
	// Must run before the first request. `classifyNetworkError` then knows whether an error came before or after TLS was established.
	const tunnelController = new AbortController();
	try {
		const agent = createProxyAgent(request, tunnelController.signal);
		// Without an agent, the library connects directly and does not use the global agents that n8n installs.
		const socket = new WebSocket(request.url, { ...buildSocketOptions(request), agent });
		let fromProxy = false;
		// A proxy that refuses the tunnel responds itself.
		agent?.on('proxyConnect', ({ statusCode }) => {
			fromProxy = statusCode !== 200;
		});
		const onUnexpectedResponse = (response: UpgradeResponse) => {
			listener.onUnexpectedResponse({ ...response, fromProxy });
		};
		attachListener(socket, { ...listener, onUnexpectedResponse }, tunnelController);
		return socket;
	} catch (error) {
		tunnelController.abort();
		// The listener is called later, because the caller does not have the socket yet.
		queueMicrotask(() => {
			listener.onError(toError(error));
			listener.onClose(1006, '');
		});
		return failedSocket;
	}
};

function buildSocketOptions(request: SocketRequest) {
	return {
		// By default, the library waits 30 s after a close frame before it reports the close.
		closeTimeout: 3000,
		followRedirects: false,
		maxPayload: maxMessageMebibytes * 1024 * 1024,
		perMessageDeflate: false,
		skipUTF8Validation: false,
		// Checks the address again when the socket connects, because the host name may then resolve to a different address.
		...(request.egress && { lookup: request.egress.createSecureLookup() }),
		// If invalid certificates are not allowed, the option stays unset, so that NODE_TLS_REJECT_UNAUTHORIZED applies.
		...(request.allowUnauthorizedCerts && { rejectUnauthorized: false }),
	};
}

/** Adds the listeners. An exception in a listener ends the socket. Otherwise, the socket would stay open without further events. */
function attachListener(
	socket: WebSocket,
	listener: SocketListener,
	tunnelController: AbortController,
) {
	let stopReading = () => {};
	const addListener = (event: string, handleEvent: (...values: never[]) => void) => {
		const callGuarded = (...values: never[]) => {
			try {
				handleEvent(...values);
			} catch (error) {
				socket.terminate();
				listener.onError(toError(error));
			}
		};
		// `ws` declares one type for the listeners of all events.
		socket.on(event, callGuarded as (...values: unknown[]) => void);
	};
	let hasUpgraded = false;
	let wasOpen = false;
	addListener('upgrade', () => (hasUpgraded = true));
	addListener('open', () => {
		wasOpen = true;
		listener.onOpen();
	});
	addListener('message', listener.onFrame);
	for (const kind of ['ping', 'pong'] as const)
		addListener(kind, () => {
			listener.onControlFrame(kind);
		});
	addListener('error', (error: Error) => {
		const isInvalidUpgrade = hasUpgraded && !wasOpen;
		if (isInvalidUpgrade) Object.assign(error, { code: invalidUpgradeCode });
		listener.onError(error);
	});
	// If this event has a listener, the library does not end the socket itself. The `close` event comes only after terminate().
	addListener('unexpected-response', (_request: unknown, response: IncomingMessage) => {
		stopReading = readUpgradeResponse(response, (upgradeResponse) => {
			listener.onUnexpectedResponse(upgradeResponse);
			socket.terminate();
		});
	});
	addListener('close', (code: number, reason: Buffer) => {
		stopReading();
		tunnelController.abort();
		listener.onClose(code, reason.toString('utf8'));
	});
}

/** Returned if no socket could be created. */
const failedSocket: ChannelSocket = {
	readyState: 3,
	send() {},
	ping() {},
	pause() {},
	resume() {},
	close() {},
	terminate() {},
};

export interface SocketRequest extends Pick<ConnectRequest, 'url' | 'allowUnauthorizedCerts'> {
	readonly egress?: EgressFilter;
}

/** The events of one socket. `onClose` is called exactly once and last. */
export interface SocketListener {
	readonly onOpen: () => void;
	readonly onFrame: (data: Buffer, isBinary: boolean) => void;
	readonly onControlFrame: (kind: 'ping' | 'pong') => void;
	readonly onUnexpectedResponse: (response: UpgradeResponse) => void;
	/** Reports the cause of a close. `onClose` is called next. */
	readonly onError: (error: Error) => void;
	/** The code is 1005 if the close frame had no code, and 1006 if there was no close frame. */
	readonly onClose: (code: number, reason: string) => void;
}

/** What a channel uses of a socket. Once the socket was open, no method throws. `terminate` never throws. */
export type ChannelSocket = Pick<
	WebSocket,
	'readyState' | 'send' | 'ping' | 'pause' | 'resume' | 'close' | 'terminate'
>;

export type SocketOpener = (request: SocketRequest, listener: SocketListener) => ChannelSocket;
