import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';

import {
	appendErrorCode,
	createRefusal,
	isNodeError,
	isRedirect,
	type NodeError,
	toNodeError,
} from '../../core/errors';
import {
	type CredentialTestResponse,
	discardBody,
	sendCredentialTestRequest,
} from '../../http/attempt';
import { blockedAdvice, classifyNetworkError } from '../../http/networkErrors';
import { parseAllowedHost } from '../session/allowedHosts';
import * as credentials from '../session/credentials';
import { buildChannelBaseUrl, buildExecuteUrl } from '../session/urls';

type TestHelpers = Parameters<typeof sendCredentialTestRequest>[0];

/** One of the two addresses, with what is sent to it. n8n's HTTP client sends it, so that n8n's proxies and egress policy apply. */
interface TestedAddress {
	readonly label: string;
	readonly url: URL;
	readonly headers: Readonly<Record<string, string>>;
}

/**
 * Tests the Agent API credential: something that may be the service must respond at both addresses. The Deployment URL gets a GET request,
 * which never starts an agent, and the channel an upgrade without secrets, which the server may reject. The test fails only after a
 * status that shows a wrong key or address, or a service that is down.
 */
export async function checkAgentApi(
	helpers: TestHelpers,
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	try {
		const api = credentials.parseAgentApiCredential(data);
		const addresses = [listDeploymentUrl(api), listChannel(api)];
		for (const { label, url } of addresses) {
			const [, segment] = /\/(execute|ws)\/\1$/.exec(url.pathname) ?? [];
			if (segment)
				throw createRefusal(`Enter the ${label} without '/${segment}'. The node adds it`);
		}
		for (const address of addresses) await testAddress(helpers, address, api);
		return { status: 'OK', message: 'Both addresses respond' };
	} catch (error) {
		return toFailedTest(toNodeError(error));
	}
}

function listDeploymentUrl(api: credentials.AgentApiCredential): TestedAddress {
	const url = new URL(buildExecuteUrl(api));
	return { label: 'Deployment URL', url, headers: { 'x-api-key': api.apiKey } };
}

function listChannel(api: credentials.AgentApiCredential): TestedAddress {
	const url = new URL(buildChannelBaseUrl(api).href.replace(/^ws/, 'http'));
	const headers = {
		Connection: 'Upgrade',
		Upgrade: 'websocket',
		'Sec-WebSocket-Version': '13',
		'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
	};
	return { label: 'WebSocket URL', url, headers };
}

/** @throws NodeError that names the address and says what is wrong with it */
async function testAddress(
	helpers: TestHelpers,
	address: TestedAddress,
	{ allowUnauthorizedCerts }: credentials.AgentApiCredential,
): Promise<void> {
	const { label, url, headers } = address;
	const place = `the ${label} (${url.host}${url.pathname})`;
	const upgrade = watchUpgrade(headers['Sec-WebSocket-Key']);
	try {
		const request = sendCredentialTestRequest(helpers, {
			method: 'GET',
			uri: url.href,
			headers,
			rejectUnauthorized: !allowUnauthorizedCerts,
		});
		const response = await Promise.race([request, upgrade.accepted]);
		if (response === undefined) return;
		discardBody(response);
		checkResponse(response, address, place);
	} catch (error) {
		throw isNodeError(error) ? error : createNoResponseError(error, place);
	} finally {
		upgrade.stopWatching();
	}
}

/** Finds out whether the server accepts an upgrade. Only a listener of Node's request learns this: without one, Node resets the connection. */
function watchUpgrade(key: string | undefined) {
	let watch: (message: unknown) => void = () => {};
	const accepted = new Promise<undefined>((resolve) => {
		watch = (message) => {
			const { request } = message as { readonly request: ClientRequest };
			if (key === undefined || request.getHeader('Sec-WebSocket-Key') !== key) return;
			request.once('upgrade', (_response, socket: Duplex) => {
				socket.destroy();
				resolve(undefined);
			});
		};
	});
	subscribe('http.client.request.start', watch);
	return {
		accepted,
		stopWatching: () => {
			unsubscribe('http.client.request.start', watch);
		},
	};
}

/** @throws NodeError if the response shows that the service is elsewhere or does not run, or that it refuses the key */
function checkResponse(
	{ statusCode, headers }: CredentialTestResponse,
	address: TestedAddress,
	place: string,
): void {
	const isChannel = 'Upgrade' in address.headers;
	if (!isChannel && [401, 403].includes(statusCode))
		throw createRefusal(`The service refused the API key (${statusCode}) at ${place}`);
	if (isChannel && statusCode === 404)
		throw createRefusal(
			`Nothing was found at ${place} (404). Check its path, to which the node adds '/ws'. If the service returns 404 whenever no session is given, this is fine`,
		);
	if (isRedirect(statusCode))
		throw createRefusal(
			`There is a redirect (${statusCode}) at ${place}, which is not followed. Use the final address`,
		);
	if (statusCode <= 299 && headers['content-type']?.includes('text/html'))
		throw createRefusal(
			`There is a web page at ${place}, not the agent service. Check its host, port and path`,
		);
	if ([502, 503, 504].includes(statusCode))
		throw createRefusal(`The service behind ${place} is not running (${statusCode})`);
}

function createNoResponseError(error: unknown, place: string): NodeError {
	const { category, reason, errorCode, cure } = classifyNetworkError(error);
	const generalAdvice =
		'Check its scheme (http:// or https://, ws:// or wss://), host and port, and that n8n can reach the service';
	const advice = category === 'blocked' ? blockedAdvice : (cure ?? generalAdvice);
	return createRefusal(
		`Could not connect to ${place}: ${reason}`,
		appendErrorCode(advice, errorCode),
	);
}

/** Appends the description, because n8n's credential form shows only the message. */
function toFailedTest({ message, description }: NodeError): INodeCredentialTestResult {
	return { status: 'Error', message: [message, description].filter(Boolean).join('. ') };
}

/** Tests the format of the values in the Agent Signature API credential. Only a real call shows whether the service accepts them. */
export function checkAgentSignatureApi(
	data: ICredentialDataDecryptedObject,
): INodeCredentialTestResult {
	try {
		const credential = credentials.parseAgentSignatureCredential(data);
		const { userId, userPublicKey, signature } = credentials.buildIdentity(credential);
		checkHexadecimal('User ID', userId);
		checkHexadecimal('User Public Key', userPublicKey);
		checkHexadecimal('Signature', signature);
		credential.allowedHosts.forEach(parseAllowedHost);
		return { status: 'OK', message: 'The format is valid' };
	} catch (error) {
		return toFailedTest(toNodeError(error));
	}
}

function checkHexadecimal(label: string, value: string): void {
	if (!/^(0x)?[0-9a-f]+$/i.test(value))
		throw createRefusal(
			`'${label}' contains characters other than 0–9 and a–f (a leading 0x is allowed)`,
		);
}
