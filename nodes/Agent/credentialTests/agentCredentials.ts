import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { isNodeError, isRedirect, toNodeError, withCode } from '../../core/errors';
import { systemClock } from '../../core/runtime';
import { causesOf, isBlocked, networkErrorOf, networkMessage } from '../../http/networkErrors';
import { discard, testRequest, type TestResponse } from '../../http/request';
import { networkAdvice } from '../AgentExecute/errors';
import { Channel } from '../session/channel';
import { adviceOf, type CloseReason, reasonOf, type UpgradeAnswer } from '../session/closeReason';
import {
	agentApiCredential,
	type AgentApiCredential,
	agentSignatureCredential,
	channelBase,
	checkHostNames,
	executeUrl,
	identityOf,
} from '../session/credentials';

/** The host has been checked before. */
const allowed = {
	validateUrl: () => Promise.resolve({ ok: true as const, result: undefined }),
	validateConnectionHost: () => ({ ok: true as const, result: undefined }),
};

/**
 * Tries to open the channel without a session and without secrets. So a refusal counts as a response.
 * @param nameIsAllowed whether n8n's policy has allowed a request to the host of the channel already
 * @returns what is wrong; nothing if the service, or something like it, responds
 */
async function channelProblem(
	helpers: ICredentialTestFunctions['helpers'],
	api: AgentApiCredential,
	nameIsAllowed: (hostname: string) => boolean,
): Promise<{ readonly problem?: string; readonly note?: string }> {
	const url = channelBase(api);
	const place = `the WebSocket URL (${url.host}${url.pathname})`;
	const isAllowed = nameIsAllowed(url.hostname) || (await mayBeReached(helpers, url));
	const lookup = isAllowed ? await allowedLookup(helpers, url) : undefined;
	if (lookup === 'unknown')
		return {
			note: `The Deployment URL responds. The test did not try ${place}: n8n's network policy allows its name, and a test cannot tell whether it allows its address`,
		};
	const closeReason: CloseReason | undefined = isAllowed
		? await whyNotOpen(url, api.allowUnauthorizedCerts, lookup)
		: { kind: 'blocked' };
	if (closeReason === undefined) return {};
	if (closeReason.kind === 'answer') return { problem: answerProblem(closeReason.answer, place) };
	return {
		problem: `Could not connect to ${place}: ${reasonOf(closeReason)}. ${adviceOf(closeReason, Date.now())}`,
	};
}

/**
 * A name may stand for another address by the time when the socket asks again: the socket gets the addresses that n8n's policy has allowed.
 * @returns undefined if there is nothing to look up here; `unknown` if the policy allows no address by itself
 */
async function allowedLookup(
	helpers: ICredentialTestFunctions['helpers'],
	url: URL,
): Promise<LookupFunction | 'unknown' | undefined> {
	const { hostname } = url;
	const { proxyFor } = await import('../session/webSocket');
	if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || proxyFor(url.href) !== undefined) return undefined;
	// The socket reports a name that is not found.
	const all = await lookup(hostname, { all: true }).catch(() => []);
	if (all.length === 0) return undefined;
	const allowed: LookupAddress[] = [];
	for (const one of all) {
		const direct = new URL(url);
		direct.hostname = one.family === 6 ? `[${one.address}]` : one.address;
		if (await mayBeReached(helpers, direct)) allowed.push(one);
	}
	const [first] = allowed;
	if (first === undefined) return 'unknown';
	return (_hostname, options, answer) => {
		if (options.all) answer(null, allowed);
		else answer(null, first.address, first.family);
	};
}

function answerProblem(
	{ statusCode, contentType, fromProxy }: UpgradeAnswer,
	place: string,
): string | undefined {
	if (fromProxy) return `The proxy responds with status ${statusCode} for ${place}`;
	if (statusCode === 404)
		return `Nothing was found at ${place} (404). Check its path, to which the node adds '/ws'. If the service returns 404 whenever no session is given, this is fine`;
	return problemAt(place, 'a session channel', statusCode, contentType);
}

/** What is wrong at an address, whichever of the two it is. @param expected what should be there */
function problemAt(
	place: string,
	expected: string,
	statusCode: number,
	contentType = '',
): string | undefined {
	if (isRedirect(statusCode))
		return `There is a redirect (${statusCode}) at ${place}, which is not followed. Use the final address`;
	if (statusCode <= 299 && contentType.includes('text/html'))
		return `There is a web page at ${place}, not ${expected}. Check its host, port and path`;
	if ([502, 503, 504].includes(statusCode))
		return `The service behind ${place} is not running (${statusCode})`;
	return undefined;
}

