import { Readable } from 'node:stream';

import { Failure, isFailure, withCode } from '../../items/failure';
import { named } from '../fieldNames';

import { reconnect } from './advice';
import { BodyError, maxAnswerBytes, readBody } from './body';
import { Fault, type FaultKind } from './fault';
import { faultOfAnswer, type FailedCall } from './errors';

/** Node's codes of connections that never carried the request. */
const notConnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];
/** The same, but only while connecting: a route may also go away under a request that is out. */
const maybeNotConnected = ['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT'];
const timedOut = ['ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT'];
const lost = [
	'ECONNRESET',
	'EPIPE',
	'ERR_BAD_RESPONSE',
	'ERR_STREAM_PREMATURE_CLOSE',
	'HPE_INVALID_CONSTANT',
];
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO/;
/** An error envelope is small; what is longer is not one. */
const maxErrorBytes = 256 * 1024;

/** Whatever n8n's request helper threw, or the reading of a body, as a fault. */
export async function faultOfThrown(error: unknown, call: FailedCall): Promise<Fault> {
	if (error instanceof Fault) return error;
	if (error instanceof BodyError) return faultOfBody(error);
	const chain = causesOf(error);
	// The service account's credential says itself why it gets no token.
	const own = chain.find(isFailure);
	if (own) return new Fault(own.code >= 500 ? 'notDone' : 'final', own);
	const blocked = chain.find(isBlocked);
	if (blocked) return faultOfBlocked(blocked);
	if (chain.some((link) => isElsewhere(link, call))) return faultOfRefresh(chain, call);
	const response = chain.map((link) => property(link, 'response')).find(isResponse);
	if (response) return await faultOfResponse(response, call);
	const code = chain.map(codeOf).find((value) => value !== undefined);
	return faultOfCode(code, chain, call);
}

export function timeoutFault(seconds: number): Fault {
	return new Fault(
		'unknown',
		new Failure({
			code: 504,
			message: `Google did not answer within ${seconds} seconds`,
			description: `Try again, or raise the option ${named('timeoutSeconds')}.`,
		}),
	);
}

export function stoppedFault(kind: FaultKind): Fault {
	return new Fault(
		kind,
		new Failure({ code: 499, status: 'CANCELLED', message: 'The execution was stopped' }),
	);
}

function faultOfBody({ reason, code }: BodyError): Fault {
	if (reason === 'tooLarge') {
		const message = `Google's answer is larger than ${maxAnswerBytes / 1024 / 1024} MiB and was refused`;
		const description = 'Ask for less at once, for instance a smaller range or fewer results.';
		return new Fault('final', new Failure({ code: 502, message, description, ambiguous: true }));
	}
	const message = "Google's answer was cut short";
	return new Fault('unknown', new Failure({ code: 502, message, description: withCode('Try again.', code) }));
}

async function faultOfResponse(response: ErrorResponse, call: FailedCall): Promise<Fault> {
	const { status, headers, data } = response;
	const body =
		data instanceof Readable || Buffer.isBuffer(data)
			? await readBody(data, { limitBytes: maxErrorBytes }).catch(() => Buffer.alloc(0))
			: Buffer.from(JSON.stringify(data ?? null));
	return faultOfAnswer({ status, headers: headers ?? {}, body }, call);
}

function faultOfCode(code: string | undefined, chain: readonly unknown[], call: FailedCall): Fault {
	if (code === undefined || code === 'EAUTH' || code === 'ESTATUS') return faultOfSignIn(code, chain, call);
	const connecting = chain.some((link) => property(link, 'syscall') === 'connect');
	if (notConnected.includes(code) || (connecting && maybeNotConnected.includes(code))) {
		return connectionFault('notDone', 503, `No connection to ${hostOf(chain) ?? 'Google'}`, code);
	}
	if (certificate.test(code)) {
		return connectionFault('final', 503, "The server's certificate was not accepted", code);
	}
	if (timedOut.includes(code)) return connectionFault('unknown', 504, 'Google did not answer in time', code);
	if (lost.includes(code)) return connectionFault('unknown', 503, 'The connection to Google was lost', code);
	return connectionFault('unknown', 503, 'The request could not be completed', code);
}

/** @param code HTTP status; `reason` is Node's */
function connectionFault(kind: FaultKind, code: number, message: string, reason?: string): Fault {
	const description =
		'Check that the machine that runs n8n reaches the address (network, proxy, API bases in the credential), then try again.';
	return new Fault(kind, new Failure({ code, message, description: withCode(description, reason) }));
}

/** n8n's own policy of where requests may go, where it is switched on. */
function isBlocked(link: unknown): link is Error {
	return link instanceof Error && link.name.startsWith('SsrfBlocked');
}

function faultOfBlocked(error: Error): Fault {
	const description = property(error, 'description');
	const message = `n8n did not send the request: ${error.message}`;
	const details = { code: 503, message, ...(typeof description === 'string' && { description }) };
	return new Fault('final', new Failure(details));
}

/** A request that n8n sent on its own account: to the token endpoint. */
function isElsewhere(link: unknown, { url }: FailedCall): boolean {
	const other = property(property(link, 'config'), 'url');
	return typeof other === 'string' && other !== url;
}

/** n8n asks for a new token only after a 401: nothing was carried out. */
function faultOfRefresh(chain: readonly unknown[], { signIn }: FailedCall): Fault {
	const status = chain.map((link) => property(property(link, 'response'), 'status')).find(Boolean);
	const why = typeof status === 'number' ? `HTTP ${status}` : chain.map(codeOf).find(Boolean);
	const passing = typeof status !== 'number' || status >= 500 || status === 429;
	const message = 'The token of the credential could not be refreshed';
	const description = withCode(`Try again later. If it stays so: ${reconnect(signIn)}`, why);
	return new Fault(passing ? 'notDone' : 'final', new Failure({ code: 401, message, description }));
}

/** n8n found no token, or could not refresh it: nothing was carried out. */
function faultOfSignIn(code: string | undefined, chain: readonly unknown[], { signIn }: FailedCall): Fault {
	const texts = chain.flatMap((link) => (link instanceof Error ? [link.message] : []));
	const aboutToken = texts.some((text) =>
		/access token|not connected|reconnect|refresh|credential/i.test(text),
	);
	if (code !== undefined || aboutToken) {
		const message = 'The credential has no valid token, and no new one could be had';
		return new Fault('final', new Failure({ code: 401, message, description: reconnect(signIn) }));
	}
	return connectionFault('unknown', 503, texts[0] ?? 'The request could not be completed');
}

interface ErrorResponse {
	readonly status: number;
	readonly headers?: Readonly<Record<string, unknown>>;
	readonly data?: unknown;
}

function isResponse(value: unknown): value is ErrorResponse {
	return typeof property(value, 'status') === 'number';
}

function codeOf(link: unknown): string | undefined {
	const code = property(link, 'httpCode') ?? property(link, 'code');
	return typeof code === 'string' && code !== '' ? code : undefined;
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
	const chain: unknown[] = [];
	for (
		let link = error;
		link !== undefined && link !== null && chain.length < 8;
		link = property(link, 'cause')
	) {
		chain.push(link);
	}
	return chain;
}

function hostOf(chain: readonly unknown[]): string | undefined {
	for (const link of chain) {
		const host = property(link, 'hostname') ?? property(link, 'address');
		const port = property(link, 'port');
		if (typeof host === 'string') return typeof port === 'number' ? `${host}:${port}` : host;
	}
	return undefined;
}

function property(value: unknown, key: string): unknown {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
