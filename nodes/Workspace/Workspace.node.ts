import type { IExecuteFunctions, INodeExecutionData, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { inChosenSpreadsheet } from './listSearch/chosenSpreadsheet';
import { searchDocuments } from './listSearch/documents';
import { searchFolders } from './listSearch/folders';
import { headerColumns, noColumns } from './listSearch/headerColumns';
import { labelChoices } from './listSearch/labels';
import { chooser, picker } from './listSearch/picker';
import { searchSpreadsheets } from './listSearch/spreadsheets';
import { searchTabs } from './listSearch/tabs';
import { properties } from './properties';
import { run } from './runner/run';

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
					relationHint: 'Keeps only emails that no earlier execution has processed, by ID',
				},
			],
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
				displayOptions: { show: { authentication: ['serviceAccount'] } },
			},
		],
		properties,
	};

	methods = {
		resourceMapping: {
			headerColumns: inChosenSpreadsheet(headerColumns, () => noColumns('Choose the spreadsheet first.')),
		},
		loadOptions: { getLabels: chooser(labelChoices) },
		listSearch: {
			searchDocuments: picker(searchDocuments),
			searchFolders: picker(searchFolders),
			searchSpreadsheets: picker(searchSpreadsheets),
			searchTabs: inChosenSpreadsheet(searchTabs, () => ({ results: [] })),
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [await run(this)];
	}
}
