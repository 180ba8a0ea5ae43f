/** The addresses at which a stand-in serves Google's APIs, as fields of a Workspace credential. */
export function endpointsOf(url: string): Record<string, string | boolean> {
	return {
		customEndpoints: true,
		mailApiBase: `${url}/gmail/v1`,
		sheetsApiBase: `${url}/v4/spreadsheets`,
		docsApiBase: `${url}/v1/documents`,
		driveApiBase: `${url}/drive/v3`,
		authorizationUrl: `${url}/o/oauth2/v2/auth`,
		tokenUrl: `${url}/token`,
	};
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
