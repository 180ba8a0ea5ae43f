import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestHelper,
	INodeProperties,
} from 'n8n-workflow';

import { chosenScopesExpression } from '../nodes/Workspace/google/scopes';
import type { PostForm } from '../nodes/Workspace/google/serviceAccount';
import * as fields from './fields';

/**
 * Shorter than the timeouts of most requests. A request that times out while it waits for its token
 * would seem to have been sent.
 */
const tokenTimeoutMilliseconds = 6000;

export class WorkspaceServiceAccountApi implements ICredentialType {
	name = 'workspaceServiceAccountApi';
	displayName = 'Workspace (Google, Gmail) Service Account API';
	icon: Icon = { light: 'file:workspace.svg', dark: 'file:workspace.dark.svg' };
	documentationUrl =
		'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace/blob/main/docs/sign-in.md';

	properties: INodeProperties[] = [
		fields.buildNotice(
			'accountNotice',
			// Source: https://developers.google.com/identity/protocols/oauth2/service-account
			'A service account has no mailbox and no storage of its own. Share files and folders with its email address, or ask an administrator to let it act for a user (<a href="https://developers.google.com/identity/protocols/oauth2/service-account" target="_blank">domain-wide delegation</a>) and enter that user as Delegated Email. Enable the Gmail, Google Sheets, Google Docs and Google Drive APIs in its project.',
		),
		fields.buildTextField('Service Account Email', 'email', {
			required: true,
			placeholder: 'e.g. robot@my-project.iam.gserviceaccount.com',
			description: 'The value of client_email in the JSON file from Google',
		}),
		fields.buildTextField('Private Key', 'privateKey', {
			typeOptions: { password: true },
			required: true,
			placeholder: '-----BEGIN PRIVATE KEY-----',
			description: 'The value of private_key in the JSON file from Google',
		}),
		fields.buildTextField('Delegated Email', 'delegatedEmail', {
			placeholder: 'e.g. name@example.com',
			description: 'The user to act for. Required for Gmail.',
		}),
		...fields.buildScopeFields(
			'allFiles',
			'After changing this, save, and open the node again.',
		),
		{ displayName: 'Scope', name: 'scope', type: 'hidden', default: chosenScopesExpression },
		...fields.endpointFields,
		fields.tokenUrlField,
		...fields.allowedDomainsFields,
		{
			// n8n keeps this token until Google responds with 401. Then n8n asks
			// `preAuthentication` for a new one.
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'hidden',
			typeOptions: { expirable: true, password: true },
			default: '',
		},
		{ displayName: 'Issued For', name: 'issuedFor', type: 'hidden', default: '' },
	];

	async preAuthentication(this: IHttpRequestHelper, credential: ICredentialDataDecryptedObject) {
		const { fetchAccessToken, hashAccount, readServiceAccount, throwPlainError } =
			await import('../nodes/Workspace/google/serviceAccount');
		const account = readServiceAccount(credential);
		const post: PostForm = async (url, form) =>
			(await this.helpers.httpRequest({
				method: 'POST',
				url,
				headers: { 'content-type': 'application/x-www-form-urlencoded' },
				body: form.toString(),
				// A stream, because the response of a wrong URL may be of any length.
				encoding: 'stream',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				timeout: tokenTimeoutMilliseconds,
			})) as Awaited<ReturnType<PostForm>>;
		return {
			accessToken: await fetchAccessToken(post, account).catch(throwPlainError),
			// Where the node reads it, the token counts only for what it was issued for.
			issuedFor: hashAccount(credential),
		};
	}

	// No `test`: n8n 2.22 to 2.35 refuse to send it if the HTTP Request node may not use the
	// credential. So the Workspace node tests it.
	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
	};
}
