import type { IDataObject } from 'n8n-workflow';

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

interface NodeErrorDetails {
	/**
	 * HTTP status: 400 for input refused before any request, 401 for the token, 502 for an incomplete or
	 * oversized answer, 503 for no connection, 504 for a timeout.
	 */
	readonly code: number;
	/** What happened, in a sentence that a user of the workflow understands. */
	readonly message: string;
	/** What to do about it. */
	readonly description?: string;
	/** Symbolic status as the service sent it; derived from `code` when absent. */
	readonly status?: string;
	/** True if the service may have carried out the request although no answer says so. */
	readonly ambiguous?: boolean;
	/** True if the work is done, though not exactly as requested: it must not be started again. */
	readonly carriedOut?: boolean;
	/** True if the service was checked and the work was not done. */
	readonly settled?: boolean;
	/** Wait that the service asked for, in milliseconds. */
	readonly retryAfterMilliseconds?: number;
	/** What is known about work that may be in progress, limited in size and without secrets. */
	readonly details?: IDataObject;
	readonly cause?: unknown;
}

/**
 * A failure of one item, in the vocabulary of the public interface. Never contains a secret, a request body,
 * or any of a response body except the service's own error message.
 */
export class NodeError extends Error {
	override readonly name = 'NodeError';
	readonly code: number;
	readonly status: string;
	readonly description: string | undefined;
	readonly ambiguous: boolean;
	readonly carriedOut: boolean;
	readonly settled: boolean;
	readonly retryAfterMilliseconds: number | undefined;
	readonly details: IDataObject | undefined;

	constructor(details: NodeErrorDetails) {
		super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
		this.code = details.code;
		this.status = details.status ?? statusName(details.code);
		this.description = details.description;
		this.ambiguous = details.ambiguous ?? false;
		this.carriedOut = details.carriedOut ?? false;
		this.settled = details.settled ?? false;
		this.retryAfterMilliseconds = details.retryAfterMilliseconds;
		this.details = details.details;
	}

	/** The same failure with changed properties. */
	with(details: Partial<NodeErrorDetails>): NodeError {
		const { code, status, message, description, retryAfterMilliseconds, cause } = this;
		const { ambiguous, carriedOut, settled, details: known } = this;
		const own = {
			code,
			status,
			message,
			description,
			retryAfterMilliseconds,
			cause,
			ambiguous,
			carriedOut,
			settled,
			details: known,
		};
		return new NodeError({ ...own, ...details });
	}
}

export function isNodeError(error: unknown): error is NodeError {
	return error instanceof NodeError;
}

/** Input refused before any request was sent. */
export function refusal(message: string, description?: string): NodeError {
	return new NodeError({ code: 400, message, description });
}

/**
 * A description extended with the code of the underlying error. The code is not in the message, because for a
 * tool n8n replaces a message that contains a code such as ECONNRESET with its own text, which says to try
 * again.
 */
export function withCode(description: string, code: string | undefined): string {
	return code === undefined ? description : `${description} (${code})`;
}

/** Removes what `withCode` added, for a tool's message. */
export function withoutCode(description: string): string {
	return description.replace(/ \([A-Z][A-Z0-9_]+\)$/, '');
}
