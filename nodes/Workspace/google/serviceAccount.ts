import { createHash, createSign } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { isNodeError, NodeError, createRefusal } from '../../core/errors';
import { BoundedMap } from '../../core/boundedMap';
import { KeyedMutex } from '../../core/keyedMutex';
import { BodyError, tryParseJson, readResponseBody, readErrorBody } from '../../http/body';
import { getProperty } from '../../http/networkErrors';
import { googleTokenUrl } from './signIn';

/** Google's limit for an assertion is an hour. */
const lifetimeSeconds = 3600;

type ServiceAccount = ReturnType<typeof readServiceAccount>;

export function readServiceAccount(credential: ICredentialDataDecryptedObject) {
	const readText = (name: string) => {
		const value = credential[name];
		return typeof value === 'string' ? value : '';
	};
	return {
		email: readText('email'),
		privateKey: readText('privateKey'),
		/** The user to act for, where an administrator has allowed it; empty for the account itself. */
		delegatedEmail: readText('delegatedEmail'),
		/** Separated by spaces. */
		scope: readText('scope'),
		tokenUrl: readText('tokenUrl') || googleTokenUrl,
	};
}

/** Sends a form and follows no redirect. Every status is an answer. */
export type PostForm = (
	url: string,
	form: URLSearchParams,
) => Promise<{ readonly statusCode: number; readonly body: Readable }>;

const readTimeoutMilliseconds = 15_000;
/** The largest response that is read, in bytes. A token has less than 4 KiB. */
const maxTokenResponseBytes = 256 * 1024;

/** A service account's access token (RFC 7523). @throws NodeError without the key: 400 if unreadable, 401 refused, 503 Google failed */
export async function fetchAccessToken(post: PostForm, account: ServiceAccount): Promise<string> {
	const form = new URLSearchParams({
		grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
		assertion: signAssertion(account),
	});
	const answer = await post(account.tokenUrl, form);
	const signal = AbortSignal.timeout(readTimeoutMilliseconds);
	const isIssued = answer.statusCode === 200;
	const read = isIssued ? readWholeBody(answer.body, signal, account) : readErrorBody(answer.body, signal);
	const responseJson = tryParseJson(await read);
	const token = getProperty(responseJson, 'access_token');
	if (isIssued && typeof token === 'string' && token !== '') return token;
	const texts = [getProperty(responseJson, 'error'), getProperty(responseJson, 'error_description')];
	throw createTokenError(answer.statusCode, texts, account);
}

/** The whole body; empty if it is too long to be a token. @throws NodeError 503 if it was cut off, because the next may be whole */
async function readWholeBody(body: Readable, signal: AbortSignal, account: ServiceAccount): Promise<Buffer> {
	const read = await readResponseBody(body, { maxBytes: maxTokenResponseBytes, signal }).catch(
		(error: unknown) => error,
	);
	if (Buffer.isBuffer(read)) return read;
	if (read instanceof BodyError && read.reason === 'tooLarge') return Buffer.alloc(0);
	throw createTokenError(503, ['the answer was cut off'], account);
}

function createTokenError(status: number, texts: unknown[], account: ServiceAccount): NodeError {
	const googleText = texts.filter((text) => typeof text === 'string' && text !== '').join(': ');
	return new NodeError({
		code: isTemporary(status) ? 503 : 401,
		message: `Google did not issue a token for the service account (${googleText || `HTTP ${status}`})`,
		description: findTokenAdvice(status, texts, account),
	});
}

/** Whether the same request may succeed later. */
function isTemporary(status: number): boolean {
	return status >= 500 || status === 408 || status === 429;
}

function findTokenAdvice(status: number, texts: unknown[], { scope }: ServiceAccount): string {
	// Reported in googleapis/google-api-php-client#2214.
	if (texts.includes('unauthorized_client')) {
		return `An administrator has to allow this: in the Admin console, Security > Access and data control > API controls > Domain-wide delegation, add the service account's client ID with these scopes: ${scope.split(' ').join(', ')}. A change can take a day. Without delegation, leave Delegated Email empty.`;
	}
	if (isTemporary(status)) return 'Try again later.';
	// No token endpoint responds like this.
	if (status < 400 || status === 404)
		return 'Check the Token URL in the credential and any proxy in between.';
	return "Check the service account's email and key. If you use a Delegated Email, check that an administrator has allowed these scopes for the account.";
}

function signAssertion({ email, privateKey, delegatedEmail, scope, tokenUrl }: ServiceAccount): string {
	const now = Math.floor(Date.now() / 1000);
	const claims = {
		iss: email.trim(),
		scope,
		aud: tokenUrl,
		iat: now,
		exp: now + lifetimeSeconds,
		...(delegatedEmail.trim() !== '' && { sub: delegatedEmail.trim() }),
	};
	const content = `${encodeBase64Url({ alg: 'RS256', typ: 'JWT' })}.${encodeBase64Url(claims)}`;
	try {
		const signature = createSign('RSA-SHA256').update(content).sign(formatPem(privateKey), 'base64url');
		return `${content}.${signature}`;
	} catch {
		// OpenSSL's message does not help the user, and the key must not get into an error.
		throw createRefusal(
			'The private key of the service account cannot be read',
			'Paste the full value of private_key from the JSON file, from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----.',
		);
	}
}

/** Line breaks copied from the JSON file are the two characters `\n`; a single-line field turns them into spaces. */
function formatPem(text: string): string {
	const lines = text.trim().replace(/^"|"$/g, '').replaceAll('\\n', '\n');
	const [, label = '', content = ''] = /-----BEGIN ([A-Z ]+)-----([^-]+)-----END/.exec(lines) ?? [];
	return `-----BEGIN ${label}-----\n${content.trim().split(/\s+/).join('\n')}\n-----END ${label}-----\n`;
}

function encodeBase64Url(value: object): string {
	return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Throws an error without a code: of an error with one, n8n's credential form shows only that. The nodes find the failure in `cause`. */
export function throwPlainError(error: unknown): never {
	if (!isNodeError(error)) throw error;
	const { message, description } = error;
	throw new Error(description === undefined ? message : `${message}. ${description}`, { cause: error });
}

/** n8n keeps a token until Google refuses it; this only avoids duplicate requests at the same time. */
const sharedForMilliseconds = 30_000;

/** The last token of each account. */
const tokens = new BoundedMap<string, { readonly token: string; readonly atMilliseconds: number }>();
/** One token request at a time for each account. */
const mutex = new KeyedMutex();

/**
 * Shares one token request among concurrent callers: items that run in parallel all ask at the same time.
 * @param account everything that the token depends on
 * @param refused the token that no longer works; empty if there is none
 */
export async function getSharedToken(account: object, refused: string, fetchToken: () => Promise<string>) {
	const key = createHash('sha256').update(JSON.stringify(account)).digest('base64url');
	return await mutex.run(key, async () => {
		const last = tokens.get(key);
		const isFresh = last !== undefined && Date.now() - last.atMilliseconds < sharedForMilliseconds;
		if (isFresh && last.token !== refused) return last.token;
		const token = await fetchToken();
		tokens.set(key, { token, atMilliseconds: Date.now() });
		return token;
	});
}
