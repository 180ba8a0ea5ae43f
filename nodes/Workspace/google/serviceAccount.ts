import { createHash, createSign } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { addAdviceToMessage, isNodeError, NodeError, createRefusal } from '../../core/errors';
import { tryParseJson, readBodyStart } from '../../http/body';
import { classifyStatus, getProperty } from '../../http/networkErrors';
import { getReconnectAdvice } from './advice';
import { googleTokenUrl } from './endpoints';

/** How long an assertion is valid. Google allows one hour at most. */
const lifetimeSeconds = 3600;

type ServiceAccount = ReturnType<typeof readServiceAccount>;

export function readServiceAccount(credential: ICredentialDataDecryptedObject) {
	const readText = (name: string) => {
		const value = credential[name];
		return typeof value === 'string' ? value.trim() : '';
	};
	return {
		email: readText('email'),
		privateKey: readText('privateKey'),
		/**
		 * The user for whom the account acts, if an administrator has allowed it. Empty if the
		 * account acts for itself.
		 */
		delegatedEmail: readText('delegatedEmail'),
		/** Separated by spaces. */
		scope: readText('scope'),
		tokenUrl: readText('tokenUrl') || googleTokenUrl,
	};
}

/** Hashes all that a token depends on. */
export const hashAccount = (credential: ICredentialDataDecryptedObject) =>
	createHash('sha256')
		.update(JSON.stringify(readServiceAccount(credential)))
		.digest('base64');

/** Sends a form. It follows no redirect. Every HTTP status is returned, and none is thrown. */
export type PostForm = (
	url: string,
	form: URLSearchParams,
) => Promise<{ readonly statusCode: number; readonly body: Readable }>;

const bodyTimeoutMilliseconds = 15_000;

/**
 * Fetches an access token (RFC 7523).
 * @throws NodeError 400 if the key is unreadable, 401 if Google refuses, 503 if Google fails
 */
export async function fetchAccessToken(post: PostForm, account: ServiceAccount): Promise<string> {
	const form = new URLSearchParams({
		grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
		assertion: signAssertion(account),
	});
	const { statusCode, body } = await post(account.tokenUrl, form);
	// Of an answer that is cut off or too long, only the beginning is read, which is no JSON.
	const responseJson = tryParseJson(await readBodyStart(body, bodyTimeoutMilliseconds));
	const token = getProperty(responseJson, 'access_token');
	if (statusCode === 200 && typeof token === 'string' && token !== '') return token;
	const errorTexts = ['error', 'error_description']
		.map((name) => getProperty(responseJson, name))
		.filter((text) => typeof text === 'string');
	// A success without a token was cut off.
	const mayPass = statusCode === 200 || classifyStatus(statusCode).retryable;
	const reason = errorTexts.join(': ') || `HTTP ${statusCode}`;
	throw new NodeError({
		code: mayPass ? 503 : 401,
		message: `Google did not issue a token for the service account (${reason})`,
		description: findTokenAdvice(statusCode, errorTexts, account),
	});
}

function findTokenAdvice(
	statusCode: number,
	errorTexts: readonly string[],
	{ scope }: ServiceAccount,
): string {
	// Reported in googleapis/google-api-php-client#2214.
	if (errorTexts.includes('unauthorized_client'))
		return `An administrator has to allow this: in the Admin console, Security > Access and data control > API controls > Domain-wide delegation, add the service account's client ID with these scopes: ${scope.split(' ').join(', ')}. A change can take a day. Without delegation, leave Delegated Email empty.`;
	if (errorTexts.includes('invalid_scope'))
		return "Check 'Enabled Scopes' in the credential: complete addresses, separated by spaces.";
	// Reported in googleapis/google-auth-library-nodejs#129.
	if (errorTexts.join().includes('reasonable timeframe'))
		return 'Set the clock of the machine that n8n runs on: Google does not accept its time.';
	if (classifyStatus(statusCode).retryable) return 'Try again later.';
	// A token endpoint never responds with these statuses, so the response comes from something
	// else.
	if (statusCode < 400 || statusCode === 404)
		return 'Check the Token URL in the credential and any proxy in between, then try again.';
	return getReconnectAdvice({ authentication: 'serviceAccount' });
}

function signAssertion({
	email,
	privateKey,
	delegatedEmail,
	scope,
	tokenUrl,
}: ServiceAccount): string {
	const now = Math.floor(Date.now() / 1000);
	const claims = {
		iss: email,
		scope,
		aud: tokenUrl,
		iat: now,
		exp: now + lifetimeSeconds,
		// Undefined is left out of the JSON.
		sub: delegatedEmail || undefined,
	};
	const content = `${encodeBase64Url({ alg: 'RS256', typ: 'JWT' })}.${encodeBase64Url(claims)}`;
	try {
		const signature = createSign('RSA-SHA256')
			.update(content)
			.sign(formatPem(privateKey), 'base64url');
		return `${content}.${signature}`;
	} catch {
		// OpenSSL's error is dropped, because it does not help the user and could contain the key.
		throw createRefusal(
			'The private key of the service account cannot be read',
			'Paste the full value of private_key from the JSON file, from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----.',
		);
	}
}

/**
 * Restores the line breaks of a key. The JSON file has the two characters `\n` in their place, and
 * a single-line field has spaces.
 */
function formatPem(text: string): string {
	const pemText = text.replace(/^"|"$/g, '').replaceAll(/\\+[nr]/g, '\n');
	const [, label = '', content = ''] =
		/-----BEGIN ([A-Z ]+)-----([^-]+)-----END/.exec(pemText) ?? [];
	return `-----BEGIN ${label}-----\n${content.trim().split(/\s+/).join('\n')}\n-----END ${label}-----\n`;
}

const encodeBase64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Throws a failure as an error without a code, because n8n's credential form would show only the
 * code. The nodes read the failure in `cause`.
 */
export function throwPlainError(error: unknown): never {
	if (!isNodeError(error)) throw error;
	throw new Error(addAdviceToMessage(error).message, { cause: error });
}
