// Loaded into n8n (NODE_OPTIONS=--require), so that n8n's own Google nodes reach the stand-in at
// GOOGLE_STAND_IN instead of Google.
const http = require('node:http');
const https = require('node:https');

const standIn = new URL(process.env.GOOGLE_STAND_IN);
const isGoogle = (host) => /(^|\.)(googleapis\.com|google\.com)$/.test(String(host).split(':')[0]);

function redirected(original) {
	return function request(...args) {
		const [address, second, third] = args;
		const given = typeof address === 'string' || address instanceof URL;
		const url = given ? new URL(address) : undefined;
		const options = { ...(given ? (typeof second === 'object' ? second : {}) : address) };
		const host = options.hostname ?? options.host ?? url?.hostname;
		if (!isGoogle(host)) return original.apply(https, args);
		const callback = [second, third].find((value) => typeof value === 'function');
		// An agent is bound to its protocol, so it cannot be reused.
		const { agent, agents, servername, ...rest } = options;
		const path = options.path ?? (url ? `${url.pathname}${url.search}` : '/');
		const headers = { ...rest.headers };
		for (const name of Object.keys(headers))
			if (name.toLowerCase() === 'host') delete headers[name];
		const { hostname, port } = standIn;
		const request = http.request(
			{ ...rest, protocol: 'http:', host: hostname, hostname, port, path, headers },
			callback,
		);
		// As a connection to Google is. Our node takes any other for one to a proxy.
		request.once('socket', (socket) => Object.assign(socket, { encrypted: true }));
		return request;
	};
}

https.request = redirected(https.request);
https.get = (...args) => {
	const request = https.request(...args);
	request.end();
	return request;
};
