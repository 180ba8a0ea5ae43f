import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';

import {
	appendErrorCode,
	createRefusal,
	isNodeError,
	isRedirect,
	toNodeError,
} from '../../core/errors';
import { systemClock } from '../../core/clock';
import { classifyNetworkError, formatNetworkMessage } from '../../http/networkErrors';
import { discardBody, sendCredentialTestRequest } from '../../http/attempt';
import { networkAdvice } from '../session/networkAdvice';
import { Channel } from '../session/channel';
import { getCloseAdvice, type CloseReason, describeCloseReason } from '../session/closeReason';
import { parseAllowedHost } from '../session/allowedHosts';
import * as credentials from '../session/credentials';
import { buildChannelBaseUrl, buildExecuteUrl } from '../session/urls';

type TestHelpers = Parameters<typeof sendCredentialTestRequest>[0];

/**
 * Tests the Agent API credential: something that may be the service must respond at both addresses. The Deployment URL gets a GET request,
 * which never starts an agent. The test fails only after a status that shows a wrong key or address, or a service that is down.
 */
export async function checkAgentApi(
	helpers: TestHelpers,
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	try {
		const api = credentials.parseAgentApiCredential(data);
		const url = new URL(buildExecuteUrl(api));
		buildChannelBaseUrl(api);
		if (/\/execute\/*$/.test(api.deploymentUrl))
			throw createRefusal("Enter the Deployment URL without '/execute'. The node adds it");
		if (/\/ws\/*$/.test(api.webSocketUrl))
			throw createRefusal("Enter the WebSocket URL without '/ws'. The node adds it");
		await checkDeploymentUrl(helpers, url, api);
		return { status: 'OK', message: await testChannel(helpers, api, url.hostname) };
	} catch (error) {
		if (isNodeError(error)) return toFailedTest(error);
		const url = buildExecuteUrl(credentials.parseAgentApiCredential(data));
		return toFailedTest(createNoResponseError(error, url));
	}
}

async function checkDeploymentUrl(
	helpers: TestHelpers,
	url: URL,
	api: credentials.AgentApiCredential,
) {
	const { href, host } = url;
	const response = await sendCredentialTestRequest(helpers, {
		method: 'GET',
		uri: href,
		headers: { 'x-api-key': api.apiKey },
		rejectUnauthorized: !api.allowUnauthorizedCerts,
	});
	discardBody(response);
	const { statusCode, headers } = response;
	if ([401, 403].includes(statusCode))
		throw createRefusal(`${host} refused the API key (${statusCode})`);
	checkResponse(
		`the Deployment URL (${host})`,
		'an API response',
		statusCode,
		headers['content-type'],
	);
}

/** @throws NodeError if the response shows that the service is elsewhere or does not run */
function checkResponse(
	place: string,
	expected: string,
	statusCode: number,
	contentType = '',
): void {
	if (isRedirect(statusCode)) {
		const redirect = `There is a redirect (${statusCode}) at ${place}`;
		throw createRefusal(`${redirect}, which is not followed. Use the final address`);
	}
	if (statusCode <= 299 && contentType.includes('text/html'))
		throw createRefusal(
			`There is a web page at ${place}, not ${expected}. Check its host, port and path`,
		);
	if ([502, 503, 504].includes(statusCode))
		throw createRefusal(`The service behind ${place} is not running (${statusCode})`);
}

/** Tries to open the channel without secrets, which the server may reject. @returns the text for a test that succeeds */
async function testChannel(
	helpers: TestHelpers,
	api: credentials.AgentApiCredential,
	reachedHost: string,
) {
	const url = buildChannelBaseUrl(api);
	const place = `the WebSocket URL (${url.host}${url.pathname})`;
	const permission = await askForPermission(helpers, url, reachedHost);
	if (permission.kind === 'onlyName')
		return `The Deployment URL responds. The test did not try ${place}: n8n's network policy allows its name, and a test cannot tell whether it allows its address`;
	const closeReason =
		permission.kind === 'blocked'
			? permission
			: await tryToOpenChannel(url, api, permission.lookup);
	if (closeReason?.kind === 'response') {
		const { statusCode, contentType, fromProxy } = closeReason.response;
		if (fromProxy)
			throw createRefusal(`The proxy responds with status ${statusCode} for ${place}`);
		if (statusCode === 404)
			throw createRefusal(
				`Nothing was found at ${place} (404). Check its path, to which the node adds '/ws'. If the service returns 404 whenever no session is given, this is fine`,
			);
		checkResponse(place, 'a session channel', statusCode, contentType);
	} else if (closeReason) {
		const message = `Could not connect to ${place}: ${describeCloseReason(closeReason)}`;
		throw createRefusal(message, getCloseAdvice(closeReason, Date.now()));
	}
	return 'Both addresses respond';
}

/** What n8n's egress policy says about a host. `onlyName` means that it allows the name, but refuses each of its addresses alone. */
type Permission =
	| { readonly kind: 'blocked' }
	| { readonly kind: 'onlyName' }
	| { readonly kind: 'allowed'; readonly lookup?: LookupFunction };

/** Asks for the permission to connect. Its lookup, if there is one, returns only the addresses that the policy allows. */
async function askForPermission(
	helpers: TestHelpers,
	url: URL,
	reachedHost: string,
): Promise<Permission> {
	const { hostname } = url;
	// The policy allows the host that the test has just reached.
	if (hostname !== reachedHost && !(await isAllowedByPolicy(helpers, url)))
		return { kind: 'blocked' };
	const { findProxy } = await import('../session/webSocket');
	if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || findProxy(url.href) !== undefined)
		return { kind: 'allowed' };
	// If the name is not found, the socket reports it.
	const addresses = await lookup(hostname, { all: true }).catch(() => []);
	if (addresses.length === 0) return { kind: 'allowed' };
	const allowedAddresses: LookupAddress[] = [];
	for (const address of addresses) {
		const addressUrl = new URL(url);
		addressUrl.hostname = address.family === 6 ? `[${address.address}]` : address.address;
		if (await isAllowedByPolicy(helpers, addressUrl)) allowedAddresses.push(address);
	}
	const [firstAddress] = allowedAddresses;
	if (firstAddress === undefined) return { kind: 'onlyName' };
	const lookUpChecked: LookupFunction = (_hostname, options, callback) => {
		if (options.all) callback(null, allowedAddresses);
		else callback(null, firstAddress.address, firstAddress.family);
	};
	return { kind: 'allowed', lookup: lookUpChecked };
}

/** Asks n8n's egress policy with an HTTP request, because n8n gives credential tests no filter for sockets. */
async function isAllowedByPolicy(helpers: TestHelpers, { href }: URL): Promise<boolean> {
	const request = { method: 'HEAD', uri: href.replace(/^ws/, 'http') } as const;
	try {
		discardBody(await sendCredentialTestRequest(helpers, request));
		return true;
	} catch (error) {
		// The socket will fail with any other problem, too, and its error says more.
		return classifyNetworkError(error).category !== 'blocked';
	}
}

/** Opens a channel and closes it again. @returns why the channel did not open; undefined if it opened */
async function tryToOpenChannel(
	url: URL,
	api: credentials.AgentApiCredential,
	lookUp?: LookupFunction,
) {
	const { openSocket } = await import('../session/webSocket');
	const permission = { ok: true, result: undefined } as const;
	// The addresses have already been checked.
	const egress = lookUp && {
		validateUrl: () => Promise.resolve(permission),
		validateConnectionHost: () => permission,
		createSecureLookup: () => lookUp,
	};
	const settings = {
		url: url.href,
		sanitize: (text: string) => text,
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		// These four values do not matter, because the channel is closed as soon as it is open.
		maxMessageBytes: 1024,
		heartbeatSeconds: 0,
		pingText: '',
		initialMessage: '',
		egress,
	};
	return await new Promise<CloseReason | undefined>((resolve) => {
		const ignore = () => {};
		const finish = (closeReason?: CloseReason) => {
			void channel.close().then(() => {
				resolve(closeReason);
			});
		};
		const ignoredEvents = { onFrame: ignore, onFirstPong: ignore, onNoResponse: ignore };
		const listener = { onOpen: finish, onClose: finish, ...ignoredEvents };
		const channel = new Channel(settings, listener, systemClock, openSocket);
	});
}

function createNoResponseError(error: unknown, url: string) {
	const networkError = classifyNetworkError(error);
	const otherScheme = url.startsWith('https:') ? 'http' : 'https';
	const notHttpAdvice = `Something responded at this address, but not with HTTP. Check the port of the Deployment URL, and whether it must start with ${otherScheme}://`;
	const isTimeout = networkError.statusCode === 504;
	const advice =
		networkError.cure ??
		networkAdvice[networkError.category] ??
		(isTimeout ? undefined : notHttpAdvice);
	const message = formatNetworkMessage(networkError, error, url);
	return createRefusal(message, advice && appendErrorCode(advice, networkError.errorCode));
}

/** Appends the description, because n8n's credential form shows only the message. */
function toFailedTest({
	message,
	description,
}: ReturnType<typeof createRefusal>): INodeCredentialTestResult {
	return { status: 'Error', message: [message, description].filter(Boolean).join('. ') };
}

const signatureLabels = {
	userId: 'User ID',
	userPublicKey: 'User Public Key',
	signature: 'Signature',
};

/** Tests the format of the values in the Agent Signature API credential. Only a real call shows whether the service accepts them. */
export function checkAgentSignatureApi(
	data: ICredentialDataDecryptedObject,
): INodeCredentialTestResult {
	for (const [key, label] of Object.entries(signatureLabels)) {
		const problem = findHexProblem(data[key]);
		if (problem) return toFailedTest(createRefusal(`'${label}' ${problem}`));
	}
	try {
		const credential = credentials.parseAgentSignatureCredential(data);
		credentials.buildIdentity(credential);
		credential.allowedHosts.forEach(parseAllowedHost);
		return { status: 'OK', message: 'The format is valid' };
	} catch (error) {
		return toFailedTest(toNodeError(error));
	}
}

function findHexProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value === '') return 'is empty';
	if (value !== value.trim()) return 'begins or ends with a space';
	if (!/^(0x)?[0-9a-f]+$/i.test(value))
		return 'contains characters other than 0–9 and a–f (a leading 0x is allowed)';
	return undefined;
}
