import type { ICredentialTestRequest } from 'n8n-workflow';

import { mailScopes } from '../../nodes/Workspace/google/signIn';

/** Whether custom scopes allow reading Gmail but not Drive. */
const mailOnly = `((scope) => !scope.includes("/auth/drive") && ${String(mailScopes)}.test(scope))($credentials.scope || "")`;

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
		// The token would go to whatever host an answer names.
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	},
	// n8n shows Google's own words to nobody here, only "Forbidden".
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
					'Google refused the test (403). Enable the Google Drive API in the Google Cloud project of this credential, and sign in with a scope of Drive, such as https://www.googleapis.com/auth/drive.file. With scopes for mail alone, the test needs the Gmail API and https://www.googleapis.com/auth/gmail.readonly.',
			},
		},
	],
};
