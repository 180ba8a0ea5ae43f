import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IDataObject,
	IHttpRequestHelper,
	INodeProperties,
} from 'n8n-workflow';

import { allowedDomainsFields } from './allowedDomains';
import * as fields from './workspace/fields';
import { inWords } from './workspace/inWords';
import { fetchAccessToken } from './workspace/serviceAccountToken';
import { sharedToken } from './workspace/sharedToken';

export class WorkspaceServiceAccountApi implements ICredentialType {
	name = 'workspaceServiceAccountApi';
	displayName = 'Workspace Service Account API';
	icon: Icon = { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/sign-in.md';

	properties: INodeProperties[] = [
		{
			// Source: https://developers.google.com/identity/protocols/oauth2/service-account
			displayName:
				'A service account has no mailbox and no storage of its own. Share files and folders with its email address, or ask an administrator to let it act for a user (<a href="https://developers.google.com/identity/protocols/oauth2/service-account" target="_blank">domain-wide delegation</a>) and enter that user as Delegated Email. Enable the Gmail, Google Sheets, Google Docs and Google Drive APIs in its project.',
			name: 'accountNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Service Account Email',
			name: 'email',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'name@email.com',
			description: 'The value of client_email in the JSON file from Google',
		},
		{
			displayName: 'Private Key',
			name: 'privateKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			placeholder: '-----BEGIN PRIVATE KEY-----',
			description: 'The value of private_key in the JSON file from Google',
		},
		{
			displayName: 'Delegated Email',
			name: 'delegatedEmail',
			type: 'string',
			default: '',
			placeholder: 'name@email.com',
			description: 'The user to act for. Required for Gmail.',
		},
		...fields.scopeFields,
		{ displayName: 'Scope', name: 'scope', type: 'hidden', default: fields.scopeExpression },
		...fields.endpointFields,
		fields.tokenUrlField,
		...allowedDomainsFields('token'),
		{
			// n8n keeps it until Google answers 401, then asks `preAuthentication` for a new one.
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'hidden',
			typeOptions: { expirable: true, password: true },
			default: '',
		},
	];

	async preAuthentication(
		this: IHttpRequestHelper,
		{ email, privateKey, delegatedEmail, scope, tokenUrl, accessToken }: ICredentialDataDecryptedObject,
	): Promise<IDataObject> {
		const text = (value: unknown) => (typeof value === 'string' ? value : '');
		const account = {
			email: text(email),
			privateKey: text(privateKey),
			delegatedEmail: text(delegatedEmail),
			scope: text(scope),
			tokenUrl: text(tokenUrl) || fields.googleTokenUrl,
		};
		const fetchToken = () => fetchAccessToken(this, account, Math.floor(Date.now() / 1000));
		return { accessToken: await sharedToken(account, text(accessToken), fetchToken).catch(inWords) };
	}

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
	};

	test: ICredentialTestRequest = fields.credentialTest;
}
