import { getRequestHelperFunctions } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helper-functions';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import type { RequestSender } from '../../nodes/http/attempt';
import { node, noWorkflow, senderWith } from './n8nSender';

export interface OAuthSender {
	readonly send: RequestSender;
	/** The credential as n8n would have it in its database. */
	readonly stored: { oauthTokenData?: IDataObject };
}

/** Sends with an OAuth2 credential: n8n signs, refreshes and stores the token. */
export function oAuthSender(tokenUrl: string, oauthTokenData?: IDataObject): OAuthSender {
	const stored: ICredentialDataDecryptedObject & { oauthTokenData?: IDataObject } = {
		grantType: 'authorizationCode',
		clientId: 'client-1',
		clientSecret: 'canary-client-secret',
		accessTokenUrl: tokenUrl,
		authentication: 'body',
		...(oauthTokenData && { oauthTokenData }),
	};
	const credentialsHelper = {
		getParentTypes: () => ['googleOAuth2Api', 'oAuth2Api'],
		getDecrypted: () => Promise.resolve({ ...stored }),
		runPreAuthentication: () => Promise.resolve(undefined),
		updateCredentialsOauthTokenData: (_node: unknown, _type: string, data: typeof stored) => {
			stored.oauthTokenData = data.oauthTokenData;
			return Promise.resolve();
		},
	};
	const additionalData = { credentialsHelper } as unknown as IWorkflowExecuteAdditionalData;
	const quiet = () => undefined;
	const context = {
		getNode: () => node,
		getMode: () => 'manual',
		getCredentials: () => Promise.resolve({ ...stored }),
		helpers: getRequestHelperFunctions(noWorkflow, node, additionalData),
		logger: { debug: quiet, warn: quiet, info: quiet, error: quiet },
	};
	return { stored, send: senderWith('workspaceOAuth2Api', context, additionalData) };
}
