import {
	type ICredentialsDecrypted,
	type ICredentialTestFunctions,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	NodeConnectionTypes,
} from 'n8n-workflow';

import type { pickerLists } from './methods/pickerLists';
import { builderPatterns } from './builderPatterns';
import { properties } from './properties';

export class Workspace implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Workspace',
		name: 'workspace',
		icon: { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' },
		group: ['transform'],
		version: 1,
		// In JSON mode, the dropdowns are hidden, and n8n drops the values of hidden fields.
		subtitle:
			'={{ $parameter["operation"] ? $parameter["operation"] + ": " + $parameter["resource"] : "JSON" }}',
		description: 'Work with Gmail, Google Sheets, Google Docs and Google Drive',
		defaults: { name: 'Workspace' },
		usableAsTool: true,
		builderHint: {
			searchHint:
				'One node and one sign-in for emails (send, list, search, read), spreadsheets and documents (create, read, write, append) and uploads to Google Drive. Works for any mix of Gmail, Google Sheets, Google Docs and Google Drive. Sends, appends and uploads never happen twice.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-agent-workspace.agentExecute',
					relationHint: 'Starts an agent whose answer this node emails or stores',
				},
				{
					nodeType: 'n8n-nodes-base.scheduleTrigger',
					relationHint: 'Starts a digest or a check for new emails on a schedule',
				},
				{
					nodeType: 'n8n-nodes-base.removeDuplicates',
					relationHint:
						'Keeps only emails that no earlier execution has processed, by ID',
				},
			],
			extraTypeDefContent: builderPatterns,
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'workspaceOAuth2Api',
				required: true,
				displayOptions: { show: { authentication: ['oAuth2'] } },
			},
			{
				name: 'workspaceServiceAccountApi',
				required: true,
				testedBy: 'serviceAccountTest',
				displayOptions: { show: { authentication: ['serviceAccount'] } },
			},
		],
		properties,
	};

	methods = {
		credentialTest: {
			async serviceAccountTest(
				this: ICredentialTestFunctions,
				{ data }: ICredentialsDecrypted,
			) {
				const { checkServiceAccount } = await import('./methods/checkServiceAccount');
				return await checkServiceAccount(this.helpers, data ?? {});
			},
		},
		resourceMapping: { headerColumns: loadOnFirstUse((lists) => lists.headerColumns) },
		loadOptions: {
			getColumns: loadOnFirstUse((lists) => lists.getColumns),
			getLabels: loadOnFirstUse((lists) => lists.getLabels),
			getMatchColumns: loadOnFirstUse((lists) => lists.getMatchColumns),
		},
		listSearch: {
			searchDocuments: loadOnFirstUse((lists) => lists.searchDocuments),
			searchDocumentTabs: loadOnFirstUse((lists) => lists.searchDocumentTabs),
			searchHeadings: loadOnFirstUse((lists) => lists.searchHeadings),
			searchFolders: loadOnFirstUse((lists) => lists.searchFolders),
			searchSpreadsheets: loadOnFirstUse((lists) => lists.searchSpreadsheets),
			searchTabs: loadOnFirstUse((lists) => lists.searchTabs),
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { runWorkspace } = await import('./runner/runWorkspace');
		return [await runWorkspace(this)];
	}
}

/**
 * Builds a method that n8n calls for a list of the form. The code of all lists is loaded when the
 * first list is opened.
 */
function loadOnFirstUse<Args extends unknown[], List>(
	choose: (
		lists: typeof pickerLists,
	) => (context: ILoadOptionsFunctions, ...args: Args) => Promise<List>,
) {
	return async function (this: ILoadOptionsFunctions, ...args: Args): Promise<List> {
		const { pickerLists: lists } = await import('./methods/pickerLists');
		return await choose(lists)(this, ...args);
	};
}
