import type { ICredentialTestFunction } from 'n8n-workflow';

/** Behind the Test button of both agent credentials; n8n asks any node that names them in `testedBy`. */
export const credentialTest: Record<'agentApiTest' | 'agentSignatureApiTest', ICredentialTestFunction> = {
	async agentApiTest({ data = {} }) {
		const { checkAgentApi } = await import('./agentCredentials');
		return await checkAgentApi(this.helpers, data);
	},
	async agentSignatureApiTest({ data = {} }) {
		const { checkSignature } = await import('./agentCredentials');
		return checkSignature(data);
	},
};
