import { httpRequestWithAuthentication } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/authentication';
import { getRequestHelperFunctions } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helper-functions';
import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

import type { FullResponse, RequestSender } from '../../nodes/http/attempt';

const type = 'workspaceOAuth2Api';

const node: INode = {
	id: 'workspace',
	name: 'Workspace',
	type: 'n8n-nodes-agent-workspace.workspace',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
	credentials: { [type]: { id: 'credential-1', name: 'My Google' } },
};

/** A workflow that a request's code passes on but never reads. */
const noWorkflow: unknown = {};

export interface OAuthSender {
	readonly send: RequestSender;
	/** The credential as n8n would have it in its database. */
	readonly stored: { oauthTokenData?: IDataObject };
}

/** n8n's own `httpRequestWithAuthentication` with an OAuth2 credential: n8n signs, refreshes and stores the token. */
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
		helpers: getRequestHelperFunctions(noWorkflow as Workflow, node, additionalData),
		logger: { debug: quiet, warn: quiet, info: quiet, error: quiet },
	} as unknown as IAllExecuteFunctions;
	return {
		stored,
		send: async (request) =>
			(await httpRequestWithAuthentication.call(
				context,
				type,
				request,
				noWorkflow as Workflow,
				node,
				additionalData,
			)) as FullResponse,
	};
}
