import { tryToParseDateTime } from 'n8n-workflow';

import type { Field } from './field';
import { notA, type Reading } from './reading';

/** A time as ISO 8601 in UTC; '' for none. What has no offset is in the workflow's time zone, as everywhere in n8n. */
export function dateTimeOf(field: Field, raw: unknown, reading: Reading): string {
	if (raw === '') return '';
	const wanted = 'a date and time, such as 2026-01-31T09:00:00Z';
	if (reading.mode === 'json' && typeof raw !== 'string') throw notA(field, reading, wanted);
	try {
		return tryToParseDateTime(raw, reading.timezone).toJSDate().toISOString();
	} catch {
		// n8n's message repeats the value.
		throw notA(field, reading, wanted);
	}
}
