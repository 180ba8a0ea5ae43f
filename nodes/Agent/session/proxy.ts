import { HttpsProxyAgent } from 'https-proxy-agent';
import { connect } from 'node:net';
import { getProxyForUrl } from 'proxy-from-env';

import { checkProxy, type EgressFilter } from './egress';

/**
 * The agent that takes a channel through the proxy that n8n would use for the address, or undefined for a direct
 * connection: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, in capitals or not.
 * @param url of the channel, `ws:` or `wss:`
 * @param signal ends the connection to the proxy. A socket that is still waiting for the proxy's answer is known to nobody
 * else: neither the request nor the WebSocket could end it
 * @throws Error without the proxy's address, when the variable holds no valid one; BlockedAddress where n8n forbids it
 */
export function proxyAgentFor(
	url: string,
	signal: AbortSignal,
	egress?: EgressFilter,
): HttpsProxyAgent<string> | undefined {
	const proxy = proxyFor(url);
	if (proxy === undefined) return undefined;
	const host = proxy.hostname.replace(/^\[|\]$/g, '');
	checkProxy(egress, host);
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
	if (proxy !== undefined && ['http:', 'https:'].includes(proxy.protocol) && proxy.hostname !== '')
		return proxy;
	throw new Error('The proxy environment variable does not contain an http: or https: address');
}
