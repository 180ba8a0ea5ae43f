/** The addresses at which a stand-in serves Google's APIs and issues tokens, as a person enters them for a service account. */
export function buildServiceAddresses(url: string): Record<string, string> {
	return {
		mailApiBase: `${url}/gmail/v1`,
		sheetsApiBase: `${url}/v4/spreadsheets`,
		docsApiBase: `${url}/v1/documents`,
		driveApiBase: `${url}/drive/v3`,
		tokenUrl: `${url}/token`,
	};
}

/** The addresses of a stand-in, and the address of the consent page. */
export function buildSignInAddresses(url: string): Record<string, string> {
	return { ...buildServiceAddresses(url), authorizationUrl: `${url}/o/oauth2/v2/auth` };
}

/** The same addresses as data of a Workspace credential. */
export function buildEndpoints(url: string): Record<string, string | boolean> {
	return { customEndpoints: true, ...buildSignInAddresses(url) };
}

export interface Tokens {
	readonly accessToken: string;
	readonly refreshToken: string;
}

/** Builds the data of a `workspaceOAuth2Api` credential that is signed in to a stand-in. @param access the chosen access fields */
export function buildSignedInCredential(
	url: string,
	{ accessToken, refreshToken }: Tokens,
	access: Record<string, string> = { driveAccess: 'allFiles' },
): Record<string, unknown> {
	return {
		...access,
		...buildEndpoints(url),
		clientId: 'stand-in-client',
		clientSecret: 'stand-in-secret',
		oauthTokenData: {
			access_token: accessToken,
			refresh_token: refreshToken,
			token_type: 'Bearer',
		},
	};
}
