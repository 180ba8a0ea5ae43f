import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

/** Behind the Test button of both agent credentials; n8n asks any node that names them in `testedBy`. */
export const credentialTest = {
	async agentApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		const { checkAgentApi } = await import('./agentCredentials');
		return await checkAgentApi(this.helpers, credential.data ?? {});
	},
	async agentSignatureApiTest(
		this: ICredentialTestFunctions,
		credential: ICredentialsDecrypted,
	): Promise<INodeCredentialTestResult> {
		const { checkSignature } = await import('./agentCredentials');
		return checkSignature(credential.data ?? {});
	},
};
