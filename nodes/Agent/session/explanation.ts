import { Failure } from '../../items/failure';
import { parseRetryAfter } from '../../retry/backoff';
import type { Ending } from './failures';
import type { UpgradeAnswer } from './transport';

export interface Surroundings {
	/** Host and port of the channel, for the text; undefined when the credential could not be read. */
	readonly host: string | undefined;
	/** When the ending was seen, in milliseconds since 1970. */
	readonly nowMilliseconds: number;
}

/** In a sentence without its subject, for events and logs. */
export function reasonOf(ending: Ending): string {
	switch (ending.kind) {
		case 'closeFrame':
			return `closed by the server with code ${ending.code}${ending.reason === '' ? '' : ` (${ending.reason})`}`;
		case 'dropped':
			return 'the connection broke off';
		case 'answer':
			return `${ending.answer.fromProxy ? 'the proxy' : 'the server'} answered with status ${ending.answer.statusCode}`;
		case 'network':
			return (
				networkReasons[ending.code ?? ''] ??
				(certificate.test(ending.code ?? '')
					? 'the certificate of the server is not trusted'
					: `the connection failed (${ending.code ?? ending.message})`)
			);
		case 'connectTimeout':
			return 'the server did not open it in time';
		case 'silent':
			return 'the server stopped answering';
		case 'tooLarge':
			return `a message was larger than the limit of ${ending.maxMessageBytes} bytes`;
		case 'malformed':
			return `a message broke the WebSocket protocol (${ending.code})`;
		case 'credentials':
			return `the credentials could not be read: ${ending.message}`;
	}
}

/** For the user. Never holds a secret: the texts of an ending are redacted. */
export function failureOf(ending: Ending, { host, nowMilliseconds }: Surroundings): Failure {
	const place = host === undefined ? '' : ` to ${host}`;
	return new Failure({
		code: codeOf(ending),
		message: `The session channel${place} is not open: ${reasonOf(ending)}`,
		description: adviceOf(ending, nowMilliseconds),
		retryAfterMilliseconds: retryAfterOf(ending, nowMilliseconds),
	});
}

/** The wait that the server asked for, in milliseconds. */
export function retryAfterOf(ending: Ending, nowMilliseconds: number): number | undefined {
	return ending.kind === 'answer' ? parseRetryAfter(ending.answer.retryAfter, nowMilliseconds) : undefined;
}

/** Node's codes. The texts avoid them: n8n replaces a message that holds one by a text of its own. */
const networkReasons: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'the connection was refused',
	ECONNRESET: 'the connection was reset',
	EPIPE: 'the connection was reset',
	ENOTFOUND: 'the name of the host was not found',
	EAI_AGAIN: 'the name of the host could not be looked up',
	ETIMEDOUT: 'the server does not answer',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
};
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

function codeOf(ending: Ending): number {
	switch (ending.kind) {
		case 'answer':
			return ending.answer.statusCode;
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

function adviceOf(ending: Ending, nowMilliseconds: number): string {
	switch (ending.kind) {
		case 'answer':
			return [answerAdvice(ending.answer), skew(ending.answer, nowMilliseconds), quote(ending.answer)]
				.filter(Boolean)
				.join(' ');
		case 'closeFrame':
			return 'The operating team of the agent service knows what this close code means there.';
		case 'tooLarge':
			return "Raise 'Max Message Size' in the options, or let the agent send smaller messages.";
		case 'malformed':
			return 'The agent service, or something between it and n8n, sends data that no WebSocket client accepts.';
		case 'credentials':
			return 'Open the credentials of this node and save them again.';
		case 'network':
			return certificate.test(ending.code ?? '')
				? "Have a valid certificate installed, or turn on 'Ignore SSL Issues' in the Agent API credential if you trust this server."
				: reachAdvice;
		default:
			return reachAdvice;
	}
}

const reachAdvice =
	'Check that the agent service is running and that n8n can reach the WebSocket URL of the Agent API credential, through a proxy if there is one.';

function answerAdvice({ statusCode, location, fromProxy }: UpgradeAnswer): string {
	if (fromProxy) return 'Check the proxy variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).';
	if (statusCode >= 300 && statusCode <= 399)
		return `It redirects${target(location)}. Enter the final address as WebSocket URL.`;
	if (statusCode === 404) {
		return "Check the WebSocket URL of the Agent API credential (the node adds '/ws' to it) and whether the session exists.";
	}
	if ([400, 401, 403].includes(statusCode)) {
		return "Check API key, user public key and signature, and the credential's 'Timestamp Unit' and 'Timestamp' settings; the operating team issues new ones.";
	}
	if (statusCode === 429 || statusCode >= 500) return 'The agent service is busy or down for the moment.';
	return 'The WebSocket URL of the Agent API credential may not be the one of a session channel.';
}

/** Host and path only: the query may carry what was sent. */
function target(location: string | undefined): string {
	if (location === undefined || !URL.canParse(location, 'ws://relative')) return '';
	const { host, pathname } = new URL(location, 'ws://relative');
	return ` to ${host === 'relative' ? '' : host}${pathname}`;
}

/** Worth a word: no signature is valid for less. */
const leastSkewSeconds = 30;

function skew({ statusCode, date }: UpgradeAnswer, nowMilliseconds: number): string {
	const serverMilliseconds = Date.parse(date ?? '');
	if (Number.isNaN(serverMilliseconds) || ![400, 401, 403].includes(statusCode)) return '';
	const seconds = Math.round((serverMilliseconds - nowMilliseconds) / 1000);
	if (Math.abs(seconds) < leastSkewSeconds) return '';
	const direction = seconds > 0 ? 'ahead of' : 'behind';
	return `The server's clock is ${Math.abs(seconds)} seconds ${direction} this machine's; a signed timestamp may be refused for that.`;
}

const longestQuote = 300;

/** The server's own words, unless they are a web page. */
function quote({ body, contentType }: UpgradeAnswer): string {
	const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	if (text === '' || contentType?.includes('html') || text.startsWith('<')) return '';
	return `It said: ${text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text}`;
}
