import type { Field } from './field';
import { isRecord, kindOf, notA, type Reading } from './reading';

/**
 * What n8n's column mapper gives, or a plain object: values by column. A column that the form leaves open is not there.
 * @returns undefined where the fields of the input item are mapped by their names
 */
export function columnMapping(
	field: Field,
	raw: unknown,
	reading: Reading,
): Readonly<Record<string, unknown>> | undefined {
	if (!isRecord(raw))
		throw notA(field, reading, `an object with a value for each column, not ${kindOf(raw)}`);
	const isMapper = reading.mode === 'fields' && typeof raw['mappingMode'] === 'string';
	if (!isMapper) return raw;
	if (raw['mappingMode'] === 'autoMapInputData') return undefined;
	const values = isRecord(raw['value']) ? raw['value'] : {};
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
	);
}
