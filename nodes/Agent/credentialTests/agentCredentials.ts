import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';

import {
	addAdviceToMessage,
	appendErrorCode,
	createRefusal,
	isNodeError,
	isRedirect,
	type NodeError,
	toNodeError,
} from '../../core/errors';
import { type FullResponse, discardBody, sendCredentialTestRequest } from '../../http/attempt';
import { classifyNetworkError } from '../../http/networkErrors';
import * as credentials from '../session/credentials';

type TestHelpers = Parameters<typeof sendCredentialTestRequest>[0];
type HeaderValues = Readonly<Record<string, string>>;
type SendWithHeaders = (headers: HeaderValues) => Promise<FullResponse>;

/**
 * Tests the Agent API credential: something that may be the service must respond at both addresses.
 * The Deployment URL gets a GET request, which never starts an agent, and the channel an upgrade
 * without secrets, which the server may reject. The test fails only after a status that shows a
 * wrong key or address, or a service that is down.
 */
export async function checkAgentApi(
	helpers: TestHelpers,
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	try {
		const api = credentials.parseAgentApiCredential(data);
		// n8n's HTTP client sends both requests, so that n8n's proxies and egress policy apply.
		const send = (url: URL, headers: HeaderValues) =>
			sendCredentialTestRequest(helpers, {
				method: 'GET',
				uri: url.href,
				headers,
				rejectUnauthorized: !api.allowUnauthorizedCerts,
			});
		const executeUrl = new URL(credentials.buildExecuteUrl(api));
		const channelUrl = new URL(
			credentials.buildChannelBaseUrl(api).href.replace(/^ws/, 'http'),
		);
		await testAddress('Deployment URL', executeUrl, executeProblems, () =>
			send(executeUrl, { 'x-api-key': api.apiKey }),
		);
		await testAddress('WebSocket URL', channelUrl, channelProblems, () =>
			requestUpgrade((headers) => send(channelUrl, headers)),
		);
		return { status: 'OK', message: 'Both addresses respond' };
	} catch (error) {
		return createFailedTest(error);
	}
}

/**
 * What a status means at one address only, as the end of a sentence that begins with this address.
 */
type Problems = Readonly<Record<number, string>>;

const executeProblems: Problems = {
	401: 'refused the API key (401)',
	403: 'refused the API key (403)',
};
const channelProblems: Problems = {
	404: "was not found (404). Check its path, to which the node adds '/ws'. If the path is right, ignore this: the service then needs the ID of a session, and the test has none",
};

/**
 * @param ask gives undefined if the channel opened
 * @throws NodeError that names the address and says what is wrong with it
 */
async function testAddress(
	label: string,
	url: URL,
	problems: Problems,
	ask: () => Promise<FullResponse | undefined>,
): Promise<void> {
	const [, segment] = /\/(execute|ws)\/\1$/.exec(url.pathname) ?? [];
	if (segment) throw createRefusal(`Enter the ${label} without '/${segment}'. The node adds it`);
	const place = `The ${label} (${url.host}${url.pathname})`;
	const response = await ask().catch((error: unknown) => {
		throw isNodeError(error) ? error : createNoResponseError(error, place);
	});
	if (response === undefined) return;
	discardBody(response);
	const problem = problems[response.statusCode] ?? findProblem(response);
	if (problem !== undefined) throw createRefusal(`${place} ${problem}`);
}

function createNoResponseError(error: unknown, place: string): NodeError {
	const { reason, errorCode, cure = addressAdvice } = classifyNetworkError(error);
	const message = appendErrorCode(`${place} does not respond: ${reason}`, errorCode);
	return createRefusal(message, cure);
}

const addressAdvice =
	'Check its scheme (http:// or https://, ws:// or wss://), host and port, and that n8n can reach the service.';

/**
 * Requests an upgrade. Only a listener of Node's request learns that it was accepted: without one,
 * Node resets the connection.
 */
async function requestUpgrade(send: SendWithHeaders): Promise<FullResponse | undefined> {
	const key = randomBytes(16).toString('base64');
	let watch: (message: unknown) => void = () => {};
	const accepted = new Promise<undefined>((resolve) => {
		watch = (message) => {
			const { request } = message as { readonly request: ClientRequest };
			if (request.getHeader('Sec-WebSocket-Key') !== key) return;
			request.once('upgrade', (_response, socket: Duplex) => {
				socket.destroy();
				resolve(undefined);
			});
		};
	});
	subscribe('http.client.request.start', watch);
	const request = send({
		Connection: 'Upgrade',
		Upgrade: 'websocket',
		'Sec-WebSocket-Version': '13',
		'Sec-WebSocket-Key': key,
	});
	return await Promise.race([request, accepted]).finally(() => {
		unsubscribe('http.client.request.start', watch);
	});
}

/** Finds out whether a response shows that the service is elsewhere or does not run. */
function findProblem({ statusCode, headers }: FullResponse): string | undefined {
	if (isRedirect(statusCode))
		return `is a redirect (${statusCode}), which is not followed. Use the final address`;
	if (statusCode <= 299 && headers['content-type']?.includes('text/html'))
		return 'is a web page, not the agent service. Check its host, port and path';
	if ([502, 503, 504].includes(statusCode))
		return `does not respond: the service behind it is not running (${statusCode})`;
	return undefined;
}

/** Adds the advice to the message, because n8n's credential form shows only the message. */
function createFailedTest(error: unknown): INodeCredentialTestResult {
	const { message } = addAdviceToMessage(toNodeError(error));
	return { status: 'Error', message };
}

/**
 * Tests the format of the values in the Agent Signature API credential. Only a real call shows
 * whether the service accepts them.
 */
export function checkAgentSignatureApi(
	data: ICredentialDataDecryptedObject,
): INodeCredentialTestResult {
	try {
		const credential = credentials.parseAgentSignatureCredential(data);
		const { userId, userPublicKey, signature } = credentials.buildIdentity(credential);
		const values = {
			'User ID': userId,
			'User Public Key': userPublicKey,
			Signature: signature,
		};
		for (const [label, value] of Object.entries(values))
			if (!/^(0x)?[0-9a-f]+$/i.test(value))
				throw createRefusal(
					`'${label}' contains characters other than 0–9 and a–f (a leading 0x is allowed)`,
				);
		credential.allowedHosts.forEach(credentials.parseAllowedHost);
		return { status: 'OK', message: 'The format is valid' };
	} catch (error) {
		return createFailedTest(error);
	}
}
