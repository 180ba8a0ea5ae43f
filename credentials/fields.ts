import type { INodeProperties } from 'n8n-workflow';

import {
	type Api,
	apiNames,
	googleApiBases,
	googleTokenUrl,
} from '../nodes/Workspace/google/endpoints';
import { fileScopes, scopesByChoice } from '../nodes/Workspace/google/scopes';

/**
 * Builds a text field that is optional and empty.
 * @param overrides properties to add or change, such as `required`
 */
export const buildTextField = (
	displayName: string,
	name: string,
	overrides: Partial<INodeProperties>,
): INodeProperties => ({ displayName, name, type: 'string', default: '', ...overrides });

export const buildNotice = (name: string, text: string): INodeProperties => {
	return { displayName: text, name, type: 'notice', default: '' };
};

/** Builds a dropdown. @param choices each with its label, its value and its description */
const buildAccessField = (
	displayName: string,
	name: string,
	defaultChoice: string,
	description: string,
	choices: Array<[string, keyof typeof scopesByChoice, string]>,
): INodeProperties => ({
	displayName,
	name,
	type: 'options',
	options: choices.map(([label, value, text]) => ({ name: label, value, description: text })),
	default: defaultChoice,
	description,
	displayOptions: { show: { customScopes: [false] } },
});

const driveAccessDescription =
	'What the nodes can see in Google Drive. Spreadsheets and documents that you can open work by URL or ID with each choice, but only All Files can copy a document of yours as a template.';

/**
 * Builds the fields that decide the scopes: dropdowns that say what is allowed, or a list of the
 * scopes themselves.
 * @param defaultAccess `allFiles` for a service account, because it sees only what was shared with
 * it
 * @param advice what to do after a change
 */
export const buildScopeFields = (
	defaultAccess: 'appFilesAndNames' | 'allFiles',
	advice: string,
): INodeProperties[] => [
	buildAccessField(
		'Mail Access',
		'mailAccess',
		'sendAndRead',
		`What the nodes can do in Gmail. ${advice}`,
		[
			['Send and Read', 'sendAndRead', 'Send, list, search and read emails'],
			['Also Save Drafts', 'draftsToo', 'Also save emails as drafts'],
			[
				'Also Save Drafts and Change Labels',
				'labelsToo',
				'Also mark emails as read and change their labels',
			],
		],
	),
	buildAccessField(
		'Drive Access',
		'driveAccess',
		defaultAccess,
		`${driveAccessDescription} ${advice}`,
		[
			['App Files', 'appFiles', 'Lists show only the files that this app created or opened'],
			[
				'App Files and the Names of All Files',
				'appFilesAndNames',
				'Lists show all spreadsheets and documents',
			],
			[
				'All Files',
				'allFiles',
				'Lists also show all folders and shared drives, and uploads can go there',
			],
		],
	),
	{
		displayName: 'Custom Scopes',
		name: 'customScopes',
		type: 'boolean',
		default: false,
		description: 'Whether to choose the scopes yourself',
	},
	{
		...buildNotice(
			'customScopesNotice',
			'If a scope is missing here, operations that need it fail with an error that names it. The credential test needs a Drive scope or a Gmail scope that allows reading. Without one, the test fails even if operations work.',
		),
		displayOptions: { show: { customScopes: [true] } },
	},
	buildTextField('Enabled Scopes', 'enabledScopes', {
		default: `${scopesByChoice.sendAndRead} ${fileScopes} ${scopesByChoice[defaultAccess]}`,
		description: 'Scopes to request from Google, separated by spaces',
		displayOptions: { show: { customScopes: [true] } },
	}),
];

/**
 * Builds a field for an address.
 * @param address Google's own address, the default
 * @param purpose the beginning of the description
 */
function buildAddressField(displayName: string, name: string, address: string, purpose: string) {
	const description = `${purpose}. Leave empty to use Google's address.`;
	const displayOptions = { show: { customEndpoints: [true] } };
	return buildTextField(displayName, name, { default: address, description, displayOptions });
}

const buildApiField = (api: Api, label: string) =>
	buildAddressField(
		`${label} API Base`,
		`${api}ApiBase`,
		googleApiBases[api],
		`Address of the ${apiNames[api]} API, including its version`,
	);

export const endpointFields: INodeProperties[] = [
	{
		displayName: 'Custom Endpoints',
		name: 'customEndpoints',
		type: 'boolean',
		default: false,
		description:
			"Whether to reach the APIs at other addresses than Google's own, for example through a gateway",
	},
	buildApiField('mail', 'Mail'),
	buildApiField('sheets', 'Sheets'),
	buildApiField('docs', 'Docs'),
	buildApiField('drive', 'Drive'),
];

export const tokenUrlField = buildAddressField(
	'Token URL',
	'tokenUrl',
	googleTokenUrl,
	'Address that issues tokens',
);

/**
 * Fields that n8n would otherwise add with the default "all", with which its HTTP Request
 * node may send the secret anywhere.
 */
export const allowedDomainsFields: INodeProperties[] = [
	{
		displayName: 'Allowed HTTP Request Domains',
		name: 'allowedHttpRequestDomains',
		type: 'options',
		options: [
			{
				name: 'All',
				value: 'all',
				description: 'The HTTP Request node may send the secret to any host',
			},
			{
				name: 'Specific Domains',
				value: 'domains',
				description: 'Only the domains listed below',
			},
			{
				name: 'None',
				value: 'none',
				description: 'The HTTP Request node may not use this credential',
			},
		],
		default: 'none',
		description:
			"Where n8n's HTTP Request node may send this secret. This does not affect the nodes of this package.",
	},
	buildTextField('Allowed Domains', 'allowedDomains', {
		placeholder: 'e.g. agent.example.com, *.example.org',
		description: 'Comma-separated list of domains',
		displayOptions: { show: { allowedHttpRequestDomains: ['domains'] } },
	}),
];
