import { httpRequestWithAuthentication } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/authentication';
import type {
	IAllExecuteFunctions,
	IHttpRequestOptions,
	INode,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

import type { FullResponse, RequestSender } from '../../nodes/http/attempt';

export const node: INode = {
	id: 'workspace',
	name: 'Workspace',
	type: 'n8n-nodes-agent-workspace.workspace',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
	credentials: { workspaceOAuth2Api: { id: 'credential-1', name: 'My Google' } },
};

const none: unknown = {};
/** A workflow that a request's code passes on but never reads. */
export const noWorkflow = none as Workflow;

/** n8n's own `httpRequestWithAuthentication`. Only the credential store around it is ours. */
export function senderWith(
	type: string,
	context: object,
	additionalData: IWorkflowExecuteAdditionalData,
): RequestSender {
	return async (request) =>
		(await httpRequestWithAuthentication.call(
			context as IAllExecuteFunctions,
			type,
			request,
			noWorkflow,
			node,
			additionalData,
		)) as FullResponse;
}

/** Sends with a credential that puts a bearer token on each request. */
export function n8nSender(token: string): RequestSender {
	const context = {
		getNode: () => node,
		getCredentials: () => Promise.resolve({ token }),
		helpers: {},
		logger: console,
	};
	const additionalData: unknown = { credentialsHelper: bearer };
	return senderWith('bearer', context, additionalData as IWorkflowExecuteAdditionalData);
}

/** The part of n8n's CredentialsHelper that the request helper asks. */
const bearer = {
	getParentTypes: () => [],
	preAuthentication: () => Promise.resolve(undefined),
	authenticate: (
		{ token }: { readonly token: string },
		_type: string,
		request: IHttpRequestOptions,
	) =>
		Promise.resolve({
			...request,
			headers: { ...request.headers, Authorization: `Bearer ${token}` },
		}),
};
