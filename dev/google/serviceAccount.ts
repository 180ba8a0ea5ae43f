import { verify } from 'node:crypto';

import type { Grant } from './tokens.ts';

export interface ServiceAccount {
	readonly email: string;
	/** PEM. */
	readonly publicKey: string;
	/** Users that it may act for (domain-wide delegation). */
	readonly delegates?: readonly string[];
}

interface Claims {
	readonly iss?: string;
	readonly sub?: string;
	readonly scope?: string;
	readonly aud?: string;
	/** Seconds since the epoch. */
	readonly iat?: number;
	readonly exp?: number;
}

/** A refusal in Google's words. */
interface Refusal {
	readonly status: number;
	readonly error: string;
	readonly description: string;
}

const refuse = (description: string): Refusal => {
	return { status: 400, error: 'invalid_grant', description };
};

/** Returns the grant that a signed assertion asks for, or Google's refusal. */
export function verifyAssertion(
	assertion: string,
	accounts: readonly ServiceAccount[],
	audience: string,
): Grant | Refusal {
	const [head = '', payload = '', signature = ''] = assertion.split('.');
	const claims = parseClaims(payload);
	const account = accounts.find(({ email }) => email === claims.iss);
	if (!account) return refuse('Invalid grant: account not found');
	const signed = verify(
		'RSA-SHA256',
		Buffer.from(`${head}.${payload}`),
		account.publicKey,
		Buffer.from(signature, 'base64url'),
	);
	if (!signed) return refuse('Invalid JWT Signature.');
	if (claims.aud !== audience)
		return refuse('Invalid JWT: the audience is not this token server.');
	const now = Date.now() / 1000;
	const { iat = 0, exp = 0 } = claims;
	if (iat > now + 300 || exp < now || exp - iat > 3600) {
		return refuse(
			'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.',
		);
	}
	const { sub } = claims;
	if (sub !== undefined && !account.delegates?.includes(sub)) {
		// With 401, as reported in hlavki/g-suite-identity-sync#7.
		const description =
			'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.';
		return { status: 401, error: 'unauthorized_client', description };
	}
	const { email } = account;
	return { user: sub ?? email, clientId: email, scopes: (claims.scope ?? '').split(' ') };
}

function parseClaims(payload: string): Claims {
	try {
		return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
	} catch {
		// Anything that is not JSON has no claims, so no account is found for it.
		return {};
	}
}
