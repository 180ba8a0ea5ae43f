import { type IDataObject, type INode, NodeApiError } from 'n8n-workflow';

import { isTool } from './modelAnswer';
import { endSentence, escapeForEditor } from './text';

const statusNames: Readonly<Record<number, string>> = {
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

/** Returns whether an HTTP status is a redirect. The package follows no redirect. */
export const isRedirect = (statusCode: number) => statusCode >= 300 && statusCode <= 399;

/** Returns Google's symbolic name for an HTTP status. */
export const getStatusName = (statusCode: number) =>
	isRedirect(statusCode) ? 'FAILED_PRECONDITION' : (statusNames[statusCode] ?? 'UNKNOWN');

/** What is known about the work that a request asked for. */
export type Outcome = 'notDone' | 'unknown' | 'done';

type NodeErrorProperties = Pick<NodeError, 'code' | 'message'> &
	Partial<Omit<NodeError, 'name' | 'stack' | 'with'>>;

/**
 * A failure of one item. Never contains a secret, a request body, or more of a response body than
 * the service's own error message.
 */
export class NodeError extends Error {
	override readonly name = 'NodeError';
	/**
	 * An HTTP status: the service's, or the one that says the same, such as 400 for what is refused
	 * unsent and 503 for no connection.
	 */
	readonly code: number;
	/**
	 * The HTTP status as a name: the service's, or the one for `code`. Google's errors and our
	 * items have the same two keys.
	 */
	readonly status: string;
	/** The advice: what to do about the failure. */
	readonly description: string | undefined;
	readonly outcome: Outcome;
	/**
	 * Whether the same request could succeed later, for example after a quota error, an outage or a
	 * lost connection.
	 */
	readonly retryable: boolean;
	/** Whether the message says itself that the work may be done. */
	readonly saysOutcome: boolean;
	readonly retryAfterMilliseconds: number | undefined;
	/** What is known about work that may be in progress, limited in size and without secrets. */
	readonly details: IDataObject | undefined;

	/**
	 * @param properties its message says what happened, in a sentence that a user of the workflow
	 * understands
	 */
	constructor(properties: NodeErrorProperties) {
		super(
			properties.message,
			properties.cause === undefined ? undefined : { cause: properties.cause },
		);
		this.code = properties.code;
		this.status = properties.status ?? getStatusName(properties.code);
		this.description = properties.description;
		this.outcome = properties.outcome ?? 'notDone';
		this.retryable = properties.retryable ?? false;
		this.saysOutcome = properties.saysOutcome ?? false;
		this.retryAfterMilliseconds = properties.retryAfterMilliseconds;
		this.details = properties.details;
	}

	/** Returns a copy with some properties changed. */
	with(changes: Partial<NodeErrorProperties>): NodeError {
		// An error's own message and cause are not enumerable.
		const { message, cause } = this;
		return new NodeError(Object.assign({}, this, { message, cause }, changes));
	}
}

export const isNodeError = (error: unknown) => error instanceof NodeError;

/** Returns the result of a request, or undefined if the service answers 404. */
export const ignoreNotFound = <T>(request: Promise<T>): Promise<T | undefined> =>
	request.catch((error: unknown) => {
		if (isNodeError(error) && error.code === 404) return undefined;
		throw error;
	});

export const toError = (thrown: unknown) =>
	thrown instanceof Error ? thrown : new Error(String(thrown));

/** Builds the error for input that is refused before anything is sent or changed. */
export const createRefusal = (message: string, description?: string) =>
	new NodeError({ code: 400, message, description });

/**
 * Adds an error code to a description. In a message, n8n would replace the whole text by its own,
 * which may tell a model only to try again.
 */
export const appendErrorCode = (description: string, errorCode: string | undefined) =>
	errorCode === undefined ? description : `${description} (${errorCode})`;

/** Removes what `appendErrorCode` added, from a description that goes into a message. */
const removeErrorCode = (description: string) => description.replace(/ \([A-Z][A-Z0-9_]+\)$/, '');

/** The part of `Sanitizer` that this file needs. Importing the class would make an import cycle. */
interface ErrorSanitizer {
	sanitizeError(error: NodeError): NodeError;
}

/** Builds the item for a failure. */
export function createErrorItem(
	node: INode,
	failure: NodeError,
	index: number,
	sanitizer: ErrorSanitizer,
) {
	// The message includes the advice, because an item has no description.
	const { code, message, status, details } = addAdviceToMessage(sanitizer.sanitizeError(failure));
	const error: IDataObject = { code, message, status };
	if (details && !isTool(node)) error.details = details;
	// n8n sends an item to the error output if its JSON has only `error`. With `item.error`, n8n
	// would replace this JSON with the message.
	return { json: { error }, pairedItem: { item: index } };
}

/**
 * Builds the error that stops the node. Its texts are sanitized, because n8n stores them.
 * @param itemIndex undefined if it belongs to no item
 */
export function createNodeApiError(
	node: INode,
	failure: NodeError,
	itemIndex: number | undefined,
	sanitizer: ErrorSanitizer,
): NodeApiError {
	let shown = sanitizer.sanitizeError(failure);
	// A model sees only the message. n8n appends the description unless the message already
	// contains it.
	if (isTool(node)) shown = addAdviceToMessage(shown);
	const message = escapeForEditor(shown.message);
	const description = shown.description && escapeForEditor(shown.description);
	const httpCode = String(shown.code);
	const error = new NodeApiError(
		node,
		{ message, description: description ?? null, httpCode },
		{ message, description, httpCode, itemIndex },
	);
	// n8n's constructor replaces a message that contains a word such as ECONNREFUSED with a text of
	// its own.
	error.message = message;
	// The editor shows this below the error.
	if (shown.details) error.context.data = shown.details;
	return error;
}

/** Adds the advice to the message, for places that show only the message. */
export function addAdviceToMessage(failure: NodeError): NodeError {
	const { message, description } = failure;
	if (description === undefined) return failure;
	const advice = removeErrorCode(description);
	return failure.with({
		message: `${endSentence(message)} ${advice}`,
		description: advice,
	});
}

/**
 * Converts anything thrown to a failure: 400 for n8n's own errors (such as a missing binary field),
 * else 500.
 */
export function toNodeError(error: unknown): NodeError {
	if (isNodeError(error)) return error;
	if (!(error instanceof Error))
		return new NodeError({ code: 500, message: String(error), cause: error });
	const { name, message } = error;
	const isAboutInput = /^(NodeOperationError|ExpressionError|UserError|OperationalError)$/.test(
		name,
	);
	const advice = 'description' in error ? error.description : undefined;
	const description = typeof advice === 'string' ? advice : undefined;
	return new NodeError({ code: isAboutInput ? 400 : 500, message, description, cause: error });
}
