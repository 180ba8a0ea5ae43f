import type { ICredentialTestRequest, INodeProperties } from 'n8n-workflow';

const prefix = 'https://www.googleapis.com/auth/';
const always = ['gmail.send', 'gmail.readonly', 'spreadsheets', 'documents'].map((name) => prefix + name);

function scopesWith(drive: string): string {
	return [...always, prefix + drive].join(' ');
}

/** What is asked for: the user's own list, or the narrowest scopes of the 13 operations with the chosen access to Drive. */
export const scopeExpression = `={{$self["customScopes"] ? $self["enabledScopes"] : $self["driveAccess"] === "allFiles" ? "${scopesWith('drive')}" : "${scopesWith('drive.file')}"}}`;

export const scopeFields: INodeProperties[] = [
	{
		displayName: 'Drive Access',
		name: 'driveAccess',
		type: 'options',
		options: [
			{ name: 'App Files', value: 'appFiles', description: 'Only files that this app made or was given' },
			{ name: 'All Files', value: 'allFiles', description: 'All files of the account' },
		],
		default: 'appFiles',
		description: 'Which files in Google Drive the nodes may see. Reconnect after changing it.',
		displayOptions: { show: { customScopes: [false] } },
	},
	{
		displayName:
			'App Files limits Drive alone: lists, folders and uploads show only what this app made or was given. Spreadsheets and documents that you can open are reached by URL or ID all the same.',
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
		description: 'Whether to ask for scopes of your own choice',
	},
	{
		displayName:
			'An operation whose scope is missing here fails and names it. Scopes are separated by spaces. The test of the credential needs a scope of Drive or one that reads mails: without both it fails with "Forbidden", though other operations may work.',
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
		description: 'Scopes to ask Google for, separated by spaces',
		displayOptions: { show: { customScopes: [true] } },
	},
];

const shownForEndpoints = { show: { customEndpoints: [true] } };

/** Google's own addresses of the sign-in. */
export const googleAuthorizationUrl = 'https://accounts.google.com/o/oauth2/v2/auth';
export const googleTokenUrl = 'https://oauth2.googleapis.com/token';

function endpoint(displayName: string, name: string, address: string, description: string): INodeProperties {
	return {
		displayName,
		name,
		type: 'string',
		default: address,
		description: `${description}. Empty means Google's own.`,
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
			"Whether to reach the APIs elsewhere than at Google's own addresses, for instance at a gateway",
	},
	endpoint(
		'Mail API Base',
		'mailApiBase',
		'https://gmail.googleapis.com/gmail/v1',
		'Address of the Gmail API with its version',
	),
	endpoint(
		'Sheets API Base',
		'sheetsApiBase',
		'https://sheets.googleapis.com/v4/spreadsheets',
		'Address of the Google Sheets API with its version',
	),
	endpoint(
		'Docs API Base',
		'docsApiBase',
		'https://docs.googleapis.com/v1/documents',
		'Address of the Google Docs API with its version',
	),
	endpoint(
		'Drive API Base',
		'driveApiBase',
		'https://www.googleapis.com/drive/v3',
		'Address of the Google Drive API with its version',
	),
];

export const authorizationUrlField = endpoint(
	'Authorization URL',
	'authorizationUrl',
	googleAuthorizationUrl,
	'Page where the user gives consent',
);

export const tokenUrlField = endpoint('Token URL', 'tokenUrl', googleTokenUrl, 'Where tokens are issued');

/** Whether custom scopes leave out Drive, but not the reading of mails. */
const mailOnly = `((scope) => !scope.includes("/auth/drive") && /mail\\.google\\.com|gmail\\.(compose|metadata|modify|readonly)/.test(scope))($credentials.scope || "")`;

const either = (mail: string, drive: string) => `={{ ${mailOnly} ? ${mail} : ${drive} }}`;

/** Asks Drive who is signed in: the narrowest call that every Drive scope allows. Without such a scope it asks Gmail. */
export const credentialTest: ICredentialTestRequest = {
	request: {
		baseURL: either(
			'$credentials.mailApiBase || "https://gmail.googleapis.com/gmail/v1"',
			'$credentials.driveApiBase || "https://www.googleapis.com/drive/v3"',
		),
		url: either('"/users/me/profile"', '"/about"'),
		qs: { fields: either('"emailAddress"', '"user"') },
	},
};
