import { ApiError } from './service.ts';
import type { Route } from './router.ts';
import type { Grant, Tokens } from './tokens.ts';

const expected =
	'Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';

export function readBearerToken(authorization: string | undefined): string | undefined {
	return /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
}

/**
 * Finds the grant of a request's token.
 * @throws ApiError 401 for an invalid token, 401 or 403 (by API family) for a missing one, 403 for a token
 * without the method's scope
 */
export function authenticate(
	token: string | undefined,
	{ api, method }: Route,
	tokens: Tokens,
): Grant {
	if (token === undefined) throw createMissingTokenError(api.name);
	const grant = tokens.find(token);
	if (!grant) {
		const message = `Request had invalid authentication credentials. ${expected}`;
		throw new ApiError(401, message, { status: 'UNAUTHENTICATED' });
	}
	if (!method.scopes.some((scope) => grant.scopes.includes(scope))) {
		const reasons = { status: 'PERMISSION_DENIED', reason: 'insufficientPermissions' };
		throw new ApiError(403, 'Request had insufficient authentication scopes.', reasons);
	}
	return grant;
}

function createMissingTokenError(api: string): ApiError {
	if (api === 'drive' || api === 'sheets') {
		const message =
			"Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
		return new ApiError(403, message, { status: 'PERMISSION_DENIED' });
	}
	const message = `Request is missing required authentication credential. ${expected}`;
	return new ApiError(401, message, { status: 'UNAUTHENTICATED' });
}
