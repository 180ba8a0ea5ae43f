import { refusal, type Failure } from '../core/failure';

import type { Field, Reading } from './field';

export type { Reading };

/** The field's name as the user sees it. */
export function labelOf({ displayName, name }: Field, { mode }: Reading): string {
	return mode === 'fields' ? displayName : name;
}

export function notA(field: Field, reading: Reading, wanted: string): Failure {
	return refusal(
		`'${labelOf(field, reading)}' must be ${wanted}`,
		reading.mode === 'fields' ? 'If it is an expression, check its result for this item.' : undefined,
	);
}

export function textOf(field: Field, raw: unknown, reading: Reading): string {
	if (typeof raw === 'string') return raw;
	if (reading.mode === 'fields' && (typeof raw === 'number' || typeof raw === 'boolean')) return String(raw);
	throw notA(field, reading, `text, not ${kindOf(raw)}`);
}

/** The JSON type of a value; never the value itself, which may be private. */
export function kindOf(raw: unknown): string {
	if (raw === null) return 'null';
	if (Array.isArray(raw)) return 'an array';
	if (typeof raw === 'object') return 'an object';
	return typeof raw === 'string' ? 'text' : `a ${typeof raw}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
