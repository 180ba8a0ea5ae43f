import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

import { getGlobalSingleton } from '../core/globalSingleton';

/** What Node's HTTP client knows about the last request, but n8n's helpers do not return. */
export interface Exchange {
	/** Its socket is null once Node keeps the connection for another request. */
	response?: Pick<IncomingMessage, 'statusCode' | 'destroy'> & {
		readonly socket: IncomingMessage['socket'] | null;
	};
	/** The origin of the URL that the response is for. */
	origin?: string;
}

const getExchanges = () => getGlobalSingleton('httpExchanges', createExchanges);

function createExchanges() {
	const exchanges = new AsyncLocalStorage<Exchange>();
	// Node publishes this when it has received the headers of a response.
	subscribe('http.client.response.finish', (message) => {
		const exchange = exchanges.getStore();
		if (!exchange) return;
		const { request, response } = message as Record<'request', ClientRequest> &
			Record<'response', IncomingMessage>;
		exchange.response = response;
		exchange.origin = `${request.protocol}//${String(request.getHeader('host'))}`;
	});
	return exchanges;
}

/** Sends a request, and records the response to it in the exchange. */
export const recordResponse = async <T>(exchange: Exchange, send: () => Promise<T>): Promise<T> =>
	await getExchanges().run(exchange, send);
