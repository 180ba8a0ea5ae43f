import { type IDataObject, type INode, type INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { escapeForEditor, shorten } from './text';

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

/** Whether an HTTP status is a redirect. None is followed. */
export const isRedirect = (status: number) => status >= 300 && status <= 399;

/** Google's symbolic name for an HTTP status, as used in the public interface. */
export const getStatusName = (code: number) =>
	isRedirect(code) ? 'FAILED_PRECONDITION' : (statusNames[code] ?? 'UNKNOWN');

/** What is known about the work that a request asked for. */
export type Outcome = 'notDone' | 'unknown' | 'done';

/** What an error is made of; its name is always the same. */
type NodeErrorProperties = Pick<NodeError, 'code' | 'message'> &
	Partial<Omit<NodeError, 'name' | 'stack' | 'with'>>;

/** A failure of one item. Never contains a secret, a request body, or more of a response body than the service's own error message. */
export class NodeError extends Error {
	override readonly name = 'NodeError';
	/** HTTP status: 400 refused before any request, 401 for the token, 502 bad answer, 503 no connection, 504 timeout. */
	readonly code: number;
	/** Symbolic status as the service sent it; derived from `code` if it sent none. */
	readonly status: string;
	/** What to do. */
	readonly description: string | undefined;
	readonly outcome: Outcome;
	/** Whether the same request could succeed later: after a quota, an outage, a lost connection. */
	readonly retryable: boolean;
	/** Wait that the service asked for. */
	readonly retryAfterMilliseconds: number | undefined;
	/** What is known about work that may be in progress, limited in size and without secrets. */
	readonly details: IDataObject | undefined;

	/** @param facts its message says what happened, in a sentence that a user of the workflow understands */
	constructor(facts: NodeErrorProperties) {
		super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
		this.code = facts.code;
		this.status = facts.status ?? getStatusName(facts.code);
		this.description = facts.description;
		this.outcome = facts.outcome ?? 'notDone';
		this.retryable = facts.retryable ?? false;
		this.retryAfterMilliseconds = facts.retryAfterMilliseconds;
		this.details = facts.details;
	}

	/** The same error with changed properties. */
	with(changed: Partial<NodeErrorProperties>): NodeError {
		// An error's own message and cause are not enumerable.
		const { message, cause } = this;
		return new NodeError(Object.assign({}, this, { message, cause }, changed));
	}
}

export const isNodeError = (error: unknown) => error instanceof NodeError;

/** The result of a request, or undefined if the service answers 404, because what was asked for does not exist. */
export function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
	return request.catch((error: unknown) => {
		if (isNodeError(error) && error.code === 404) return undefined;
		throw error;
	});
}

/** Turns anything that was thrown into an Error. */
export const toError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The error for input that is refused before any request was sent. */
export const createRefusal = (message: string, description?: string) =>
	new NodeError({ code: 400, message, description });

/** Adds the underlying code to a description. In the message, a code such as ECONNRESET makes n8n tell a tool only to try again. */
export const appendErrorCode = (description: string, code: string | undefined) =>
	code === undefined ? description : `${description} (${code})`;

/** Removes what `appendErrorCode` added, for a tool's message. */
const removeErrorCode = (description: string) => description.replace(/ \([A-Z][A-Z0-9_]+\)$/, '');

/** The part of `Sanitizer` that is needed here. Importing the class would make an import circle. */
interface ErrorSanitizer {
	sanitizeError(error: NodeError): NodeError;
}

/** Builds the item for a failure. n8n sends JSON with the only key `error` to the error output; `item.error` would replace this JSON. */
export function createErrorItem(
	node: INode,
	failure: NodeError,
	itemIndex: number,
	sanitizer: ErrorSanitizer,
): INodeExecutionData {
	const clean = sanitizer.sanitizeError(failure);
	const { code, status, details } = clean;
	// An item has no description.
	const { message: whole } = addAdviceToMessage(clean);
	const message = isTool(node) ? shorten(whole, maxToolCharacters) : whole;
	const isTooMuch = isTool(node) && JSON.stringify({ message, details }).length > maxToolCharacters;
	const error = { code, message, status, ...(details && !isTooMuch && { details }) };
	return { json: { error }, pairedItem: { item: itemIndex } };
}

/** The error that stops the node. Its texts are sanitized, because n8n stores it. @param itemIndex undefined if it belongs to no item */
export function createNodeApiError(
	node: INode,
	failure: NodeError,
	itemIndex: number | undefined,
	sanitizer: ErrorSanitizer,
): NodeApiError {
	const clean = sanitizer.sanitizeError(failure);
	const message = escapeForEditor(getVisibleMessage(node, clean));
	// n8n appends the description unless the message already contains it.
	const advice = clean.description && escapeForEditor(clean.description);
	const description = isTool(node) ? advice && removeErrorCode(advice) : advice;
	const httpCode = String(clean.code);
	const error = new NodeApiError(
		node,
		{ message, description: description ?? null, httpCode },
		{ message, description, httpCode, ...(itemIndex !== undefined && { itemIndex }) },
	);
	// n8n replaces a message that contains a word such as ECONNREFUSED with a stock text, even one that is given.
	error.message = message;
	// The editor shows this below the error.
	if (clean.details) error.context.data = clean.details;
	return error;
}

/** The default of Max Model Characters: an error leaves room for what n8n writes around it. */
const maxToolCharacters = 29_000;

/** The message of a failure. For a tool it includes the advice, because a model sees nothing else. */
const getVisibleMessage = (node: INode, failure: NodeError) =>
	isTool(node) ? shorten(addAdviceToMessage(failure).message, maxToolCharacters) : failure.message;

/** Puts what happened and what to do into the message, for places that show nothing else. */
export function addAdviceToMessage(failure: NodeError): NodeError {
	const { message, description } = failure;
	if (description === undefined) return failure;
	const advice = removeErrorCode(description);
	return failure.with({
		message: `${message}${/[.!?]$/.test(message) ? '' : '.'} ${advice}`,
		description: advice,
	});
}

/** Turns anything thrown into a failure: 400 for n8n's own errors (an expression, a missing binary field or credential), else 500. */
export function toNodeError(error: unknown): NodeError {
	if (isNodeError(error)) return error;
	if (error instanceof RangeError && error.message.includes('call stack')) return nestingError;
	if (!(error instanceof Error)) return new NodeError({ code: 500, message: String(error), cause: error });
	const { name, message } = error;
	const isAboutInput = /^(NodeOperationError|ExpressionError|UserError|OperationalError)$/.test(name);
	const advice = 'description' in error ? error.description : undefined;
	const description = typeof advice === 'string' ? advice.replaceAll(htmlLink, '$2: $1') : undefined;
	return new NodeError({ code: isAboutInput ? 400 : 500, message, description, cause: error });
}

/** n8n's own descriptions may end with an HTML link; ours are plain text. */
const htmlLink = /<a [^<>]{0,300}href="([^"<>]{0,300})"[^<>]{0,300}>([^<>]{0,300})<\/a>/g;

const nestingError = new NodeError({
	code: 422,
	message: 'The data is nested too deeply to be read',
	description: 'Ordinary data is never nested this deeply. If it comes from outside, it may be an attack.',
});

/** Whether a model calls the node, as a tool of an AI agent or an MCP server. */
export const isTool = ({ type }: INode) => type.endsWith('Tool');
