import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { onLoopback } from '../loopback.ts';

let address: Promise<string> | undefined;

/**
 * Builds the settings with which n8n signs in at stand-ins of Google. n8n has one address of the sign-in for all credentials of a type. At
 * this one, a server passes everything on to the stand-in whose address is the client ID.
 */
export async function buildSignInSettings(): Promise<Record<string, string>> {
	address ??= startRelay();
	const url = await address;
	const workspaceOAuth2Api = { authUrl: `${url}/auth`, accessTokenUrl: `${url}/token` };
	return { CREDENTIALS_OVERWRITE_DATA: JSON.stringify({ workspaceOAuth2Api }) };
}

async function startRelay(): Promise<string> {
	const server = createServer((request, response) => {
		relay(request, response).catch(() => response.destroy());
	});
	const { url } = await onLoopback(server);
	// The program that started n8n ends when it has nothing else to do.
	server.unref();
	return url;
}

async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
	const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://relay');
	if (pathname === '/auth') {
		const standIn = searchParams.get('client_id') ?? '';
		response.writeHead(302, { location: `${standIn}/o/oauth2/v2/auth${search}` }).end();
		return;
	}
	const body = (await buffer(request)).toString();
	const standIn = new URLSearchParams(body).get('client_id') ?? '';
	const headers = { 'content-type': 'application/x-www-form-urlencoded' };
	const answer = await fetch(`${standIn}/token`, { method: 'POST', headers, body });
	const type = answer.headers.get('content-type') ?? 'text/plain';
	response.writeHead(answer.status, { 'content-type': type });
	response.end(Buffer.from(await answer.arrayBuffer()));
}
