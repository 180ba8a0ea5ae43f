import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { testAgentApi } from './agentApiTest';
import { testSignature } from './signatureTest';

/** Behind the Test button of both agent credentials; n8n asks any node that names them in `testedBy`. */
export const credentialTest = {
	async agentApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		return await testAgentApi(this.helpers, credential.data ?? {});
	},
	async agentSignatureApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		return await Promise.resolve(testSignature(credential.data ?? {}));
	},
};
