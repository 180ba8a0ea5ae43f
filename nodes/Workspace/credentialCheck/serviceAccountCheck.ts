import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	IHttpRequestMethods,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { asFailure, withAdvice } from '../../items/errorItem';
import { Failure, refusal } from '../../items/failure';
import { secretsIn } from '../../items/secrets/credentialSecrets';
import { Sanitizer } from '../../items/secrets/sanitizer';
import { apiNames } from '../google/advice';
import { basesOf } from '../google/bases';
import { driveAccessOf } from '../google/connection';
import { faultOfAnswer } from '../google/errors';
import type { FailedCall } from '../google/failedCall';
import { fetchAccessToken, serviceAccountOf } from '../google/serviceAccountToken';
import { isMailOnly } from '../google/signIn';
import { faultOfThrown } from '../google/thrown';

type Helpers = ICredentialTestFunctions['helpers'];

interface Response {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, unknown>>;
	readonly body: unknown;
}

/** How long Google may take to respond. */
const timeoutMilliseconds = 15_000;

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
		return { status: 'Error', message: withAdvice(sanitizer.failure(asFailure(error))).message };
	}
}

/** The request of the test, and what an error may name. */
function callOf(credential: ICredentialDataDecryptedObject): FailedCall {
	const bases = basesOf(credential);
	const signIn = { authentication: 'serviceAccount', driveAccess: driveAccessOf(credential) } as const;
	const shared = {
		method: 'GET',
		signIn,
		advice: { 403: 'The test asks for nothing else. Operations of other services may work.' },
	};
	return isMailOnly(serviceAccountOf(credential).scope)
		? {
				...shared,
				api: 'mail',
				url: `${bases.mail}/users/me/profile?fields=emailAddress`,
				methods: { 'gmail.users.getProfile': 'gmail.readonly' },
			}
		: {
				...shared,
				api: 'drive',
				url: `${bases.drive}/about?fields=user`,
				methods: { 'drive.about.get': 'drive.file' },
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
		const { statusCode, body } = await request(helpers, { ...call, method: 'POST', url }, more);
		return { statusCode, body: parsed(body) };
	};
	return await fetchAccessToken(post, account, Math.floor(Date.now() / 1000));
}

async function ask(helpers: Helpers, call: FailedCall, token: string): Promise<void> {
	const response = await request(helpers, call, { headers: { authorization: `Bearer ${token}` } });
	const { statusCode: status, headers, body } = response;
	if (status < 200 || status > 299) {
		const { kind, failure } = faultOfAnswer({ status, headers, body: bytesOf(body) }, call);
		// What a node can do about a limit, its options say.
		throw kind === 'notDone' ? failure.with({ description: 'Try again in a minute.' }) : failure;
	}
	if (typeof parsed(body) === 'object') return;
	throw new Failure({
		code: 502,
		message: `${apiNames[call.api]} returned a response that is not JSON`,
		description: 'Check the API bases in the credential and any proxy in between.',
	});
}

async function request(helpers: Helpers, call: FailedCall, more: object): Promise<Response> {
	const options = {
		...more,
		method: call.method as IHttpRequestMethods,
		uri: call.url,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		timeout: timeoutMilliseconds,
	};
	try {
		return (await helpers.request(options)) as Response;
	} catch (error) {
		throw (await faultOfThrown(error, call)).failure;
	}
}

/** n8n's helper parses some answers itself. */
function parsed(body: unknown): unknown {
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body) as unknown;
	} catch {
		// A page of a proxy, or nothing: the caller goes by the status.
		return undefined;
	}
}

function bytesOf(body: unknown): Buffer {
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? null));
}
