/** Fields of the credentials of this package, and what n8n keeps of a sign-in. */
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

/** The secrets of a credential. */
export function secretsIn(credential: object): string[] {
	return Object.entries(credential).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'object' && value !== null) return secretsIn(value);
		return typeof value === 'string' && names.has(name) ? [value] : [];
	});
}
