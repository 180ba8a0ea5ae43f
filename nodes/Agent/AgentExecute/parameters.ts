import { createRefusal } from '../../core/errors';
import { FieldNaming, type InferParameters } from '../../fields/field';
import { readParameters } from '../../fields/params';
import type { RawParameters } from '../../fields/rawParameters';
import {
	isBlank,
	isRecord,
	describeType,
	hasExpression,
	missingDataAdvice,
	parseJson,
} from '../../fields/values';
import { toFieldCondition } from '../session/fields';
import type { FieldCondition } from '../session/messages';
import {
	executeFields,
	executeOptions,
	overrideOptions,
	textPiecesOption,
	waitFields,
	waitOptions,
} from './fields';

export const fields = [...executeFields, ...waitFields] as const;
export const options = [...executeOptions, textPiecesOption, ...waitOptions] as const;
const allFields = [...fields, ...options];

export type ExecuteParams = InferParameters<typeof fields, typeof options>;

/** The fields that error texts may name. */
export const naming = new FieldNaming(allFields, { mode: 'fields' });

/**
 * Reads and checks the parameters of one item.
 * @throws NodeError 400 that names the wrong parameter
 */
export function readItemParameters(rawParameters: RawParameters, index: number) {
	const values = rawParameters.readFields(fields, options, index);
	const params = readParameters(allFields, values, {
		mode: 'fields',
		// The node has no date fields, so the time zone does not matter.
		timezone: 'UTC',
		findSavedValue: (field) => rawParameters.findSavedValue(field),
	});
	checkSessionId(params, rawParameters);
	checkPayload(params, rawParameters);
	return { params, override: readOverride(params, values) };
}

/** @throws NodeError 400 for a blank ID that would start a new session by mistake */
function checkSessionId({ sessionId }: ExecuteParams, rawParameters: RawParameters): void {
	if (sessionId !== '' || !hasExpression(rawParameters.getSaved('sessionId'))) return;
	throw createRefusal(
		"The expression in 'Session ID' is empty for this item",
		`${missingDataAdvice} To start a new session on purpose, leave the field itself empty.`,
	);
}

/** @throws NodeError 400 for a payload with which an agent would be started in vain, at a cost */
function checkPayload(params: ExecuteParams, rawParameters: RawParameters): void {
	const { payloadMode, task, input, payloadJson } = params;
	if (payloadMode === 'taskAndInput') {
		if (!isBlank(task) || !isBlank(input)) return;
		throw createRefusal(
			"'Task' and 'Input' are empty for this item",
			"Enter what the agent should do. To start the agent without a task, set 'Payload' to JSON.",
		);
	}
	if (isBlank(payloadJson))
		throw createRefusal("'Payload (JSON)' is empty for this item", missingDataAdvice);
	const value = parseJson(payloadJson, "'Payload (JSON)'");
	if (!isRecord(value))
		throw createRefusal(
			`'Payload (JSON)' must be a JSON object, not ${describeType(value)}`,
			'Wrap the value in an object, such as {"items": …}.',
		);
	if (hasContent(value) || !hasExpression(rawParameters.getSaved('payloadJson'))) return;
	throw createRefusal("'Payload (JSON)' has only empty values for this item", missingDataAdvice);
}

/** Returns whether a value is there. If an object has keys, one of them needs a value. */
function hasContent(value: unknown): boolean {
	if (!isRecord(value)) return value != null && !isBlank(value);
	const entries = Object.values(value);
	return entries.length === 0 || entries.some(hasContent);
}

/**
 * Builds the payload's text. A JSON text is sent unchanged. Not done before the call, so that
 * thousands of texts are not in memory.
 */
export function buildPayload({ payloadMode, task, input, payloadJson }: ExecuteParams): string {
	if (payloadMode === 'taskAndInput') return JSON.stringify({ task, input });
	return typeof payloadJson === 'string' ? payloadJson : JSON.stringify(payloadJson);
}

/**
 * Reads the values that replace those of the signature credential.
 * @returns undefined if the item uses the credential
 */
function readOverride(params: ExecuteParams, values: Readonly<Record<string, unknown>>) {
	const isAdded = overrideOptions.some(({ name }) => Object.hasOwn(values, name));
	// All or none of them are replaced, because a signature belongs to one user. `buildIdentity`
	// refuses a missing one.
	const { userId, userPublicKey, signature, timestamp } = params;
	return isAdded ? { userId, userPublicKey, signature, timestamp } : undefined;
}

export type WaitSettings = NonNullable<ReturnType<typeof readWaitSettings>>;

/**
 * Reads the settings of the wait. Returns undefined if the item does not wait.
 * @throws NodeError 400 if the match condition is empty
 */
export function readWaitSettings(params: ExecuteParams) {
	if (!params.waitForMessages) return undefined;
	const { failureField, failureValue, filterField, filterValue } = params;
	return {
		...params,
		/** A message that meets this condition ends the wait. */
		matchCondition: params.waitUntil === 'match' ? buildMatchCondition(params) : undefined,
		/** A message that meets this condition reports a failure. */
		failureCondition: toFieldCondition(failureField, failureValue),
		/**
		 * Only messages that meet this condition or report a failure count. Undefined means that
		 * all messages count.
		 */
		filterCondition: toFieldCondition(filterField, filterValue),
	};
}

function buildMatchCondition({
	matchField: field,
	matchValue: values,
}: ExecuteParams): FieldCondition {
	if (field === '' && values.length === 0)
		throw createRefusal(
			"'Final Message Field' and 'Final Message Values' are empty",
			'Enter the field and value of the message that ends the wait, such as type and answer. If the service ends with a text message such as [DONE], enter only the value.',
		);
	// Without a value, a message matches if the field holds an empty text.
	return { field, values: values.length === 0 ? [''] : values };
}
