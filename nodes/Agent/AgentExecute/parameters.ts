import { refusal } from '../../core/errors';
import { Naming, type ParamsOf } from '../../fields/field';
import { type NodeParameters, paramsOf } from '../../fields/params';
import { isRecord } from '../../fields/values';
import type { ConnectionOptions } from '../session/connection';
import { givenValues } from '../session/fields';
import type { FieldValues } from '../session/messages';
import { executeFields, executeOptions } from './fields';
import { waitFields, waitOptions } from './waitFields';

/**
 * Checks the payload. A JSON text is sent unchanged, an object as its JSON.
 * @returns makes the text that is sent as `initialPayload`: only then, because all items are checked before the first is sent, and
 * the texts of thousands would be in memory twice
 * @throws NodeError 400 when the payload is no JSON object
 */
export function initialPayload(
	params: Pick<ExecuteParams, 'payloadMode' | 'task' | 'input' | 'payloadJson'>,
): () => string {
	const { payloadMode, task, input, payloadJson: payload } = params;
	if (payloadMode === 'taskAndInput') return () => JSON.stringify({ task, input });
	const value = typeof payload === 'string' ? parsed(payload) : payload;
	if (isRecord(value)) return () => (typeof payload === 'string' ? payload : JSON.stringify(value));
	throw refusal(
		`'Payload' must be a JSON object, not ${nameOf(value)}`,
		'Wrap the value in an object, such as {"items": …}.',
	);
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		// The parser's message quotes the payload.
		const position = /position (\d+)/.exec(String(error))?.[1];
		throw refusal(
			"'Payload' is not valid JSON",
			`${position ? `Parsing failed at character ${position}. ` : ''}Write an object such as {"task": "…"}, or use an expression.`,
		);
	}
}

function nameOf(value: unknown): string {
	if (value === null || value === undefined) return 'an empty value';
	return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

export const fields = [...executeFields, ...waitFields] as const;
export const options = [...executeOptions, ...waitOptions] as const;
const all = [...fields, ...options];

export type ExecuteParams = ParamsOf<typeof fields, typeof options>;

/** What the node's failures may name. */
export const naming = new Naming(all, 'fields');

/** What the user gave for one item, checked. */
export interface ItemParameters {
	readonly params: ExecuteParams;
	/** JSON text. */
	initialPayload(): string;
	/** As they are when the item's turn comes. @throws NodeError 400 for what can no longer be sent */
	paramsNow(): ExecuteParams;
}

/** @throws NodeError 400 that names the parameter */
export function itemParameters(parameters: NodeParameters, index: number): ItemParameters {
	const read = (): ExecuteParams => {
		const given = parameters.given(fields, index);
		// All its fields are in the form, so the time zone is never asked for.
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
	return {
		params,
		initialPayload: initialPayload(params),
		paramsNow: () => (areOverridesComputed(parameters) ? read() : params),
	};
}

/**
 * An expression that comes out empty is a mistake, such as a misspelled field: it must not start a new session, or an agent without a task.
 * @throws NodeError 400
 */
function checkExpressions(
	payloadMode: ExecuteParams['payloadMode'],
	given: Readonly<Record<string, unknown>>,
	parameters: NodeParameters,
): void {
	const isEmpty = (name: string) => {
		const value = given[name];
		return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
	};
	const isExpression = (name: string) => parameters.isExpression(name);
	if (isEmpty('sessionId') && isExpression('sessionId')) {
		throw refusal(
			"The expression in 'Session ID' is empty for this item",
			'Check that the input item contains the data. To start a new session for each item, leave the field itself empty.',
		);
	}
	const payload = payloadMode === 'json' ? ['payloadJson'] : ['task', 'input'];
	if (!payload.every(isEmpty) || !payload.some(isExpression)) return;
	throw refusal(
		payloadMode === 'json'
			? "The expression in 'Payload (JSON)' is empty for this item"
			: "'Task' and 'Input' are empty for this item",
		'Check that the input item contains the data that the expression names.',
	);
}

/** Options that take the place of the credential's values, as the form names them. */
const labels = {
	userId: 'User ID',
	userPublicKey: 'User Public Key',
	signature: 'Signature',
	timestamp: 'Timestamp',
} as const;

type Override = keyof typeof labels;

const overrides = Object.keys(labels) as Override[];

/** Whether an item's own values, such as a timestamp, may be outdated when the item is processed. */
function areOverridesComputed(parameters: NodeParameters): boolean {
	return overrides.some((name) => parameters.isComputed('options', name));
}

/**
 * An item must override all of these values or none: the credential's signature must not be sent for another user. A field left empty
 * in the form uses the credential's value for all items; only an expression can be empty for one item.
 * @throws NodeError 400 that names the option
 */
function checkOverrides(options: ExecuteParams, parameters: NodeParameters): void {
	const given = overrides.find((name) => options[name].trim() !== '');
	if (given === undefined) return;
	const missing = overrides.find(
		(name) => options[name].trim() === '' && parameters.isExpression('options', name),
	);
	if (missing === undefined) return;
	throw refusal(
		`The option '${labels[missing]}' is empty for this item, but '${labels[given]}' is not`,
		`Values of different users must not be mixed. Set '${labels[missing]}' for every item that sets '${labels[given]}', or remove the option to use the credential's value for all items.`,
	);
}

/** A running execution waits for the channel. */
const reconnectMaxDelaySeconds = 10;

/** What ends a wait, apart from its limits. */
export type WaitEnd =
	| ({ readonly by: 'match' } & FieldValues)
	| { readonly by: 'count'; readonly count: number }
	| { readonly by: 'close' }
	| { readonly by: 'silence'; readonly milliseconds: number };

type OwnSettings =
	| ('openChannel' | 'waitTimeoutSeconds' | 'onWaitTimeout' | 'maxMessages')
	| ('settleMilliseconds' | 'textField' | 'deduplicationField');

export interface WaitSettings extends Omit<ConnectionOptions, 'sessionId'>, Pick<ExecuteParams, OwnSettings> {
	readonly end: WaitEnd;
	/** Messages that report a failure; undefined: none do. */
	readonly failure: FieldValues | undefined;
	/** The messages that count, beside those that report a failure; undefined: all do. */
	readonly filter: FieldValues | undefined;
}

/** Undefined if the item does not wait. @throws NodeError 400 if nothing defines the end */
export function waitSettings(params: ExecuteParams): WaitSettings | undefined {
	if (!params.waitForMessages) return undefined;
	const { failureField, failureValue, filterField, filterValue } = params;
	return {
		...params,
		end: waitEnd(params),
		failure: givenValues(failureField, failureValue),
		filter: givenValues(filterField, filterValue),
		reconnectMaxDelaySeconds,
	};
}

function waitEnd(params: ExecuteParams): WaitEnd {
	const { waitUntil: by, messageCount, silenceSeconds } = params;
	switch (by) {
		case 'match':
			return { by, ...matchValues(params) };
		case 'count':
			return { by, count: messageCount };
		case 'silence':
			return { by, milliseconds: silenceSeconds * 1000 };
		case 'close':
			return { by };
	}
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
