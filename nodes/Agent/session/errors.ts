import { NodeError, shortened } from '../../core/errors';
import { parseRetryAfter } from '../../http/retry';
import { blockedAdvice, networkErrorOf } from '../../http/networkErrors';
import type { CloseReason } from './closeReason';
import type { UpgradeAnswer } from './webSocket';

interface Surroundings {
	readonly sessionId: string;
	/** Host and port of the channel, for the text; undefined when the credential could not be read. */
	readonly host: string | undefined;
	/** Whether the channel had been open. */
	readonly opened: boolean;
	/** When the channel ended, in milliseconds since 1970. */
	readonly nowMilliseconds: number;
}

/** In a sentence without its subject, for events and logs. */
export function reasonOf(closeReason: CloseReason): string {
	switch (closeReason.kind) {
		case 'closeFrame':
			return `closed by the server with code ${closeReason.code}${closeReason.reason === '' ? '' : ` (${closeReason.reason})`}`;
		case 'dropped':
			return 'the connection was lost';
		case 'answer':
			return `${closeReason.answer.fromProxy ? 'the proxy' : 'the server'} responded with status ${closeReason.answer.statusCode}`;
		case 'network':
			return networkReason(closeReason);
		case 'blocked':
			return 'n8n does not allow connections to this address';
		case 'connectTimeout':
			return 'the server did not open the channel in time';
		case 'silent':
			return 'the server stopped responding';
		case 'tooLarge':
			return `a message was larger than the limit of ${closeReason.maxMessageBytes} bytes`;
		case 'malformed':
			return `a message violated the WebSocket protocol (${closeReason.code})`;
		case 'credentials':
			return `the credentials could not be read: ${closeReason.message}`;
	}
}

function networkReason(closeReason: Extract<CloseReason, { kind: 'network' }>): string {
	const { what, reason } = networkErrorOf(closeReason);
	return what === 'unknown' ? `the connection failed (${closeReason.code ?? closeReason.message})` : reason;
}

/** For the user. Never holds a secret: the texts of a close reason are redacted. */
export function failureOf(closeReason: CloseReason, surroundings: Surroundings): NodeError {
	const { sessionId, host, opened, nowMilliseconds } = surroundings;
	const place = host === undefined ? '' : ` to ${host}`;
	const what = opened ? 'did not stay open' : 'is not open';
	return new NodeError({
		code: codeOf(closeReason),
		message: `The channel of session ${shortened(sessionId)}${place} ${what}: ${reasonOf(closeReason)}`,
		description: adviceOf(closeReason, nowMilliseconds),
		retryAfterMilliseconds: retryAfterOf(closeReason, nowMilliseconds),
	});
}

/** The wait that the server asked for, in milliseconds. */
export function retryAfterOf(closeReason: CloseReason, nowMilliseconds: number): number | undefined {
	return closeReason.kind === 'answer'
		? parseRetryAfter(closeReason.answer.retryAfter, nowMilliseconds)
		: undefined;
}

function codeOf(closeReason: CloseReason): number {
	switch (closeReason.kind) {
		case 'answer':
			return closeReason.answer.statusCode;
		case 'connectTimeout':
		case 'silent':
			return 504;
		case 'tooLarge':
		case 'malformed':
			return 502;
		case 'credentials':
			return 400;
		default:
			return 503;
	}
}

/** What to do about it. */
export function adviceOf(closeReason: CloseReason, nowMilliseconds: number): string {
	switch (closeReason.kind) {
		case 'answer':
			return [
				answerAdvice(closeReason.answer),
				skew(closeReason.answer, nowMilliseconds),
				quote(closeReason.answer),
			]
				.filter(Boolean)
				.join(' ');
		case 'closeFrame':
			return 'Ask the team that operates the agent service what this close code means.';
		case 'tooLarge':
			return "Raise 'Max Message Size' in the options, or have the agent send smaller messages.";
		case 'malformed':
			return 'The agent service, or something between it and n8n, sent data that is not valid WebSocket traffic. Ask the team that operates the agent service.';
		case 'credentials':
			return credentialsAdvice(closeReason);
		case 'blocked':
			return `${blockedAdvice} The same goes for the proxy, if you use one.`;
		case 'network':
			return networkAdvice(closeReason);
		default:
			return reachAdvice;
	}
}

function networkAdvice(closeReason: Extract<CloseReason, { kind: 'network' }>): string {
	switch (networkErrorOf(closeReason).what) {
		case 'certificate':
			return "Install a valid certificate on the server. If you trust this server, you can turn on 'Ignore SSL Issues' in the Agent API credential instead.";
		case 'handshake':
			return 'Check the WebSocket URL in the Agent API credential: its port, and whether the service supports wss:// and https:// connections.';
		default:
			return reachAdvice;
	}
}

function credentialsAdvice({ message, isMistake }: { message: string; isMistake: boolean }): string {
	if (message.includes('access to env vars denied')) {
		return 'The credential uses $env, which this n8n does not allow (N8N_BLOCK_ENV_ACCESS_IN_NODE). Enter the value itself, or use an external secret.';
	}
	return isMistake
		? 'Open the credentials of this node, correct them, and save them.'
		: 'Open the credentials of this node and save them again.';
}

const reachAdvice =
	'Check that the agent service is running and that n8n can reach the WebSocket URL in the Agent API credential (through a proxy, if you use one).';

function answerAdvice({ statusCode, location, fromProxy }: UpgradeAnswer): string {
	if (fromProxy)
		return 'Check the proxy environment variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).';
	if (statusCode >= 300 && statusCode <= 399)
		return `It redirects${target(location)}. Enter the final address as the WebSocket URL.`;
	if (statusCode === 404) {
		return "Check the WebSocket URL in the Agent API credential (the node adds '/ws' to it), and check that the session exists.";
	}
	if ([400, 401, 403].includes(statusCode)) {
		return "Check the API key, the user public key and the signature, and the 'WebSocket Timestamp Unit' and 'Timestamp' settings in the credentials. The team that operates the agent issues new values.";
	}
	if (statusCode === 429 || statusCode >= 500)
		return 'The agent service is temporarily busy or down. Try again later.';
	return 'Check that the WebSocket URL in the Agent API credential is the address of a session channel.';
}

/** Host and path only: the query may carry what was sent. */
function target(location: string | undefined): string {
	if (location === undefined || !URL.canParse(location, 'ws://relative')) return '';
	const { host, pathname } = new URL(location, 'ws://relative');
	return ` to ${host === 'relative' ? '' : host}${pathname}`;
}

/** Smaller differences do not matter: no signature is valid for less. */
const leastSkewSeconds = 30;

function skew({ statusCode, date }: UpgradeAnswer, nowMilliseconds: number): string {
	const serverMilliseconds = Date.parse(date ?? '');
	if (Number.isNaN(serverMilliseconds) || ![400, 401, 403].includes(statusCode)) return '';
	const seconds = Math.round((serverMilliseconds - nowMilliseconds) / 1000);
	if (Math.abs(seconds) < leastSkewSeconds) return '';
	const direction = seconds > 0 ? 'ahead of' : 'behind';
	return `The server's clock is ${Math.abs(seconds)} seconds ${direction} this machine's, so the server may reject a signed timestamp.`;
}

const longestQuote = 300;

/** The server's own words, unless they are a web page. */
function quote({ body, contentType }: UpgradeAnswer): string {
	const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	if (text === '' || contentType?.includes('html') || text.startsWith('<')) return '';
	return `The server said: ${shortened(text, longestQuote)}`;
}
