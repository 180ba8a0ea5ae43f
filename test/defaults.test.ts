// Defaults that saved workflows and credentials depend on, beside those of the forms' fields and options.
import type { ICredentialType, INodeProperties } from 'n8n-workflow';

import { AgentApi } from '../credentials/AgentApi.credentials';
import { AgentSignatureApi } from '../credentials/AgentSignatureApi.credentials';
import { WorkspaceOAuth2Api } from '../credentials/WorkspaceOAuth2Api.credentials';
import { WorkspaceServiceAccountApi } from '../credentials/WorkspaceServiceAccountApi.credentials';
import { getAllFields } from '../nodes/Workspace/operation';
import { resources } from '../nodes/Workspace/resources';
import { Workspace } from '../nodes/Workspace/Workspace.node';

const operations = resources.flatMap(({ value: resource, operations: ofResource }) =>
	ofResource.map((operation) => ({ place: `${resource} ${operation.value}`, operation })),
);

test('an input object has these defaults in place of the form’s', () => {
	const defaults = operations.flatMap(({ place, operation }) =>
		getAllFields(operation).flatMap(({ name, jsonDefault }) =>
			jsonDefault === undefined ? [] : [[`${place} ${name}`, jsonDefault] as const],
		),
	);
	expect(Object.fromEntries(defaults)).toEqual({
		'document append newParagraph': false,
		'document create fillFromInput': false,
		'document create includeBody': true,
		'document write replace': 'document',
		'file upload contentSource': 'base64',
		'mail list output': 'page',
		'mail search includeDrafts': true,
		'mail search output': 'page',
		'spreadsheet append columns': { mappingMode: 'autoMapInputData', value: null },
		'spreadsheet append valueInputOption': 'RAW',
		'spreadsheet append valuesSource': 'json',
		'spreadsheet read dateTimeRenderOption': 'SERIAL_NUMBER',
		'spreadsheet read output': 'values',
		'spreadsheet read valueRenderOption': 'FORMATTED_VALUE',
		'spreadsheet write columns': { mappingMode: 'autoMapInputData', value: null },
		'spreadsheet write valueInputOption': 'RAW',
		'spreadsheet write valuesSource': 'json',
		'spreadsheet write writeMode': 'overwrite',
	});
});

test('the form has these defaults while another field has a certain value', () => {
	const defaults = operations.flatMap(({ place, operation }) =>
		getAllFields(operation).flatMap(({ name, defaultWhen: when }) =>
			when ? [[`${place} ${name}`, [when.field, when.is, when.default]] as const] : [],
		),
	);
	expect(Object.fromEntries(defaults)).toEqual({
		'document create fillFromInput': ['from', 'content', false],
		'spreadsheet append valueInputOption': ['valuesSource', 'json', 'RAW'],
		'spreadsheet read dateTimeRenderOption': ['output', 'values', 'SERIAL_NUMBER'],
		'spreadsheet read valueRenderOption': ['output', 'values', 'FORMATTED_VALUE'],
		'spreadsheet write valueInputOption': ['valuesSource', 'json', 'RAW'],
	});
});

test('n8n’s form stops a workflow where one of these is empty', () => {
	const { properties } = new Workspace().description;
	const required = operations.map(({ place }) => {
		const [resource = '', operation = ''] = place.split(' ');
		const isShown = ({ displayOptions: { show } = {} }: INodeProperties) =>
			show?.resource?.includes(resource) === true &&
			show.operation?.includes(operation) === true;
		const names = properties
			.filter((property) => property.required && isShown(property))
			.map(({ name }) => name);
		return [place, names.filter((name) => name !== 'toolDescription')] as const;
	});
	expect(Object.fromEntries(required)).toEqual({
		'mail send': ['replyToMessageId', 'body'],
		'mail read': ['messageId'],
		'mail list': [],
		'mail search': ['query'],
		'spreadsheet create': ['title'],
		'spreadsheet append': ['spreadsheetId'],
		'spreadsheet read': ['spreadsheetId'],
		'spreadsheet write': ['spreadsheetId', 'matchColumns'],
		'document create': ['title', 'templateId'],
		'document append': ['documentId'],
		'document read': ['documentId'],
		'document write': ['documentId'],
		'file upload': [],
	});
});

