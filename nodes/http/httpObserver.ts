import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

import { getGlobalSingleton } from '../core/runtime';

export const getHttpObserver = () => getGlobalSingleton('httpObserver', createObserver);

/** Starts the observer of the process, unless it has started before. It observes only requests that begin later. */
export const startHttpObserver = () => void getHttpObserver();

/** Observes what Node's HTTP client tells about n8n's requests, but n8n's helpers do not return. */
function createObserver() {
	/** Holds the function that receives the response to each request that is sent in its asynchronous context. */
	const responses = new AsyncLocalStorage<(response: IncomingMessage) => void>();
	/** Errors after TLS was established. The request may have been sent, whatever the error's code says. */
	const errorsAfterTls = new WeakSet<object>();
	const onStart = (message: unknown) => {
		const { request } = message as { readonly request: ClientRequest };
		const receive = responses.getStore();
		// A CONNECT goes to the proxy, not to the service.
		if (receive && request.method !== 'CONNECT')
			request.prependOnceListener('response', receive);
	};
	const onError = (message: unknown) => {
		const { request, error } = message as {
			readonly request: ClientRequest;
			readonly error: Error;
		};
		const socket = request.socket as
			(TLSSocket & { readonly secureConnecting?: boolean }) | null;
		// Node sets this to false after the TLS handshake. Sockets without TLS do not have it.
		if (socket?.secureConnecting === false) errorsAfterTls.add(error);
	};
	subscribe('http.client.request.start', onStart);
	subscribe('http.client.request.error', onError);
	const stop = () => {
		unsubscribe('http.client.request.start', onStart);
		unsubscribe('http.client.request.error', onError);
	};
	return { responses, errorsAfterTls, stop };
}
