import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	IHttpRequestMethods,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { refusal, toNodeError, withAdvice } from '../../core/errors';
import { Sanitizer, secretsIn } from '../../core/sanitizer';
import { testRequest, type TestRequest, type TestResponse, testTimeoutSeconds } from '../../http/request';
import { apiNames, type FailedCall } from '../google/advice';
import { errorOfThrown } from '../google/errors';
import { basesOf, driveAccessOf } from '../google/googleConnection';
import { fetchAccessToken, serviceAccountOf } from '../google/serviceAccount';
import { isMailOnly } from '../google/signIn';
import { answerOf } from '../google/transport';

type Helpers = ICredentialTestFunctions['helpers'];

/**
 * The test of the service account credential: gets a token, and asks Drive who is signed in, which every Drive scope allows; with
 * scopes for mail only, it asks Gmail. All requests go through n8n's helper, which applies proxies and the egress policy.
 */
export async function checkServiceAccount(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const sanitizer = new Sanitizer(secretsIn(credential));
	try {
		const call = callOf(credential);
		const token = await tokenOf(helpers, credential, call);
		sanitizer.learn([token]);
		await ask(helpers, call, token);
		return { status: 'OK', message: `${apiNames[call.api]} accepts the service account` };
	} catch (error) {
		// n8n's form shows the message only.
		return { status: 'Error', message: withAdvice(sanitizer.error(toNodeError(error))).message };
	}
}

/** The request of the test, and what an error may name. */
function callOf(credential: ICredentialDataDecryptedObject): FailedCall {
	const bases = basesOf(credential);
	const isMail = isMailOnly(serviceAccountOf(credential).scope);
	return {
		api: isMail ? 'mail' : 'drive',
		method: 'GET',
		url: isMail ? `${bases.mail}/users/me/profile?fields=emailAddress` : `${bases.drive}/about?fields=user`,
		signIn: { authentication: 'serviceAccount', driveAccess: driveAccessOf(credential) },
		advice: { 403: 'The test asks for nothing else. Operations of other services may work.' },
	};
}

async function tokenOf(
	helpers: Helpers,
	credential: ICredentialDataDecryptedObject,
	call: FailedCall,
): Promise<string> {
	const account = serviceAccountOf(credential);
	if (!URL.canParse(account.tokenUrl)) throw refusal("'Token URL' in the credential is not a valid URL");
	const post = async (url: string, form: URLSearchParams) => {
		const headers = { 'content-type': 'application/x-www-form-urlencoded' };
		const more = { headers, body: form.toString() };
		return await request(helpers, { ...call, method: 'POST', url }, more);
	};
	return await fetchAccessToken(post, account);
}

async function ask(helpers: Helpers, call: FailedCall, token: string): Promise<void> {
	const response = await request(helpers, call, { headers: { authorization: `Bearer ${token}` } });
	const signal = AbortSignal.timeout(testTimeoutSeconds * 1000);
	await answerOf(response, {}, call, signal).catch(async (error: unknown) => {
		const { kind, failure } = await errorOfThrown(error, call);
		// The advice about limits names options of the node, which the credential does not have.
		throw kind === 'notDone' ? failure.with({ description: 'Try again in a minute.' }) : failure;
	});
}

async function request(
	helpers: Helpers,
	call: FailedCall,
	more: Pick<TestRequest, 'headers' | 'body'>,
): Promise<TestResponse> {
	try {
		return await testRequest(helpers, { ...more, method: call.method as IHttpRequestMethods, uri: call.url });
	} catch (error) {
		throw (await errorOfThrown(error, call)).failure;
	}
}
