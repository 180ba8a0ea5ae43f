/** The addresses at which a stand-in serves Google's APIs, as a person enters them. */
export function buildApiBases(url: string): Record<string, string> {
	return {
		mailApiBase: `${url}/gmail/v1`,
		sheetsApiBase: `${url}/v4/spreadsheets`,
		docsApiBase: `${url}/v1/documents`,
		driveApiBase: `${url}/drive/v3`,
	};
}

/** The same addresses with the one that issues tokens for service accounts. */
export function buildServiceAddresses(url: string): Record<string, string> {
	return { ...buildApiBases(url), tokenUrl: `${url}/token` };
}

/** All of them as data of a service account's credential. */
export function buildEndpoints(url: string): Record<string, string | boolean> {
	return { customEndpoints: true, ...buildServiceAddresses(url) };
}

/** Builds the data of a `workspaceOAuth2Api` credential that is signed in to a stand-in. @param access the chosen access fields */
export function buildSignedInCredential(
	url: string,
	{ accessToken, refreshToken }: { accessToken: string; refreshToken: string },
	access: Record<string, string> = { driveAccess: 'allFiles' },
): Record<string, unknown> {
	const tokens = { access_token: accessToken, refresh_token: refreshToken };
	return {
		...access,
		customEndpoints: true,
		...buildApiBases(url),
		// Where n8n signs in, and gets new tokens, depends on it: see `signInRelay.ts`.
		clientId: url,
		clientSecret: 'stand-in-secret',
		oauthTokenData: { ...tokens, token_type: 'Bearer' },
	};
}
