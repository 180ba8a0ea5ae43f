import { refusal } from '../core/failure';

import type { Attachment, Field } from './field';
import { columnMapping } from './columnMapping';
import { checkedId, fileIdOf } from './googleIds';
import { isRecord, kindOf, labelOf, notA, textOf, type Reading } from './reading';

/** Values with a format beyond their type. @throws Failure 400 */
export function held(field: Field, raw: unknown, reading: Reading): unknown {
	const label = labelOf(field, reading);
	switch (field.holds) {
		case 'list':
			return listOf(field, raw, reading);
		case 'addressList':
			return Array.isArray(raw) ? listOf(field, raw, reading).join('\n') : textOf(field, raw, reading);
		case 'pairs':
			return pairsOf(field, raw, reading);
		case 'rows':
			return rowsOf(field, raw, reading);
		case 'records':
			return recordsOf(field, raw, reading);
		case 'columns':
			return columnMapping(field, raw, reading);
		case 'tab':
			return locatorText(field, raw, reading).trim();
		case 'attachments':
			return attachmentsOf(field, raw, reading);
		case 'fileId':
			return emptyOr(locatorText(field, raw, reading), (text) => fileIdOf(text, field.name, label));
		default:
			return emptyOr(locatorText(field, raw, reading), (text) => checkedId(text, label));
	}
}

function emptyOr(text: string, parse: (text: string) => string): string {
	return text.trim() === '' ? '' : parse(text);
}

/** The form gives a locator as an object, an expression or a tool as text. */
function locatorText(field: Field, raw: unknown, reading: Reading): string {
	const locator = reading.mode === 'fields' && isRecord(raw) && 'mode' in raw;
	return textOf(field, (locator ? raw['value'] : raw) ?? '', reading);
}

/** Of a text separated by commas or new lines. */
export function entriesOf(text: string): string[] {
	return text
		.split(/[,\n]/)
		.map((entry) => entry.trim())
		.filter((entry) => entry !== '');
}

/** Text separated by commas or new lines, or an array. */
export function listOf(field: Field, raw: unknown, reading: Reading): string[] {
	const entries = typeof raw === 'string' ? entriesOf(raw) : raw;
	if (!Array.isArray(entries)) {
		throw notA(field, reading, `an array, or text separated by commas or new lines, not ${kindOf(raw)}`);
	}
	return entries.map((entry) => textOf(field, entry, reading).trim()).filter((entry) => entry !== '');
}

type Pair = { readonly name: string; readonly value: string };

/** The form's `{ group: [{ key, value }] }`, or a plain object. */
function pairsOf(field: Field, raw: unknown, reading: Reading): Pair[] {
	const { group, key } = field.pair ?? { group: 'pair', key: 'name' };
	if (!isRecord(raw)) throw notA(field, reading, `an object with names and values, not ${kindOf(raw)}`);
	const rows = raw[group];
	if (reading.mode === 'fields' && (Array.isArray(rows) || Object.keys(raw).length === 0)) {
		return (Array.isArray(rows) ? rows : []).filter(isRecord).map((row) => ({
			name: textOf(field, row[key] ?? '', reading),
			value: textOf(field, row['value'] ?? '', reading),
		}));
	}
	return Object.entries(raw).map(([name, value]) => ({ name, value: textOf(field, value, reading) }));
}

function rowsOf(field: Field, raw: unknown, reading: Reading): unknown[][] {
	return rowsOfKind(field, raw, reading, 'an array of cells', Array.isArray) as unknown[][];
}

function recordsOf(field: Field, raw: unknown, reading: Reading): unknown[] {
	const isRow = (row: unknown) => Array.isArray(row) || isRecord(row);
	return rowsOfKind(field, raw, reading, 'an array of cells or an object keyed by header', isRow);
}

function rowsOfKind(
	field: Field,
	raw: unknown,
	reading: Reading,
	wanted: string,
	isRow: (row: unknown) => boolean,
): unknown[] {
	const rows = typeof raw === 'string' ? parsed(field, raw, reading) : raw;
	const label = labelOf(field, reading);
	if (!Array.isArray(rows))
		throw refusal(`'${label}' must be an array of rows, not ${kindOf(rows)}`, rowsAdvice);
	const wrong = rows.findIndex((row) => !isRow(row));
	if (wrong === -1) return rows;
	throw refusal(
		`'${label}' must be an array of rows, each ${wanted}; row ${wrong + 1} is ${kindOf(rows[wrong])}`,
		rowsAdvice,
	);
}

const rowsAdvice = 'For example, two rows of two cells: [["Anna", 31], ["Ben", 42]].';

/** Empty text holds no rows. */
function parsed(field: Field, text: string, reading: Reading): unknown {
	if (text.trim() === '') return [];
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		throw refusal(`'${labelOf(field, reading)}' is not valid JSON${positionIn(error)}`, jsonAdvice);
	}
}

const jsonAdvice =
	'Strings and keys must be in double quotes, with no comma after the last one. An expression that returns an array needs no quotes.';

/** The place alone: the rest of the message repeats the content. */
export function positionIn(error: unknown): string {
	const place = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
	return place ? ` (at ${place})` : '';
}

function attachmentsOf(field: Field, raw: unknown, reading: Reading): Attachment[] {
	if (typeof raw === 'string') return listOf(field, raw, reading).map((name) => ({ field: name }));
	const entries = Array.isArray(raw) ? raw : [raw];
	return entries.map((entry: unknown) => {
		if (typeof entry === 'string') return { field: entry.trim() };
		if (reading.mode === 'json' && isRecord(entry)) return contentAttachment(field, entry, reading);
		throw notA(field, reading, `a list of binary fields, not ${kindOf(entry)}`);
	});
}

const attachmentKeys = ['fileName', 'mimeType', 'content'];

function contentAttachment(field: Field, entry: Record<string, unknown>, reading: Reading): Attachment {
	const { fileName, mimeType, content } = entry;
	const unknownKey = Object.keys(entry).find((key) => !attachmentKeys.includes(key));
	const complete = typeof fileName === 'string' && typeof content === 'string';
	if (unknownKey !== undefined || !complete || !(mimeType === undefined || typeof mimeType === 'string')) {
		const wanted = 'names of binary fields or objects with fileName, mimeType and content (base64 text)';
		throw notA(
			field,
			reading,
			unknownKey === undefined ? wanted : `${wanted}; '${unknownKey}' is not allowed`,
		);
	}
	return { fileName, content, ...(mimeType !== undefined && { mimeType }) };
}
