import type { Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

import { googleTokenUrl } from '../nodes/Workspace/google/signIn';

import { allowedDomainsFields } from './allowedDomains';
import * as fields from './workspace/fields';
import { credentialTest } from './workspace/signInTest';

export class WorkspaceOAuth2Api implements ICredentialType {
	name = 'workspaceOAuth2Api';
	displayName = 'Workspace OAuth2 API';
	extends = ['googleOAuth2Api'];
	icon: Icon = { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/sign-in.md';

	properties: INodeProperties[] = [
		{
			// The inherited fields come first; only overriding one of them can put a text among them. Source for the 7 days:
			// https://support.google.com/cloud/answer/15549945
			displayName: 'Client ID',
			name: 'clientId',
			type: 'string',
			default: '',
			required: true,
			hint: 'In console.cloud.google.com: enable the Gmail, Google Sheets, Google Docs and Google Drive APIs, publish the app (in "Testing", each sign-in ends after 7 days), and create an OAuth client ID of type Web application with the redirect URL above. The docs of this credential show each step.',
		},
		...fields.scopeFields('appFilesAndNames'),
		{
			// Source: https://developers.google.com/gmail/api/auth/scopes (sensitive and restricted scopes).
			displayName:
				'To read Gmail and to list files are restricted scopes: if people outside your organization sign in, Google must verify your app (<a href="https://developers.google.com/gmail/api/auth/scopes" target="_blank">more</a>).',
			name: 'clientNotice',
			type: 'notice',
			default: '',
		},
		{ displayName: 'Scope', name: 'scope', type: 'hidden', default: fields.scopeExpression },
		...fields.endpointFields,
		fields.authorizationUrlField,
		fields.tokenUrlField,
		{
			// Hidden fields keep no stored value in n8n: only an expression reaches the visible ones, which are absent while hidden.
			displayName: 'Authorization URL in Use',
			name: 'authUrl',
			type: 'hidden',
			default: `={{ $self["authorizationUrl"] || "${fields.googleAuthorizationUrl}" }}`,
		},
		{
			displayName: 'Token URL in Use',
			name: 'accessTokenUrl',
			type: 'hidden',
			default: `={{ $self["tokenUrl"] || "${googleTokenUrl}" }}`,
		},
		...allowedDomainsFields('token'),
	];

	test: ICredentialTestRequest = credentialTest;
}
