import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { createRefusal, toNodeError, addAdviceToMessage } from '../../core/errors';
import { Sanitizer, findSecrets } from '../../core/sanitizer';
import { sendCredentialTestRequest } from '../../http/attempt';
import { toRequestError } from '../google/errors';
import { fetchAccessToken, type PostForm, readServiceAccount } from '../google/serviceAccount';

/**
 * Tests the service account credential: Google issues a token only for its key, its scopes and the
 * user that it may act for. n8n's helper sends the request, so that n8n's proxies and egress policy
 * apply.
 */
export async function checkServiceAccount(
	helpers: ICredentialTestFunctions['helpers'],
	credential: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const sanitizer = new Sanitizer(findSecrets(credential));
	// A request for a token does not depend on the access to Drive.
	const signIn = { authentication: 'serviceAccount', driveAccess: 'allFiles' } as const;
	const post: PostForm = async (uri, form) => {
		const headers = { 'content-type': 'application/x-www-form-urlencoded' };
		const request = { method: 'POST', uri, headers, body: form.toString() } as const;
		return await sendCredentialTestRequest(helpers, request).catch((error: unknown) => {
			throw toRequestError(error, { api: 'drive', method: 'POST', url: uri, signIn });
		});
	};
	try {
		const account = readServiceAccount(credential);
		if (!URL.canParse(account.tokenUrl))
			throw createRefusal("'Token URL' in the credential is not a valid URL");
		await fetchAccessToken(post, account);
		return { status: 'OK', message: 'Google accepts the service account' };
	} catch (error) {
		// n8n's credential form shows only the message, so the advice is added to it.
		const { message } = addAdviceToMessage(sanitizer.sanitizeError(toNodeError(error)));
		return { status: 'Error', message };
	}
}
