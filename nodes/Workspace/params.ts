import { refusal } from '../items/failure';

import type { Field, Operation, ParamsOf } from './operation';
import { labelOf, valueOf, type Reading } from './paramValue';
import { requestOptions, type RequestLimits } from './requestOptions';

export type Params = ParamsOf<readonly Field[], readonly Field[]>;

export interface CheckedParams {
	readonly params: Params;
	readonly limits: RequestLimits;
}

/**
 * The parameters of an operation from what was given for its fields. Both input modes come through here.
 * @param given by field name; undefined and null for what nobody gave
 * @throws Failure 400 that names the field and what is allowed
 */
export function paramsOf(
	operation: Operation,
	given: Readonly<Record<string, unknown>>,
	reading: Reading,
): CheckedParams {
	const fields = fieldsOf(operation);
	const values = new Map<string, unknown>();
	for (const field of fields) {
		const raw = given[field.name];
		const nobody = isMissing(raw) || (raw === '' && isBlankable(field, reading));
		values.set(
			field.name,
			valueOf(field, nobody ? defaultOf(field, reading) : raw, asDefault(nobody, reading)),
		);
	}
	for (const field of fields) {
		if (isShown(field, values)) requireGiven(field, given[field.name], values.get(field.name), reading);
		// What an earlier choice left behind does not count, as in n8n's own form.
		else if (reading.mode === 'fields')
			values.set(field.name, valueOf(field, field.default, formReading(reading)));
	}
	const all = Object.fromEntries(values);
	return { params: all as Params, limits: limitsOf(all) };
}

/** All that can be given to an operation. */
export function fieldsOf(operation: Operation): Field[] {
	return [...operation.fields, ...operation.options, ...requestOptions];
}

function isMissing(raw: unknown): boolean {
	return raw === undefined || raw === null;
}

/** A form field that was emptied counts as not given where no text is wanted. */
function isBlankable({ type }: Field, { mode }: Reading): boolean {
	return mode === 'fields' && ['number', 'boolean', 'options'].includes(type);
}

function defaultOf(field: Field, { mode }: Reading): unknown {
	return mode === 'json' && field.jsonDefault !== undefined ? field.jsonDefault : field.default;
}

/** Defaults are written in the form's shape. */
function asDefault(nobody: boolean, reading: Reading): Reading {
	return nobody ? formReading(reading) : reading;
}

function formReading(reading: Reading): Reading {
	return { ...reading, mode: 'fields' };
}

function isShown({ showWhen = {} }: Field, values: ReadonlyMap<string, unknown>): boolean {
	return Object.entries(showWhen).every(([name, allowed]) =>
		allowed.some((choice) => choice === values.get(name)),
	);
}

function requireGiven(field: Field, raw: unknown, value: unknown, reading: Reading): void {
	if (!field.required) return;
	const label = labelOf(field, reading);
	if (reading.mode === 'json' && isMissing(raw)) {
		throw refusal(`'${label}' is required`, 'The input object does not have this key, or it is null.');
	}
	// Only the operation knows whether nothing is something here.
	if (field.mayBeEmpty) return;
	// A text of several lines may be a mere line break.
	const text = typeof value === 'string' && !field.typeOptions?.rows ? value.trim() : value;
	if (text !== '') return;
	throw refusal(
		`'${label}' is required`,
		'It is empty. If it is an expression, check that the input item has the data.',
	);
}

function limitsOf(values: Readonly<Record<string, unknown>>): RequestLimits {
	const { maxTries, maxRetryWaitSeconds, timeoutSeconds } = values;
	return {
		maxTries: Number(maxTries),
		maxRetryWaitSeconds: Number(maxRetryWaitSeconds),
		timeoutSeconds: Number(timeoutSeconds),
	};
}
