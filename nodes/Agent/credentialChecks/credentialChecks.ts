import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { checkAgentApi } from './agentApiCheck';
import { checkSignature } from './signatureCheck';

/** Behind the Test button of both agent credentials; n8n asks any node that names them in `testedBy`. */
export const credentialTest = {
	async agentApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		return await checkAgentApi(this.helpers, credential.data ?? {});
	},
	async agentSignatureApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		return await Promise.resolve(checkSignature(credential.data ?? {}));
	},
};
