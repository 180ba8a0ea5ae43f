import type { Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

import { googleApiBases } from '../nodes/Workspace/google/endpoints';
import { mailScopePattern, chosenScopesExpression } from '../nodes/Workspace/google/scopes';
import * as fields from './fields';

/** True if custom scopes allow reading Gmail but not Drive. */
const isMailOnlyExpression = `((scope) => !scope.includes("/auth/drive") && ${String(mailScopePattern)}.test(scope))($credentials.scope || "")`;

const buildMailOrDriveExpression = (mail: string, drive: string) =>
	`={{ ${isMailOnlyExpression} ? ${mail} : ${drive} }}`;

/**
 * Asks Drive who is signed in, because every Drive scope allows this call. Without a Drive scope,
 * asks Gmail.
 */
const credentialTest: ICredentialTestRequest = {
	request: {
		baseURL: buildMailOrDriveExpression(
			`$credentials.mailApiBase || "${googleApiBases.mail}"`,
			`$credentials.driveApiBase || "${googleApiBases.drive}"`,
		),
		url: buildMailOrDriveExpression('"/users/me/profile"', '"/about"'),
		qs: {
			fields: buildMailOrDriveExpression('"emailAddress"', '"user"'),
		},
		// Following a redirect would send the token to whatever host the response names.
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	},
	// Without a rule, n8n shows "Forbidden" instead of Google's own message.
	rules: [
		...[301, 302, 303, 307, 308].map((value) => ({
			type: 'responseCode' as const,
			properties: {
				value,
				message: `The API base in the credential responded with a redirect (HTTP ${value}). Redirects are not followed, because they could send the token to another host. Enter the address of the API itself.`,
			},
		})),
		{
			type: 'responseCode',
			properties: {
				value: 403,
				message:
					'Google refused the test (403). Enable the Google Drive API in the Google Cloud project of this credential, and sign in with a Drive scope, such as https://www.googleapis.com/auth/drive.file. With scopes for mail alone, the test needs the Gmail API and https://www.googleapis.com/auth/gmail.readonly.',
			},
		},
	],
};

export class WorkspaceOAuth2Api implements ICredentialType {
	name = 'workspaceOAuth2Api';
	displayName = 'Workspace (Google, Gmail) OAuth2 API';
	extends = ['googleOAuth2Api'];
	icon: Icon = { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/sign-in.md';

	properties: INodeProperties[] = [
		fields.buildTextField('Client ID', 'clientId', {
			// Replaces the inherited field, to add a hint. Inherited fields come first in the form,
			// so the setup steps can only be a hint of one. Source for the 7 days:
			// https://support.google.com/cloud/answer/15549945
			required: true,
			hint: 'In console.cloud.google.com: enable the Gmail, Google Sheets, Google Docs and Google Drive APIs, publish the app (in "Testing", each sign-in ends after 7 days), and create an OAuth client ID of type Web application with the redirect URL above. The docs of this credential show each step.',
		}),
		...fields.buildScopeFields(
			'appFilesAndNames',
			'After changing this, save, sign in again (Switch account), and open the node again.',
		),
		fields.buildNotice(
			'clientNotice',
			// Source: https://developers.google.com/gmail/api/auth/scopes (sensitive and restricted
			// scopes).
			'The scopes for reading Gmail and for listing files are restricted. If people outside your organization sign in, Google must verify your app (<a href="https://developers.google.com/gmail/api/auth/scopes" target="_blank">more</a>).',
		),
		{ displayName: 'Scope', name: 'scope', type: 'hidden', default: chosenScopesExpression },
		...fields.endpointFields,
		...fields.allowedDomainsFields,
	];

	test: ICredentialTestRequest = credentialTest;
}
