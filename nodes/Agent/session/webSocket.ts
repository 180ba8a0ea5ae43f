import WebSocket from 'ws';

import { proxyAgentFor } from './proxy';
import { readAnswer } from './refusedUpgrade';
import type { OpenSocket, Socket, SocketListener, SocketRequest } from './transport';

/** `ws` waits 30 s for the peer to end the connection after a close frame; until then the ending would not be seen. */
const closeTimeout = 3000;

/** A socket of the `ws` library. Whatever goes wrong, an invalid address included, is reported to the listener. */
export const openSocket: OpenSocket = (request, listener) => {
	const tunnel = new AbortController();
	try {
		const agent = proxyAgentFor(request.url, tunnel.signal, request.egress);
		const socket = new WebSocket(request.url, { ...settings(request), agent });
		let fromProxy = false;
		agent?.on('proxyConnect', ({ statusCode }) => {
			fromProxy = statusCode !== 200;
		});
		attach(
			socket,
			{
				...listener,
				refused: (answer) => {
					listener.refused({ ...answer, fromProxy });
				},
			},
			tunnel,
		);
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

function settings(request: SocketRequest): WebSocket.ClientOptions {
	const options = {
		// No agent without a proxy: `ws` then connects by itself, past the global agents that n8n installs.
		closeTimeout,
		followRedirects: false,
		handshakeTimeout: request.handshakeTimeoutMilliseconds,
		maxPayload: request.maxMessageBytes,
		perMessageDeflate: false,
		skipUTF8Validation: false,
		// Looks at the address that is connected to in the end: a name may stand for another one by then.
		...(request.egress && { lookup: request.egress.createSecureLookup() }),
		// Left out otherwise, so that NODE_TLS_REJECT_UNAUTHORIZED keeps its meaning.
		...(request.allowUnauthorizedCerts && { rejectUnauthorized: false }),
	};
	return options;
}

/** Every listener is guarded: an exception inside one would leave the socket open and deaf. */
function attach(socket: WebSocket, listener: SocketListener, tunnel: AbortController): void {
	let stopReading = () => {};
	const guard =
		<T extends unknown[]>(listen: (...values: T) => void) =>
		(...values: T) => {
			try {
				listen(...values);
			} catch (error) {
				socket.terminate();
				listener.failed(asError(error));
			}
		};
	socket.on(
		'open',
		guard(() => {
			listener.opened();
		}),
	);
	socket.on(
		'message',
		guard((data, isBinary) => {
			listener.message(asBuffer(data), isBinary);
		}),
	);
	socket.on(
		'ping',
		guard(() => {
			listener.control('ping');
		}),
	);
	socket.on(
		'pong',
		guard(() => {
			listener.control('pong');
		}),
	);
	socket.on(
		'error',
		guard((error) => {
			listener.failed(error);
		}),
	);
	// With a listener on this event the library leaves the ending to it, and only terminate() brings `close`.
	socket.on(
		'unexpected-response',
		guard((_request, response) => {
			stopReading = readAnswer(response, (answer) => {
				listener.refused(answer);
				socket.terminate();
			});
		}),
	);
	socket.on(
		'close',
		guard((code, reason) => {
			stopReading();
			tunnel.abort();
			listener.closed(code, reason.toString('utf8'));
		}),
	);
}

function control(socket: WebSocket, listener: SocketListener): Socket {
	const report = (error?: Error | null) => {
		if (error) listener.failed(error);
	};
	const whenOpen = (action: () => void) => {
		if (socket.readyState === WebSocket.OPEN) action();
	};
	return {
		send: (text) => {
			whenOpen(() => {
				socket.send(text, report);
			});
		},
		ping: () => {
			whenOpen(() => {
				socket.ping(undefined, undefined, report);
			});
		},
		pause: () => {
			whenOpen(() => {
				socket.pause();
			});
		},
		resume: () => {
			socket.resume();
		},
		close: (code) => {
			whenOpen(() => {
				socket.close(code);
			});
		},
		terminate: () => {
			socket.terminate();
		},
	};
}

const deadSocket: Socket = { send() {}, ping() {}, pause() {}, resume() {}, close() {}, terminate() {} };

function asBuffer(data: WebSocket.RawData): Buffer {
	if (Buffer.isBuffer(data)) return data;
	return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
