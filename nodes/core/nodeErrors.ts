import type { INode, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { NodeError, isNodeError, withoutCode } from './errors';
import { forEditor } from './text';
import type { Sanitizer } from './sanitizer';

/**
 * The output item for a failed item under Continue on Fail. `error` is its only key and `item.error` stays
 * unset: n8n then routes it to the error output and keeps the object (with `item.error` it would replace the
 * whole JSON).
 */
export function errorItem(
	node: INode,
	failure: NodeError,
	itemIndex: number,
	sanitizer: Sanitizer,
): INodeExecutionData {
	const clean = sanitizer.failure(failure);
	const { code, status, details } = clean;
	const error = { code, message: toldBy(node, clean), status, ...(details && { details }) };
	return { json: { error }, pairedItem: { item: itemIndex } };
}

/**
 * The error that stops the node: what happened, what to do, which HTTP status. n8n stores everything in it
 * with the execution, so it is made only of sanitized texts.
 * @param itemIndex undefined if the error belongs to no item
 */
export function nodeApiError(
	node: INode,
	failure: NodeError,
	itemIndex: number | undefined,
	sanitizer: Sanitizer,
): NodeApiError {
	const clean = sanitizer.failure(failure);
	const message = forEditor(toldBy(node, clean));
	// n8n appends the description unless the message already contains it.
	const advice = clean.description && forEditor(clean.description);
	const description = isTool(node) ? advice && withoutCode(advice) : advice;
	const httpCode = String(clean.code);
	const error = new NodeApiError(
		node,
		{ message, description: description ?? null, httpCode },
		{ message, description, httpCode, ...(itemIndex !== undefined && { itemIndex }) },
	);
	// n8n replaces a message that contains a word such as ECONNREFUSED with a stock text, even if the message
	// is given explicitly.
	error.message = message;
	// The editor shows this below the error.
	if (clean.details) error.context.data = clean.details;
	return error;
}

/** The message. For a tool it includes the advice, because a model sees nothing else of the failure. */
function toldBy(node: INode, failure: NodeError): string {
	return isTool(node) ? withAdvice(failure).message : failure.message;
}

/** Puts what happened and what to do into the message, for places that show nothing else. */
export function withAdvice(failure: NodeError): NodeError {
	const { message, description } = failure;
	if (description === undefined) return failure;
	const advice = withoutCode(description);
	return failure.with({
		message: `${message}${/[.!?]$/.test(message) ? '' : '.'} ${advice}`,
		description: advice,
	});
}

/**
 * Any thrown value as a failure of the item. n8n's own errors (a parameter's expression, a missing binary
 * field, a credential that is not set) are about the input: 400. Anything unexpected is 500.
 */
export function toNodeError(error: unknown): NodeError {
	if (isNodeError(error)) return error;
	if (error instanceof RangeError && error.message.includes('call stack')) return tooDeep;
	if (!(error instanceof Error)) return new NodeError({ code: 500, message: String(error), cause: error });
	const aboutInput = ['NodeOperationError', 'ExpressionError', 'UserError', 'OperationalError'].includes(
		error.name,
	);
	const description =
		'description' in error && typeof error.description === 'string'
			? withoutLinks(error.description)
			: undefined;
	return new NodeError({ code: aboutInput ? 400 : 500, message: error.message, description, cause: error });
}

/** n8n's own descriptions may end with a link in HTML; ours are text. */
function withoutLinks(text: string): string {
	return text.replaceAll(/<a [^<>]{0,300}href="([^"<>]{0,300})"[^<>]{0,300}>([^<>]{0,300})<\/a>/g, '$2: $1');
}

const tooDeep = new NodeError({
	code: 422,
	message: 'The data is nested too deeply to be read',
	description:
		'No program that people use writes such data. If it comes from outside, somebody may have made it up.',
});

/** Whether a model calls the node, as a tool of an AI agent or an MCP server. */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}
