import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import WebSocket from 'ws';

import { asError } from '../../core/errors';
import type { UpgradeAnswer } from './closeReason';
import type { EgressFilter } from './credentials';

/**
 * The agent that takes a channel through the proxy that n8n would use for the address, or undefined for a direct
 * connection: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, in capitals or not.
 * @param url of the channel, `ws:` or `wss:`
 * @param signal ends the connection to the proxy. A socket that is still waiting for the proxy's answer is known to nobody
 * else: neither the request nor the WebSocket could end it
 * @throws Error without the proxy's address, when the variable holds no valid one; n8n's error where its policy forbids it
 */
function proxyAgentFor(
	url: string,
	signal: AbortSignal,
	egress?: EgressFilter,
): HttpsProxyAgent<string> | undefined {
	const proxy = proxyFor(url);
	if (proxy === undefined) return undefined;
	const host = proxy.hostname.replace(/^\[|\]$/g, '');
	const permission = egress?.validateConnectionHost(host);
	if (permission?.ok === false) throw permission.error;
	const lookup = egress?.createSecureLookup();
	if (proxy.protocol === 'http:') return new HttpsProxyAgent(proxy, { signal, lookup });
	// tls.connect passes no signal on, so it gets a socket that has one.
	const socket = connect({ host, port: Number(proxy.port || 443), signal, lookup });
	return new HttpsProxyAgent(proxy, { socket });
}

/** The proxy for a channel's address. Asked with the scheme that the variables are named after; the port stays. */
export function proxyFor(url: string): URL | undefined {
	const address = getProxyForUrl(url.replace(/^ws/, 'http'));
	if (address === '') return undefined;
	const proxy = URL.canParse(address) ? new URL(address) : undefined;
	if (proxy !== undefined && ['http:', 'https:'].includes(proxy.protocol)) return proxy;
	throw new Error('The proxy environment variable does not contain an http: or https: address');
}

const maxAnswerBytes = 2048;
const answerMilliseconds = 1000;

/** Reads at most 2 KiB within a second. @returns stops */
function readAnswer(response: IncomingMessage, done: (answer: UpgradeAnswer) => void): () => void {
	const { statusCode = 0, headers } = response;
	let body = Buffer.alloc(0);
	let over = false;
	const stop = () => {
		over = true;
		clearTimeout(timer);
	};
	const finish = () => {
		if (over) return;
		stop();
		done({
			statusCode,
			retryAfter: headers['retry-after'],
			date: headers.date,
			location: headers.location,
			contentType: headers['content-type'],
			body: body.toString('utf8', 0, maxAnswerBytes),
		});
	};
	const timer = setTimeout(finish, answerMilliseconds);
	response.on('data', (chunk: Buffer) => {
		body = Buffer.concat([body, chunk]);
		if (body.length >= maxAnswerBytes) finish();
	});
	for (const event of ['end', 'error', 'close']) response.on(event, finish);
	return stop;
}

/** A socket of the `ws` library. Whatever goes wrong, an invalid address included, is reported to the listener. */
export const openSocket: OpenSocket = (request, listener) => {
	const tunnel = new AbortController();
	try {
		const agent = proxyAgentFor(request.url, tunnel.signal, request.egress);
		// Without a proxy no agent: the library then connects by itself, past the global agents that n8n installs.
		const socket = new WebSocket(request.url, { ...settings(request), agent });
		let fromProxy = false;
		agent?.on('proxyConnect', ({ statusCode }) => {
			fromProxy = statusCode !== 200;
		});
		const refused = (answer: UpgradeAnswer) => {
			listener.refused({ ...answer, fromProxy });
		};
		attach(socket, { ...listener, refused }, tunnel);
		return control(socket, listener);
	} catch (error) {
		tunnel.abort();
		queueMicrotask(() => {
			listener.failed(asError(error));
			listener.closed(1006, '');
		});
		return deadSocket;
	}
};