/** @returns why the channel did not open; undefined if it did */
async function whyNotOpen(
	url: URL,
	allowUnauthorizedCerts: boolean,
	lookup: LookupFunction | undefined,
): Promise<CloseReason | undefined> {
	const { openSocket } = await import('../session/webSocket');
	const settings = {
		url: url.href,
		redact: (text: string) => text,
		allowUnauthorizedCerts,
		// The test receives no messages.
		maxMessageBytes: 1024,
		heartbeatSeconds: 0,
		pingText: '',
		initialMessage: '',
		...(lookup && { egress: { ...allowed, createSecureLookup: () => lookup } }),
	};
	return await new Promise((resolve) => {
		const nothing = () => {};
		const over = (closeReason?: CloseReason) => {
			void channel.close().then(() => {
				resolve(closeReason);
			});
		};
		const opened = () => {
			over();
		};
		const listener = { opened, ended: over, message: nothing, answered: nothing, unanswered: nothing };
		const channel = new Channel(settings, listener, systemClock, openSocket);
	});
}

/**
 * The test of the Agent API credential: whether something that could be the service responds at both addresses. The Deployment URL gets
 * a GET, which never starts an agent. How a service responds to it is unknown, so any status other than a refusal counts as a response.
 */
export async function checkAgentApi(
	helpers: ICredentialTestFunctions['helpers'],
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	try {
		const api = agentApiCredential(data);
		const url = executeUrl(api);
		channelBase(api);
		if (/\/execute\/*$/.test(api.deploymentUrl)) {
			return refused("Enter the Deployment URL without '/execute'. The node adds it");
		}
		if (/\/ws\/*$/.test(api.webSocketUrl)) {
			return refused("Enter the WebSocket URL without '/ws'. The node adds it");
		}
		const answer = await testRequest(helpers, {
			method: 'GET',
			uri: url,
			headers: { 'x-api-key': api.apiKey },
			rejectUnauthorized: !api.allowUnauthorizedCerts,
		});
		discard(answer);
		const nameIsAllowed = (hostname: string) => hostname === new URL(url).hostname;
		const wrong = callProblem(answer, url);
		if (wrong !== undefined) return refused(wrong);
		const { problem, note } = await channelProblem(helpers, api, nameIsAllowed);
		return problem === undefined
			? { status: 'OK', message: note ?? 'Both addresses respond' }
			: refused(problem);
	} catch (error) {
		return refused(failureText(error, data));
	}
}

/**
 * Whether n8n's egress policy allows requests to this address. Unlike nodes, credential tests have no filter for sockets. Their requests
 * follow the policy, so the test makes one.
 */
async function mayBeReached(helpers: ICredentialTestFunctions['helpers'], { href }: URL): Promise<boolean> {
	return await testRequest(helpers, { method: 'HEAD', uri: href.replace(/^ws/, 'http') }).then(
		(answer) => {
			discard(answer);
			return true;
		},
		// The socket runs into any other problem too, and reports it better.
		(error: unknown) => !causesOf(error).some(isBlocked),
	);
}

function callProblem({ statusCode, headers }: TestResponse, url: string): string | undefined {
	const { host } = new URL(url);
	if ([401, 403].includes(statusCode)) return `${host} refused the API key (${statusCode})`;
	return problemAt(`the Deployment URL (${host})`, 'an API response', statusCode, headers['content-type']);
}

function failureText(error: unknown, data: ICredentialDataDecryptedObject): string {
	if (isNodeError(error)) return [error.message, error.description].filter(Boolean).join('. ');
	const url = executeUrl(agentApiCredential(data));
	const found = networkErrorOf(error);
	const advice = networkAdvice[found.what] ?? (found.status === 504 ? undefined : notHttpAdvice(url));
	return [networkMessage(found, error, url), advice && withCode(advice, found.code)]
		.filter(Boolean)
		.join('. ');
}

function notHttpAdvice(url: string): string {
	const other = url.startsWith('https:') ? 'http' : 'https';
	return `Something listens there, but did not respond as a web server does. Check the port of the Deployment URL, and whether it must begin with ${other}://`;
}

function refused(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}

const labels = { userId: 'User ID', userPublicKey: 'User Public Key', signature: 'Signature' } as const;

/** The test of the Agent Signature API credential: checks the format of the values. Only a real call shows whether they are accepted. */
export function checkSignature(data: ICredentialDataDecryptedObject): INodeCredentialTestResult {
	for (const key of ['userId', 'userPublicKey', 'signature'] as const) {
		const problem = hexProblem(data[key]);
		if (problem) return { status: 'Error', message: `'${labels[key]}' ${problem}` };
	}
	try {
		const credential = agentSignatureCredential(data);
		identityOf(credential);
		checkHostNames(credential);
		return { status: 'OK', message: 'The format is valid' };
	} catch (error) {
		// n8n's form shows the message only.
		const { message, description } = toNodeError(error);
		return { status: 'Error', message: [message, description].filter(Boolean).join('. ') };
	}
}

function hexProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value === '') return 'is empty';
	if (value !== value.trim()) return 'begins or ends with a space';
	if (!/^(0x)?[0-9a-f]+$/i.test(value))
		return 'contains characters other than 0–9 and a–f (a leading 0x is allowed)';
	return undefined;
}
