/** The addresses at which a stand-in serves Google's APIs and issues tokens, as a person enters them for a service account. */
export function addressesOf(url: string): Record<string, string> {
	return {
		mailApiBase: `${url}/gmail/v1`,
		sheetsApiBase: `${url}/v4/spreadsheets`,
		docsApiBase: `${url}/v1/documents`,
		driveApiBase: `${url}/drive/v3`,
		tokenUrl: `${url}/token`,
	};
}

/** The same, and the address for a person's sign-in. */
export function signInAddressesOf(url: string): Record<string, string> {
	return { ...addressesOf(url), authorizationUrl: `${url}/o/oauth2/v2/auth` };
}

/** The same addresses as data of a Workspace credential. */
export function endpointsOf(url: string): Record<string, string | boolean> {
	return { customEndpoints: true, ...signInAddressesOf(url) };
}

export interface Tokens {
	readonly accessToken: string;
	readonly refreshToken: string;
}

/** Data of a `workspaceOAuth2Api` credential that is signed in to a stand-in, with access to all files. */
export function signedIn(url: string, { accessToken, refreshToken }: Tokens): Record<string, unknown> {
	return {
		driveAccess: 'allFiles',
		...endpointsOf(url),
		clientId: 'stand-in-client',
		clientSecret: 'stand-in-secret',
		oauthTokenData: { access_token: accessToken, refresh_token: refreshToken, token_type: 'Bearer' },
	};
}
