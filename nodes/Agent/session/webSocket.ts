import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import WebSocket from 'ws';

import { toError } from '../../core/errors';
import { observeHttpClient } from '../../http/httpObserver';
import type { UpgradeResponse } from './closeReason';
import type { ConnectRequest, EgressFilter } from './credentials';

/**
 * Creates an agent for the proxy that n8n would use for the address: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, in capitals or not.
 * @param signal ends the connection to the proxy, which the WebSocket does not know until the proxy has responded
 * @returns undefined for a direct connection
 * @throws Error without the proxy's address if the variable does not contain a valid one; n8n's error if its egress policy forbids it
 */
function createProxyAgent({ url, egress }: SocketRequest, signal: AbortSignal) {
	const proxy = findProxy(url);
	if (proxy === undefined) return undefined;
	const host = proxy.hostname.replace(/^\[|\]$/g, '');
	const permission = egress?.validateConnectionHost(host);
	if (permission?.ok === false) throw permission.error;
	const lookup = egress?.createSecureLookup();
	if (proxy.protocol === 'http:') return new HttpsProxyAgent(proxy, { signal, lookup });
	// tls.connect() ignores a signal, so it gets a socket that has one.
	const socket = connect({ host, port: Number(proxy.port || 443), signal, lookup });
	return new HttpsProxyAgent(proxy, { socket });
}

/** Looks up an http: address, because the variables are named after http and https. @throws Error if the variable is not a valid address */
export function findProxy(url: string): URL | undefined {
	const address = getProxyForUrl(url.replace(/^ws/, 'http'));
	if (address === '') return undefined;
	const proxy = URL.canParse(address) ? new URL(address) : undefined;
	if (proxy !== undefined && ['http:', 'https:'].includes(proxy.protocol)) return proxy;
	throw new Error('The proxy environment variable does not contain an http: or https: address');
}

const maxUpgradeBodyBytes = 2048;
const upgradeBodyTimeoutMilliseconds = 1000;

/** Reads at most 2 KiB of the body, for at most a second. @returns stops reading without calling `done` */
function readUpgradeResponse(response: IncomingMessage, done: (answer: UpgradeResponse) => void): () => void {
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
		done({
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

/** Opens a socket of the `ws` library. Every error, even an invalid address, is reported to the listener. */
export const openSocket: SocketOpener = (request, listener) => {
	observeHttpClient();
	const proxyTunnel = new AbortController();
	try {
		const agent = createProxyAgent(request, proxyTunnel.signal);
		// Without an agent, the library connects by itself and does not use the global agents that n8n installs.
		const socket = new WebSocket(request.url, { ...buildSocketOptions(request), agent });
		let fromProxy = false;
		agent?.on('proxyConnect', ({ statusCode }) => {
			fromProxy = statusCode !== 200;
		});
		const onUnexpectedResponse = (answer: UpgradeResponse) => {
			listener.onUnexpectedResponse({ ...answer, fromProxy });
		};
		attachListener(socket, { ...listener, onUnexpectedResponse }, proxyTunnel);
		return socket;
	} catch (error) {
		proxyTunnel.abort();
		queueMicrotask(() => {
			listener.onError(toError(error));
			listener.onClose(1006, '');
		});
		return failedSocket;
	}
};

function buildSocketOptions(request: SocketRequest) {
	return {
		// By default, the library waits 30 s after a close frame before it reports the end.
		closeTimeout: 3000,
		followRedirects: false,
		maxPayload: request.maxMessageBytes,
		perMessageDeflate: false,
		skipUTF8Validation: false,
		// Checks the address that is finally connected to, because a name may resolve to another one than before.
		...(request.egress && { lookup: request.egress.createSecureLookup() }),
		// The option is not set otherwise, so that NODE_TLS_REJECT_UNAUTHORIZED still applies.
		...(request.allowUnauthorizedCerts && { rejectUnauthorized: false }),
	};
}

/** Guards every listener, because an exception in one would leave the socket open without further events. */
function attachListener(socket: WebSocket, listener: SocketListener, tunnel: AbortController): void {
	let stopReading = () => {};
	const on = (event: string, listen: (...values: never[]) => void) => {
		const callGuarded = (...values: never[]) => {
			try {
				listen(...values);
			} catch (error) {
				socket.terminate();
				listener.onError(toError(error));
			}
		};
		// `ws` declares one type for the listeners of all events.
		socket.on(event, callGuarded as (...values: unknown[]) => void);
	};
	on('open', listener.onOpen);
	on('message', listener.onMessage);
	for (const kind of ['ping', 'pong'] as const) {
		on(kind, () => {
			listener.onControlFrame(kind);
		});
	}
	on('error', listener.onError);
	// With a listener for this event, the library does not end the socket itself: `close` comes only after terminate().
	on('unexpected-response', (_request: unknown, response: IncomingMessage) => {
		stopReading = readUpgradeResponse(response, (answer) => {
			listener.onUnexpectedResponse(answer);
			socket.terminate();
		});
	});
	on('close', (code: number, reason: Buffer) => {
		stopReading();
		tunnel.abort();
		listener.onClose(code, reason.toString('utf8'));
	});
}

const failedSocket: ChannelSocket = {
	send() {},
	ping() {},
	pause() {},
	resume() {},
	close() {},
	terminate() {},
};

export interface SocketRequest extends Pick<ConnectRequest, 'url' | 'allowUnauthorizedCerts'> {
	readonly egress?: EgressFilter;
	readonly maxMessageBytes: number;
}

/** The events of one socket. `onClose` is called exactly once and last. */
export interface SocketListener {
	readonly onOpen: () => void;
	readonly onMessage: (data: Buffer, isBinary: boolean) => void;
	readonly onControlFrame: (kind: 'ping' | 'pong') => void;
	readonly onUnexpectedResponse: (answer: UpgradeResponse) => void;
	/** Reports only the cause; `onClose` follows. */
	readonly onError: (error: Error) => void;
	/** The code is 1005 for a close frame without one, and 1006 without a close frame. */
	readonly onClose: (code: number, reason: string) => void;
}

/** What a channel needs of a socket. No method throws once it was open, and `terminate` never does. */
export type ChannelSocket = Pick<WebSocket, 'send' | 'ping' | 'pause' | 'resume' | 'close' | 'terminate'>;

export type SocketOpener = (request: SocketRequest, listener: SocketListener) => ChannelSocket;
