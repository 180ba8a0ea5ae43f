import { refusal } from '../../core/errors';
import { named, Naming, type ParamsOf } from '../../fields/field';
import { type NodeParameters, paramsOf } from '../../fields/params';
import { isRecord, kindOf, parsedJson } from '../../fields/values';
import { givenValues } from '../session/fields';
import type { FieldValues } from '../session/messages';
import { executeFields, executeOptions } from './fields';
import { waitFields, waitOptions } from './waitFields';

export const fields = [...executeFields, ...waitFields] as const;
export const options = [...executeOptions, ...waitOptions] as const;
const all = [...fields, ...options];

export type ExecuteParams = ParamsOf<typeof fields, typeof options>;

/** The fields that error texts may name. */
export const naming = new Naming(all, 'fields');

/** The checked parameters of one item. */
export interface ItemParameters {
	readonly params: ExecuteParams;
	/** Returns JSON text. */
	readonly initialPayload: () => string;
	/** Evaluates the parameters again when the item is processed. @throws NodeError 400 for an invalid value */
	readonly paramsNow: () => ExecuteParams;
}

/** @throws NodeError 400 that names the parameter */
export function itemParameters(parameters: NodeParameters, index: number): ItemParameters {
	const read = (): ExecuteParams => {
		const given = parameters.given(fields, index);
		// The node has no date fields, so the time zone does not matter.
		const params = paramsOf(all, given, { mode: 'fields', timezone: 'UTC' });
		checkExpressions(params.payloadMode, given, parameters);
		checkOverrides(params, parameters);
		const { sessionId, startStepName, textField, deduplicationField } = params;
		return {
			...params,
			sessionId: sessionId.trim(),
			startStepName: startStepName.trim(),
			textField: textField.trim(),
			deduplicationField: deduplicationField.trim(),
		};
	};
	const params = read();
	// A computed value, such as a timestamp, may be outdated when the item is processed.
	const mayChange = overrides.some((name) => parameters.isComputed('options', name));
	return { params, initialPayload: initialPayload(params), paramsNow: () => (mayChange ? read() : params) };
}

/**
 * Checks the payload. A JSON text is sent unchanged, an object as its JSON.
 * @returns a function that makes the text, so that the texts of thousands of checked items are not in memory at once
 * @throws NodeError 400 if the payload is not a JSON object
 */
export function initialPayload(
	params: Pick<ExecuteParams, 'payloadMode' | 'task' | 'input' | 'payloadJson'>,
): () => string {
	const { payloadMode, task, input, payloadJson: payload } = params;
	if (payloadMode === 'taskAndInput') return () => JSON.stringify({ task, input });
	const advice = 'Write an object such as {"task": "…"}, or use an expression.';
	const value = typeof payload === 'string' ? parsedJson(payload, "'Payload (JSON)'", advice) : payload;
	if (isRecord(value)) return () => (typeof payload === 'string' ? payload : JSON.stringify(value));
	throw refusal(
		`'Payload (JSON)' must be a JSON object, not ${kindOf(value)}`,
		'Wrap the value in an object, such as {"items": …}.',
	);
}

/** An empty result of an expression is an error: it must not start a new session, or an agent without a task. @throws NodeError 400 */
function checkExpressions(
	payloadMode: ExecuteParams['payloadMode'],
	given: Readonly<Record<string, unknown>>,
	parameters: NodeParameters,
): void {
	const isMistake = (...names: string[]) =>
		names.every((name) => isEmpty(given[name] ?? '')) && names.some((name) => parameters.isExpression(name));
	const check = 'Check that the input item contains the data';
	if (isMistake('sessionId')) {
		throw refusal(
			"The expression in 'Session ID' is empty for this item",
			`${check}. To start a new session for each item, leave the field itself empty.`,
		);
	}
	if (payloadMode === 'json' ? isMistake('payloadJson') : isMistake('task', 'input')) {
		throw refusal(
			payloadMode === 'json'
				? "The expression in 'Payload (JSON)' is empty for this item"
				: "'Task' and 'Input' are empty for this item",
			`${check} that the expression names.`,
		);
	}
}

const isEmpty = (value: unknown) => typeof value === 'string' && value.trim() === '';

/** Options that override values of the credential. */
const overrides = ['userId', 'userPublicKey', 'signature', 'timestamp'] as const;

/**
 * An item must override all of these values or none, so that the credential's signature is not sent for another user. An option that is
 * empty in the form uses the credential's value for all items, so only expressions are checked.
 * @throws NodeError 400 that names the option
 */
function checkOverrides(params: ExecuteParams, parameters: NodeParameters): void {
	const given = overrides.find((name) => !isEmpty(params[name]));
	const missing = overrides.find((name) => isEmpty(params[name]) && parameters.isExpression('options', name));
	if (given === undefined || missing === undefined) return;
	const failure = refusal(
		`The option ${named(missing)} is empty for this item, but ${named(given)} is not`,
		`Values of different users must not be mixed. Set ${named(missing)} for every item that sets ${named(given)}, or remove the option to use the credential's value for all items.`,
	);
	throw naming.failure(failure);
}

/** The parameters of an item that waits, with its conditions on messages. */
export type WaitSettings = ExecuteParams & {
	/** A message that meets it ends the wait. */
	readonly match: FieldValues | undefined;
	/** A message that meets it reports a failure. */
	readonly failure: FieldValues | undefined;
	/** Only messages that meet it count, and those that report a failure. Undefined means that all count. */
	readonly filter: FieldValues | undefined;
};

/** @returns undefined if the item does not wait @throws NodeError 400 without a condition that ends the wait */
export function waitSettings(params: ExecuteParams): WaitSettings | undefined {
	if (!params.waitForMessages) return undefined;
	const { failureField, failureValue, filterField, filterValue } = params;
	return {
		...params,
		match: params.waitUntil === 'match' ? matchValues(params) : undefined,
		failure: givenValues(failureField, failureValue),
		filter: givenValues(filterField, filterValue),
	};
}

function matchValues({ matchField, matchValue: values }: ExecuteParams): FieldValues {
	const field = matchField.trim();
	if (field === '' && values.length === 0) {
		throw refusal(
			"'Match Field' and 'Match Value' are empty",
			'Enter the field and value of the message that ends the wait, such as type and answer. If the service ends with a text message such as [DONE], enter only the value.',
		);
	}
	return { field, values: values.length === 0 ? [''] : values };
}
