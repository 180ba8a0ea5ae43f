import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import { Workspace } from '../../nodes/Workspace/Workspace.node';
import {
	createExecuteContext,
	createToolCall,
	type ContextOptions,
	loadBinaryData,
} from '../createExecuteContext';

import { basesAt } from './client';

export interface RunOptions {
	/** Stand-in without a trailing slash. */
	readonly url: string;
	readonly parameters: IDataObject;
	readonly items?: INodeExecutionData[];
	readonly node?: Partial<INode>;
	readonly credential?: IDataObject;
	readonly signal?: AbortSignal;
	readonly executionId?: string;
}

export const token = 'canary-access-token';

/** The whole node in n8n's own execute context, with n8n's own HTTP helper and a bearer token. */
export function createNodeContext(options: RunOptions) {
	return createExecuteContext(optionsOf(options));
}

/** The whole node as a tool of an AI agent. */
export function createNodeTool(options: RunOptions) {
	const nodeType = new Workspace();
	// As n8n names the variant of a node that is a tool; it shows some fields only there.
	nodeType.description.name += 'Tool';
	return createToolCall({ ...optionsOf(options), nodeType });
}

function optionsOf({
	url,
	parameters,
	items,
	node,
	credential,
	signal,
	executionId,
}: RunOptions): ContextOptions {
	const bases = basesAt(url);
	return {
		nodeType: new Workspace(),
		credentials: {
			workspaceOAuth2Api: {
				driveAccess: 'appFiles',
				oauthTokenData: { access_token: token },
				customEndpoints: true,
				mailApiBase: bases.mail,
				sheetsApiBase: bases.sheets,
				docsApiBase: bases.docs,
				driveApiBase: bases.drive,
				...credential,
			},
		},
		authenticate: { workspaceOAuth2Api: { Authorization: `Bearer ${token}` } },
		parameters: { authentication: 'oAuth2', inputMode: 'fields', ...parameters },
		items,
		node,
		signal,
		executionId,
	};
}

export async function runNode(options: RunOptions): Promise<INodeExecutionData[]> {
	const [items = []] = await new Workspace().execute.call(createNodeContext(options));
	return await loadBinaryData(items);
}
