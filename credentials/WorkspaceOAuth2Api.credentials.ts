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
			// The inherited fields come first; only overriding one of them can put a text among them.
			displayName: 'Client ID',
			name: 'clientId',
			type: 'string',
			default: '',
			required: true,
			hint: 'In console.cloud.google.com, go to APIs & Services > Credentials, create an OAuth client ID of type Web application, and add the redirect URL above. The docs of this credential show each step.',
		},
		{
			// Sources: https://support.google.com/cloud/answer/15549945 (publishing status and user type),
			// https://developers.google.com/gmail/api/auth/scopes (sensitive and restricted scopes).
			displayName:
				'Set up three things for your OAuth client at Google. <b>APIs:</b> enable the Gmail, Google Sheets, Google Docs and Google Drive APIs in its project. <b>Publishing status:</b> while an app for external users is in "Testing", every sign-in expires after 7 days; use "In production", or "Internal" within an organization (<a href="https://support.google.com/cloud/answer/15549945" target="_blank">more</a>). <b>Scopes:</b> gmail.readonly and access to all of Drive are restricted scopes: Google must verify an app that requests them unless only you or your organization use it (<a href="https://developers.google.com/gmail/api/auth/scopes" target="_blank">more</a>).',
			name: 'clientNotice',
			type: 'notice',
			default: '',
		},
		...fields.scopeFields('appFilesAndNames'),
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
