import type { INodeProperties } from 'n8n-workflow';

import { googleTokenUrl } from '../../nodes/Workspace/google/signIn';

const prefix = 'https://www.googleapis.com/auth/';
const always = ['gmail.send', 'gmail.readonly', 'spreadsheets', 'documents'].map((name) => prefix + name);

function scopesWith(drive: string): string {
	return [...always, prefix + drive].join(' ');
}

/** The requested scopes: the user's own list, or the narrowest ones for the 13 operations with the chosen Drive access. */
export const scopeExpression = `={{$self["customScopes"] ? $self["enabledScopes"] : $self["driveAccess"] === "allFiles" ? "${scopesWith('drive')}" : "${scopesWith('drive.file')}"}}`;

export const scopeFields: INodeProperties[] = [
	{
		displayName: 'Drive Access',
		name: 'driveAccess',
		type: 'options',
		options: [
			{ name: 'App Files', value: 'appFiles', description: 'Only files created or opened with this app' },
			{ name: 'All Files', value: 'allFiles', description: 'All files of the account' },
		],
		default: 'appFiles',
		description: 'Which files in Google Drive the nodes can access. Reconnect after changing this.',
		displayOptions: { show: { customScopes: [false] } },
	},
	{
		displayName:
			'App Files limits Drive only: lists, folders and uploads show only files created or opened with this app. Spreadsheets and documents that you can open still work by URL or ID.',
		name: 'driveAccessNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { customScopes: [false], driveAccess: ['appFiles'] } },
	},
	{
		displayName: 'Custom Scopes',
		name: 'customScopes',
		type: 'boolean',
		default: false,
		description: 'Whether to choose the scopes yourself',
	},
	{
		displayName:
			'An operation fails if its scope is missing here; the error names the scope. The credential test needs a Drive scope or a Gmail scope that can read. Without either it fails, although other operations may work.',
		name: 'customScopesNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { customScopes: [true] } },
	},
	{
		displayName: 'Enabled Scopes',
		name: 'enabledScopes',
		type: 'string',
		default: scopesWith('drive.file'),
		description: 'Scopes to request from Google, separated by spaces',
		displayOptions: { show: { customScopes: [true] } },
	},
];

const shownForEndpoints = { show: { customEndpoints: [true] } };

/** Google's own sign-in addresses. */
export const googleAuthorizationUrl = 'https://accounts.google.com/o/oauth2/v2/auth';

function endpoint(displayName: string, name: string, address: string, description: string): INodeProperties {
	return {
		displayName,
		name,
		type: 'string',
		default: address,
		description: `${description}. Leave empty to use Google's own.`,
		displayOptions: shownForEndpoints,
	};
}

export const endpointFields: INodeProperties[] = [
	{
		displayName: 'Custom Endpoints',
		name: 'customEndpoints',
		type: 'boolean',
		default: false,
		description:
			"Whether to reach the APIs at other addresses than Google's own, for example through a gateway",
	},
	endpoint(
		'Mail API Base',
		'mailApiBase',
		'https://gmail.googleapis.com/gmail/v1',
		'Address of the Gmail API, including its version',
	),
	endpoint(
		'Sheets API Base',
		'sheetsApiBase',
		'https://sheets.googleapis.com/v4/spreadsheets',
		'Address of the Google Sheets API, including its version',
	),
	endpoint(
		'Docs API Base',
		'docsApiBase',
		'https://docs.googleapis.com/v1/documents',
		'Address of the Google Docs API, including its version',
	),
	endpoint(
		'Drive API Base',
		'driveApiBase',
		'https://www.googleapis.com/drive/v3',
		'Address of the Google Drive API, including its version',
	),
];

export const authorizationUrlField = endpoint(
	'Authorization URL',
	'authorizationUrl',
	googleAuthorizationUrl,
	'Page where the user grants access',
);

export const tokenUrlField = endpoint('Token URL', 'tokenUrl', googleTokenUrl, 'Address that issues tokens');
