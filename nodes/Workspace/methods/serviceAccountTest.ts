import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	IHttpRequestMethods,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { createRefusal, toNodeError, addAdviceToMessage } from '../../core/errors';
import { Sanitizer, findSecrets } from '../../core/sanitizer';
import {
	sendCredentialTestRequest,
	type CredentialTestRequest,
	type CredentialTestResponse,
	credentialTestTimeoutSeconds,
} from '../../http/request';
import { apiNames, type FailedCall } from '../google/advice';
import { toRequestError } from '../google/errors';
import { readApiBases, getDriveAccess } from '../google/googleCredential';
import { fetchAccessToken, readServiceAccount } from '../google/serviceAccount';
import { isMailOnly } from '../google/signIn';
import { readGoogleResponse } from '../google/transport';

type Helpers = ICredentialTestFunctions['helpers'];

/**
 * The test of the service account credential: gets a token, and asks Drive who is signed in, which every Drive scope allows; with
 * scopes for mail only, it asks Gmail. All requests go through n8n's helper, which applies proxies and the egress policy.
 */
export async function checkServiceAccount(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const sanitizer = new Sanitizer(findSecrets(credential));
	try {
		const call = buildTestCall(credential);
		const token = await fetchTestToken(helpers, credential, call);
		sanitizer.addSecrets([token]);
		await sendTestCall(helpers, call, token);
		return { status: 'OK', message: `${apiNames[call.api]} accepts the service account` };
	} catch (error) {
		// n8n's form shows the message only.
		return { status: 'Error', message: addAdviceToMessage(sanitizer.cleanError(toNodeError(error))).message };
	}
}

/** The request of the test, and what an error may name. */
function buildTestCall(credential: ICredentialDataDecryptedObject): FailedCall {
	const bases = readApiBases(credential);
	const isMail = isMailOnly(readServiceAccount(credential).scope);
	return {
		api: isMail ? 'mail' : 'drive',
		method: 'GET',
		url: isMail ? `${bases.mail}/users/me/profile?fields=emailAddress` : `${bases.drive}/about?fields=user`,
		signIn: { authentication: 'serviceAccount', driveAccess: getDriveAccess(credential) },
		advice: { 403: 'The test asks for nothing else. Operations of other services may work.' },
	};
}

async function fetchTestToken(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
	call: FailedCall,
): Promise<string> {
	const account = readServiceAccount(credential);
	if (!URL.canParse(account.tokenUrl))
		throw createRefusal("'Token URL' in the credential is not a valid URL");
	const post = async (url: string, form: URLSearchParams) => {
		const headers = { 'content-type': 'application/x-www-form-urlencoded' };
		const more = { headers, body: form.toString() };
		return await sendRequest(helpers, { ...call, method: 'POST', url }, more);
	};
	return await fetchAccessToken(post, account);
}

async function sendTestCall(helpers: Helpers, call: FailedCall, token: string): Promise<void> {
	const response = await sendRequest(helpers, call, { headers: { authorization: `Bearer ${token}` } });
	const signal = AbortSignal.timeout(credentialTestTimeoutSeconds * 1000);
	await readGoogleResponse(response, {}, call, signal).catch(async (error: unknown) => {
		const failure = await toRequestError(error, call);
		const isRefusedForNow = failure.retryable && failure.outcome === 'notDone';
		// A limit has advice about a node's options, which a test does not have.
		throw isRefusedForNow ? failure.with({ description: 'Try again in a minute.' }) : failure;
	});
}

async function sendRequest(
	helpers: Helpers,
	call: FailedCall,
	more: Pick<CredentialTestRequest, 'headers' | 'body'>,
): Promise<CredentialTestResponse> {
	try {
		return await sendCredentialTestRequest(helpers, {
			...more,
			method: call.method as IHttpRequestMethods,
			uri: call.url,
		});
	} catch (error) {
		throw await toRequestError(error, call);
	}
}
