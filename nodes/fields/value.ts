import { dateTimeOf } from './dateTime';
import type { Field } from './field';
import { held } from './held';
import { kindOf, notA, textOf, type Reading } from './reading';

/**
 * A given value as its operation gets it.
 * @throws Failure 400 that names the field and what is allowed
 */
export function valueOf(field: Field, raw: unknown, reading: Reading): unknown {
	if (field.read) return field.read(raw, field, reading);
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

function booleanOf(field: Field, raw: unknown, reading: Reading): boolean {
	if (typeof raw === 'boolean') return raw;
	if (reading.mode === 'fields' && raw === 'true') return true;
	if (reading.mode === 'fields' && raw === 'false') return false;
	throw notA(field, reading, `true or false, not ${kindOf(raw)}`);
}

function numberOf(field: Field, raw: unknown, reading: Reading): number {
	const { minimum = -Infinity, maximum = Infinity, decimals } = field;
	const fromText = reading.mode === 'fields' && typeof raw === 'string' && raw.trim() !== '';
	const value = fromText ? Number(raw) : raw;
	const isNumber = decimals === undefined ? Number.isInteger : Number.isFinite;
	if (typeof value === 'number' && isNumber(value) && value >= minimum && value <= maximum) return value;
	const given = typeof value === 'number' && !(fromText && Number.isNaN(value)) ? String(value) : kindOf(raw);
	throw notA(
		field,
		reading,
		`a ${decimals === undefined ? 'whole ' : ''}number${limits(field)}, not ${given}`,
	);
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
