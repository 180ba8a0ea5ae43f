import type { INode, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { Failure, isFailure } from './failure';

/**
 * The item that stands for a failed one under Continue on Fail. `error` is its only key and `item.error` stays unset: n8n then
 * routes it to the error output and keeps the object (with `item.error` it would replace the whole JSON).
 */
export function errorItem(failure: Failure, itemIndex: number): INodeExecutionData {
	const { code, message, status } = failure;
	return { json: { error: { code, message, status } }, pairedItem: { item: itemIndex } };
}

/** The error that stops the node: what happened, what to do, which item, which HTTP status. */
export function nodeError(node: INode, failure: Failure, itemIndex: number): NodeApiError {
	const { message, description } = failure;
	const httpCode = String(failure.code);
	const error = new NodeApiError(
		node,
		{ message, description: description ?? null, httpCode },
		{ message, description, httpCode, itemIndex },
	);
	// n8n replaces a message that contains a word such as ECONNREFUSED by a stock text, even when it is given.
	error.message = message;
	return error;
}

/**
 * Any thrown value as a failure of the item. n8n's own errors (a parameter's expression, a missing binary field, a
 * credential that is not set) are about the input: 400; what nobody foresaw is 500.
 */
export function asFailure(error: unknown): Failure {
	if (isFailure(error)) return error;
	if (!(error instanceof Error)) return new Failure({ code: 500, message: String(error), cause: error });
	const aboutInput = ['NodeOperationError', 'ExpressionError', 'UserError', 'OperationalError'].includes(
		error.name,
	);
	const description =
		'description' in error && typeof error.description === 'string' ? error.description : undefined;
	return new Failure({ code: aboutInput ? 400 : 500, message: error.message, description, cause: error });
}
