import type { ICredentialTestFunction } from 'n8n-workflow';

/** The tests of both agent credentials, which n8n finds through `testedBy` of the nodes. */
export const credentialTest: Record<
	'agentApiTest' | 'agentSignatureApiTest',
	ICredentialTestFunction
> = {
	async agentApiTest({ data = {} }) {
		const { checkAgentApi } = await import('./agentCredentials');
		return await checkAgentApi(this.helpers, data);
	},
	async agentSignatureApiTest({ data = {} }) {
		const { checkAgentSignatureApi } = await import('./agentCredentials');
		return checkAgentSignatureApi(data);
	},
};
