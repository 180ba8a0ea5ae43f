import { httpRequestWithAuthentication } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/authentication';
import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IHttpRequestOptions,
	INode,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

import type { FullResponse, RequestSender } from '../../nodes/http/attempt';

const node: INode = {
	id: 'workspace',
	name: 'Workspace',
	type: 'n8n-nodes-agent-workspace.workspace',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** A workflow that a request's code passes on but never reads. */
const noWorkflow: unknown = {};

/**
 * n8n's own `httpRequestWithAuthentication` with a credential that puts a bearer token on each request. Only the
 * credential store around it is ours.
 */
export function n8nSender(token: string): RequestSender {
	const context = {
		getNode: () => node,
		getCredentials: () => Promise.resolve<ICredentialDataDecryptedObject>({ token }),
		helpers: {},
		logger: console,
	};
	const additionalData = { credentialsHelper: bearer };
	return async (request) =>
		(await httpRequestWithAuthentication.call(
			context as unknown as IAllExecuteFunctions,
			'bearer',
			request,
			noWorkflow as Workflow,
			node,
			additionalData as unknown as IWorkflowExecuteAdditionalData,
		)) as FullResponse;
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
