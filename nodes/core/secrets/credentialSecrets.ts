/** Secret fields of this package's credentials, and of what n8n stores for a sign-in. */
const names = new Set([
	'accessToken',
	'access_token',
	'apiKey',
	'clientSecret',
	'id_token',
	'privateKey',
	'refresh_token',
	'signature',
	'userPublicKey',
]);

/** The secrets in a credential's decrypted data. */
export function secretsIn(credential: object): string[] {
	return Object.entries(credential).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'object' && value !== null) return secretsIn(value);
		return typeof value === 'string' && names.has(name) ? [value] : [];
	});
}
