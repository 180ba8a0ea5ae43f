import { refusal } from '../core/errors';
import type { Field, ParamsOf } from './field';
import { labelOf, type Reading, valueOf } from './values';

export type Params = ParamsOf<readonly Field[], readonly Field[]>;

/**
 * Reads the values of fields from the given input. Every node and both input modes use this.
 * @param given by field name; undefined and null for fields without a value
 * @throws NodeError 400 that names the field and what is allowed
 */
export function paramsOf<const F extends readonly Field[]>(
	fields: F,
	given: Readonly<Record<string, unknown>>,
	reading: Reading,
): ParamsOf<F, []> {
	const values = new Map<string, unknown>();
	const byName = new Map(fields.map((field) => [field.name, field]));
	const valueFor = (field: Field): unknown => {
		if (!values.has(field.name)) {
			const isShown = conditionsOf(field).every(([name, allowed]) => {
				const other = byName.get(name);
				return other !== undefined && allowed.some((choice) => choice === valueFor(other));
			});
			const isNeeded = field.requiredUnless === undefined || isMissing(given[field.requiredUnless]);
			values.set(field.name, read(field, given[field.name], { isShown, isNeeded }, reading));
		}
		return values.get(field.name);
	};
	fields.forEach(valueFor);
	// Each value was read as its field's type says.
	return Object.fromEntries(values) as ParamsOf<F, []>;
}

function conditionsOf({ showWhen = {} }: Field) {
	return Object.entries(showWhen);
}

interface Need {
	readonly isShown: boolean;
	readonly isNeeded: boolean;
}

function read(field: Field, raw: unknown, { isShown, isNeeded }: Need, reading: Reading): unknown {
	// Values left over from an earlier choice do not count, as in n8n's own form.
	if (!isShown && reading.mode === 'fields')
		return valueOf(field, field.hiddenDefault ?? field.default, reading);
	const nobody = isMissing(raw) || (raw === '' && isBlankable(field, reading));
	const value = valueOf(field, nobody ? defaultOf(field, reading) : raw, asDefault(nobody, reading));
	if (isShown && isNeeded) requireGiven(field, raw, value, reading);
	return value;
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
	const isNothing = text === '' || (field.format === 'list' && Array.isArray(value) && value.length === 0);
	if (!isNothing) return;
	throw refusal(
		`'${label}' is required`,
		'It is empty. If it is an expression, check that the input item contains the data.',
	);
}

/** The options that every operation has; they govern its requests. */
export const requestOptions = [
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		default: 120,
		minimum: 0,
		maximum: 3600,
		description:
			'Max total time to wait between tries of a request. If the service asks for a longer wait, the item fails at once.',
	},
	{
		displayName: 'Max Tries',
		name: 'maxTries',
		type: 'number',
		default: 5,
		minimum: 1,
		maximum: 20,
		description:
			'How often to try a request if the service is rate-limiting requests or cannot be reached. A request that may have been carried out is sent again only if repeating it changes nothing.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		default: 300,
		minimum: 1,
		maximum: 3600,
		description: 'Max time for a single request',
	},
] as const satisfies readonly Field[];

export interface RequestLimits {
	readonly maxTries: number;
	readonly maxRetryWaitSeconds: number;
	readonly timeoutSeconds: number;
}

/** @param values checked values of all fields */
export function limitsOf(values: Readonly<Record<string, unknown>>): RequestLimits {
	const { maxTries, maxRetryWaitSeconds, timeoutSeconds } = values;
	return {
		maxTries: Number(maxTries),
		maxRetryWaitSeconds: Number(maxRetryWaitSeconds),
		timeoutSeconds: Number(timeoutSeconds),
	};
}
