const names: Readonly<Record<number, string>> = {
	400: 'INVALID_ARGUMENT',
	401: 'UNAUTHENTICATED',
	403: 'PERMISSION_DENIED',
	404: 'NOT_FOUND',
	408: 'DEADLINE_EXCEEDED',
	409: 'ALREADY_EXISTS',
	412: 'FAILED_PRECONDITION',
	429: 'RESOURCE_EXHAUSTED',
	500: 'INTERNAL',
	502: 'UNAVAILABLE',
	503: 'UNAVAILABLE',
	504: 'DEADLINE_EXCEEDED',
};

/** Google's symbolic name for an HTTP status, as used in the public interface. */
export function statusName(code: number): string {
	if (code >= 300 && code <= 399) return 'FAILED_PRECONDITION';
	return names[code] ?? 'UNKNOWN';
}