function settings(request: SocketRequest) {
	return {
		// The library waits 30 s for the peer to end the connection after a close frame; until then the end would not be seen.
		closeTimeout: 3000,
		followRedirects: false,
		handshakeTimeout: request.handshakeTimeoutMilliseconds ?? 15_000,
		maxPayload: request.maxMessageBytes,
		perMessageDeflate: false,
		skipUTF8Validation: false,
		// Looks at the address that is connected to in the end: a name may stand for another one by then.
		...(request.egress && { lookup: request.egress.createSecureLookup() }),
		// Left out otherwise, so that NODE_TLS_REJECT_UNAUTHORIZED keeps its meaning.
		...(request.allowUnauthorizedCerts && { rejectUnauthorized: false }),
	};
}

/** Every listener is guarded: an exception inside one would leave the socket open and deaf. */
function attach(socket: WebSocket, listener: SocketListener, tunnel: AbortController): void {
	let stopReading = () => {};
	const on = (event: string, listen: (...values: never[]) => void) => {
		const guarded = (...values: never[]) => {
			try {
				listen(...values);
			} catch (error) {
				socket.terminate();
				listener.failed(asError(error));
			}
		};
		// The library's own types of its events.
		socket.on(event, guarded as (...values: unknown[]) => void);
	};
	on('open', listener.opened);
	on('message', listener.message);
	for (const kind of ['ping', 'pong'] as const) {
		on(kind, () => {
			listener.control(kind);
		});
	}
	on('error', listener.failed);
	// With a listener on this event the library leaves the end to it, and only terminate() brings `close`.
	on('unexpected-response', (_request: unknown, response: IncomingMessage) => {
		stopReading = readAnswer(response, (answer) => {
			listener.refused(answer);
			socket.terminate();
		});
	});
	on('close', (code: number, reason: Buffer) => {
		stopReading();
		tunnel.abort();
		listener.closed(code, reason.toString('utf8'));
	});
}

function control(socket: WebSocket, { failed }: SocketListener): Socket {
	const report = (error?: Error | null) => {
		if (error) failed(error);
	};
	const isOpen = () => socket.readyState === WebSocket.OPEN;
	return {
		send: (text) => {
			if (isOpen()) socket.send(text, report);
		},
		ping: () => {
			if (isOpen()) socket.ping(undefined, undefined, report);
		},
		pause: () => {
			if (isOpen()) socket.pause();
		},
		resume: () => {
			socket.resume();
		},
		close: (code) => {
			if (isOpen()) socket.close(code);
		},
		terminate: () => {
			socket.terminate();
		},
	};
}

const deadSocket: Socket = { send() {}, ping() {}, pause() {}, resume() {}, close() {}, terminate() {} };

export interface SocketRequest {
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** The socket gives up after this time without an answer to the upgrade, by default 15 s; restarts with every byte. */
	readonly handshakeTimeoutMilliseconds?: number;
	readonly maxMessageBytes: number;
	readonly allowUnauthorizedCerts: boolean;
	/** What n8n lets sockets reach; undefined: anything. */
	readonly egress?: EgressFilter;
}

/** What one socket reports. `closed` comes exactly once, as the last. */
export interface SocketListener {
	readonly opened: () => void;
	readonly message: (data: Buffer, isBinary: boolean) => void;
	readonly control: (kind: 'ping' | 'pong') => void;
	readonly refused: (answer: UpgradeAnswer) => void;
	/** Only the cause; `closed` follows. */
	readonly failed: (error: Error) => void;
	/** 1005: a close frame without a code; 1006: no close frame at all. */
	readonly closed: (code: number, reason: string) => void;
}

/** One socket, as narrow as the channel needs it. No method throws. */
export interface Socket {
	send(text: string): void;
	ping(): void;
	pause(): void;
	resume(): void;
	close(code: number): void;
	/** Ends the connection now, in any state. */
	terminate(): void;
}

export type OpenSocket = (request: SocketRequest, listener: SocketListener) => Socket;
