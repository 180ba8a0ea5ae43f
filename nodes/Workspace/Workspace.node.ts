import type { IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { searchDocuments } from './listSearch/documents';
import { searchFolders } from './listSearch/folders';
import { picker } from './listSearch/picker';
import { searchSpreadsheets } from './listSearch/spreadsheets';
import { properties } from './properties';
import { run } from './run';

export class Workspace implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Workspace',
		name: 'workspace',
		icon: { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' },
		group: ['transform'],
		version: 1,
		// In JSON mode n8n drops the hidden dropdowns.
		subtitle:
			'={{ $parameter["operation"] ? $parameter["operation"] + ": " + $parameter["resource"] : "JSON" }}',
		description: 'Work with Gmail, Google Sheets, Google Docs and Google Drive',
		defaults: { name: 'Workspace' },
		usableAsTool: true,
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
				displayOptions: { show: { authentication: ['serviceAccount'] } },
			},
		],
		properties,
	};

	methods = {
		listSearch: {
			searchDocuments: picker(searchDocuments),
			searchFolders: picker(searchFolders),
			searchSpreadsheets: picker(searchSpreadsheets),
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await run(this)];
	}
}