const listDefaults = (properties: readonly INodeProperties[]) =>
	properties
		.filter(({ type }) => type !== 'notice' && type !== 'hidden')
		.map(({ name, default: value }) => [name, value]);

test('the fields of the Workspace node that belong to no operation', () => {
	const fields = new Workspace().description.properties.filter(
		({ name, displayOptions }) =>
			name !== 'toolDescription' && displayOptions?.show?.['operation'] === undefined,
	);
	expect(listDefaults(fields)).toEqual([
		['inputMode', 'fields'],
		['authentication', 'oAuth2'],
		['resource', 'mail'],
		['operation', 'create'],
		['operation', 'upload'],
		['operation', 'send'],
		['operation', 'list'],
		['operation', 'create'],
		['inputObject', '{}'],
		['allowedOperations', []],
		['allowedRecipients', ''],
		['allowFilePaths', false],
	]);
});

test('without these fields, n8n does not start a node', () => {
	const required = operations.flatMap(({ place, operation }) =>
		getAllFields(operation)
			.filter(({ required: isRequired, requiredInForm }) => requiredInForm ?? isRequired)
			.map(({ name }) => `${place} ${name}`),
	);
	expect(required).toEqual([
		'document append documentId',
		'document create title',
		'document create templateId',
		'document read documentId',
		'document write documentId',
		'mail read messageId',
		'mail search query',
		'mail send replyToMessageId',
		'mail send body',
		'spreadsheet append spreadsheetId',
		'spreadsheet create title',
		'spreadsheet read spreadsheetId',
		'spreadsheet write spreadsheetId',
		'spreadsheet write matchColumns',
	]);
});

const scopes = (...names: string[]) =>
	names.map((name) => `https://www.googleapis.com/auth/${name}`).join(' ');
const domains = [
	['allowedHttpRequestDomains', 'none'],
	['allowedDomains', ''],
];
const access = (driveAccess: string, ...driveScopes: string[]) => [
	['mailAccess', 'sendAndRead'],
	['driveAccess', driveAccess],
	['customScopes', false],
	[
		'enabledScopes',
		scopes('gmail.send', 'gmail.readonly', 'spreadsheets', 'documents', ...driveScopes),
	],
	['customEndpoints', false],
	['mailApiBase', 'https://gmail.googleapis.com/gmail/v1'],
	['sheetsApiBase', 'https://sheets.googleapis.com/v4/spreadsheets'],
	['docsApiBase', 'https://docs.googleapis.com/v1/documents'],
	['driveApiBase', 'https://www.googleapis.com/drive/v3'],
];

const credentials: ReadonlyArray<readonly [ICredentialType, unknown[]]> = [
	[
		new AgentApi(),
		[
			['deploymentUrl', ''],
			['webSocketUrl', ''],
			['apiKey', ''],
			['timestampUnit', 'seconds'],
			['allowUnauthorizedCerts', false],
			...domains,
		],
	],
	[
		new AgentSignatureApi(),
		[
			['userId', ''],
			['userPublicKey', ''],
			['signature', ''],
			['timestampMode', 'current'],
			['issuedTimestamp', 0],
			['allowedHosts', ''],
		],
	],
	[
		new WorkspaceOAuth2Api(),
		[
			['clientId', ''],
			...access('appFilesAndNames', 'drive.file', 'drive.metadata.readonly'),
			...domains,
		],
	],
	[
		new WorkspaceServiceAccountApi(),
		[
			['email', ''],
			['privateKey', ''],
			['delegatedEmail', ''],
			...access('allFiles', 'drive'),
			['tokenUrl', 'https://oauth2.googleapis.com/token'],
			...domains,
		],
	],
];

test.each(
	credentials.map(([credential, expected]) => [credential.name, credential, expected] as const),
)('the fields of the credential %s', (_name, { properties }, expected) => {
	expect(listDefaults(properties)).toEqual(expected);
});
