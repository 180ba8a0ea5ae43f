import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	IHttpRequestMethods,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { createRefusal, toNodeError, addAdviceToMessage } from '../../core/errors';
import { Sanitizer, findSecrets } from '../../core/sanitizer';
import { sendCredentialTestRequest, credentialTestTimeoutSeconds } from '../../http/attempt';
import type { CredentialTestRequest } from '../../http/attempt';
import type { RequestFacts } from '../google/advice';
import { apiNames } from '../google/endpoints';
import { toRequestError } from '../google/errors';
import { readApiBases } from '../google/googleCredential';
import { getDriveAccess, isMailOnly } from '../google/scopes';
import { fetchAccessToken, type PostForm, readServiceAccount } from '../google/serviceAccount';
import { readGoogleResponse } from '../google/transport';

type Helpers = ICredentialTestFunctions['helpers'];

/**
 * Tests the service account credential. Fetches a token, then asks Drive who is signed in, which every scope of Drive allows. If all scopes
 * are for mail, asks Gmail instead. n8n's helper sends all requests, so that n8n's proxies and egress policy apply.
 */
export async function checkServiceAccount(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const sanitizer = new Sanitizer(findSecrets(credential));
	try {
		const request = buildTestRequest(credential);
		const token = await fetchToken(helpers, credential, request);
		sanitizer.addSecrets([token]);
		await askWhoIsSignedIn(helpers, request, token);
		return { status: 'OK', message: `${apiNames[request.api]} accepts the service account` };
	} catch (error) {
		// n8n's credential form shows only the message, so the advice is added to it.
		const { message } = addAdviceToMessage(sanitizer.sanitizeError(toNodeError(error)));
		return { status: 'Error', message };
	}
}

async function fetchToken(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
	request: RequestFacts,
): Promise<string> {
	const account = readServiceAccount(credential);
	if (!URL.canParse(account.tokenUrl))
		throw createRefusal("'Token URL' in the credential is not a valid URL");
	const headers = { 'content-type': 'application/x-www-form-urlencoded' };
	const post: PostForm = async (url, form) => {
		const tokenRequest = { ...request, method: 'POST', url };
		return await send(helpers, tokenRequest, { headers, body: form.toString() });
	};
	return await fetchAccessToken(post, account);
}

async function askWhoIsSignedIn(helpers: Helpers, request: RequestFacts, token: string) {
	const headers = { authorization: `Bearer ${token}` };
	const response = await send(helpers, request, { headers });
	const signal = AbortSignal.timeout(credentialTestTimeoutSeconds * 1000);
	try {
		await readGoogleResponse(response, {}, request, signal);
	} catch (error) {
		const failure = await toRequestError(error, request);
		const isRefusedForNow = failure.retryable && failure.outcome === 'notDone';
		// The usual advice for a rate limit names an option of the node. A credential test has no options.
		throw isRefusedForNow ? failure.with({ description: 'Try again in a minute.' }) : failure;
	}
}

/** Builds the request of the test. Its errors are explained with the same facts. */
function buildTestRequest(credential: ICredentialDataDecryptedObject): RequestFacts {
	const bases = readApiBases(credential);
	const isMail = isMailOnly(readServiceAccount(credential).scope);
	return {
		api: isMail ? 'mail' : 'drive',
		method: 'GET',
		url: isMail
			? `${bases.mail}/users/me/profile?fields=emailAddress`
			: `${bases.drive}/about?fields=user`,
		signIn: { authentication: 'serviceAccount', driveAccess: getDriveAccess(credential) },
	};
}

async function send(
	helpers: Helpers,
	request: RequestFacts,
	options: Omit<CredentialTestRequest, 'uri'>,
) {
	const testRequest = {
		...options,
		method: request.method as IHttpRequestMethods,
		uri: request.url,
	};
	return await sendCredentialTestRequest(helpers, testRequest).catch(async (error: unknown) => {
		throw await toRequestError(error, request);
	});
}
