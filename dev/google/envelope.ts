import type { Reply, ApiError } from './service.ts';

const statusNames: Readonly<Record<number, string>> = {
	400: 'INVALID_ARGUMENT',
	401: 'UNAUTHENTICATED',
	403: 'PERMISSION_DENIED',
	404: 'NOT_FOUND',
	409: 'ALREADY_EXISTS',
	412: 'FAILED_PRECONDITION',
	413: 'INVALID_ARGUMENT',
	429: 'RESOURCE_EXHAUSTED',
	500: 'INTERNAL',
	502: 'UNAVAILABLE',
	503: 'UNAVAILABLE',
	504: 'DEADLINE_EXCEEDED',
};

/** Reasons whose wording in `details[]` differs from that in `errors[]`. */
const detailReasons: Readonly<Record<string, string>> = {
	insufficientPermissions: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
	rateLimitExceeded: 'RATE_LIMIT_EXCEEDED',
	userRateLimitExceeded: 'RATE_LIMIT_EXCEEDED',
	accessNotConfigured: 'SERVICE_DISABLED',
};

/**
 * Builds an error in the form of its API family: Drive always has `errors[]` and has a `status` only for
 * authentication failures, Gmail has both, Docs and Sheets never have `errors[]`.
 * @param id method ID
 */
export function buildErrorReply(id: string, { code, message, status, reason }: ApiError): Reply {
	const family = id.slice(0, id.indexOf('.'));
	const symbolic = status ?? (family === 'drive' ? undefined : statusNames[code]);
	const errors = [{ message, domain: getDomain(reason), reason: reason ?? getReason(code) }];
	const error = {
		code,
		message,
		...((family === 'drive' || family === 'gmail') && { errors }),
		...(symbolic !== undefined && { status: symbolic }),
		...(reason !== undefined && { details: buildDetails(reason, family) }),
	};
	const challenge = { 'WWW-Authenticate': 'Bearer realm="https://accounts.google.com/"' };
	return { status: code, headers: code === 401 ? challenge : {}, body: { error } };
}

function buildDetails(reason: string, family: string): object[] | undefined {
	const word = detailReasons[reason] ?? (/^[A-Z_]+$/.test(reason) ? reason : undefined);
	if (word === undefined) return undefined;
	return [
		{
			'@type': 'type.googleapis.com/google.rpc.ErrorInfo',
			reason: word,
			domain: 'googleapis.com',
			metadata: { service: `${family}.googleapis.com` },
		},
	];
}

function getDomain(reason = ''): string {
	return /LimitExceeded|accessNotConfigured/.test(reason) ? 'usageLimits' : 'global';
}

const reasons: Readonly<Record<number, string>> = {
	401: 'authError',
	403: 'forbidden',
	404: 'notFound',
	429: 'rateLimitExceeded',
};

const getReason = (code: number): string =>
	reasons[code] ?? (code >= 500 ? 'backendError' : 'invalidArgument');
