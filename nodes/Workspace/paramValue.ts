import { refusal, type Failure } from '../items/failure';

import type { Field } from './operation';
import { held } from './paramHolds';
import { dateTimeOf } from './paramDateTime';

/** How values reach the node: the form's come from expressions and are taken generously, the object's must have their type. */
export interface Reading {
	readonly mode: 'fields' | 'json';
	/** IANA name of the workflow's time zone, for times without an offset. */
	readonly timezone: string;
}

/** What the user calls a field. */
export function labelOf({ displayName, name }: Field, { mode }: Reading): string {
	return mode === 'fields' ? displayName : name;
}

export function notA(field: Field, reading: Reading, wanted: string): Failure {
	return refusal(`'${labelOf(field, reading)}' must be ${wanted}`);
}

/**
 * A given value as its operation gets it.
 * @throws Failure 400 that names the field and what is allowed
 */
export function valueOf(field: Field, raw: unknown, reading: Reading): unknown {
	if (field.holds) return held(field, raw, reading);
	switch (field.type) {
		case 'boolean':
			return booleanOf(field, raw, reading);
		case 'number':
			return numberOf(field, raw, reading);
		case 'options':
			return choiceOf(field, raw, reading);
		case 'json':
			return raw;
		case 'dateTime':
			return dateTimeOf(field, raw, reading);
		default:
			return textOf(field, raw, reading);
	}
}

export function textOf(field: Field, raw: unknown, reading: Reading): string {
	if (typeof raw === 'string') return raw;
	if (reading.mode === 'fields' && (typeof raw === 'number' || typeof raw === 'boolean')) return String(raw);
	throw notA(field, reading, `text, not ${kindOf(raw)}`);
}

/** What a value is, in the words of JSON; never the value itself, which may be private. */
export function kindOf(raw: unknown): string {
	if (raw === null) return 'null';
	if (Array.isArray(raw)) return 'an array';
	if (typeof raw === 'object') return 'an object';
	return typeof raw === 'string' ? 'text' : `a ${typeof raw}`;
}

function booleanOf(field: Field, raw: unknown, reading: Reading): boolean {
	if (typeof raw === 'boolean') return raw;
	if (reading.mode === 'fields' && raw === 'true') return true;
	if (reading.mode === 'fields' && raw === 'false') return false;
	throw notA(field, reading, `true or false, not ${kindOf(raw)}`);
}

function numberOf(field: Field, raw: unknown, reading: Reading): number {
	const { minimum = -Infinity, maximum = Infinity } = field;
	const fromText = reading.mode === 'fields' && typeof raw === 'string' && raw.trim() !== '';
	const value = fromText ? Number(raw) : raw;
	if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum)
		return value;
	const given = typeof value === 'number' ? String(value) : kindOf(raw);
	throw notA(field, reading, `a whole number${limits(field)}, not ${given}`);
}

function limits({ minimum, maximum }: Field): string {
	if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`;
	return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function choiceOf(field: Field, raw: unknown, reading: Reading): string {
	const values = field.options?.map(({ value }) => value) ?? [];
	if (typeof raw === 'string' && values.includes(raw)) return raw;
	throw notA(field, reading, `one of: ${values.join(', ')}`);
}
