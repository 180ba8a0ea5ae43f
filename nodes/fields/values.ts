import { type NodeError, createRefusal } from '../core/errors';
import { joinSentences } from '../core/text';
import {
	type AttachmentInput,
	type Field,
	type FieldFormat,
	quoteField,
	type ReadContext,
} from './field';
import { parseIsoTime, parseUnixTime } from './times';

export const missingDataAdvice =
	'If it is an expression, check that the input item contains the data. If Edit Fields removed it, turn on Include Other Input Fields there.';

export const createValueRefusal = ({ name }: Field, expectation: string): NodeError =>
	createRefusal(
		`${quoteField(name)} must be ${expectation}`,
		'If it is an expression, check what it returns for this item.',
	);

const createTypeRefusal = (raw: unknown, field: Field, expectation: string) =>
	createValueRefusal(field, `${expectation}, not ${describeType(raw)}`);

/** A Date and n8n's DateTime, such as {{ $now }}, become text in ISO 8601. */
const toPlainValue = (raw: unknown) =>
	(raw as { toJSON?(): unknown } | null | undefined)?.toJSON?.() ?? raw;

export function readText(raw: unknown, field: Field, { mode }: ReadContext): string {
	const value = toPlainValue(raw);
	if (typeof value === 'string') return value;
	const isScalar = typeof value === 'number' || typeof value === 'boolean';
	if (isScalar && mode === 'fields') return String(value);
	throw createTypeRefusal(raw, field, 'text');
}

/** Describes the JSON type of a value. Never repeats the value, which may be private. */
export function describeType(raw: unknown): string {
	if (raw == null) return String(raw);
	if (Array.isArray(raw)) return 'an array';
	if (typeof raw === 'object') return 'an object';
	return typeof raw === 'string' ? 'text' : `a ${typeof raw}`;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Finds the value at a dot path such as `result.items.0.id`. A key that itself contains the dots
 * takes precedence.
 */
export function findValueAtPath(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dotPosition = path.indexOf('.');
	if (dotPosition === -1) return undefined;
	const parent = findValueAtPath(value, path.slice(0, dotPosition));
	return findValueAtPath(parent, path.slice(dotPosition + 1));
}

/**
 * A text that a person typed into the form or a model filled in, and that no other expression made.
 */
export class TypedText {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

/** Returns what a locator names. Any other value is returned as it is. */
export const unwrapLocator = (given: unknown) =>
	isRecord(given) && 'mode' in given ? given['value'] : given;

/** Reads the text of a locator. The form gives an object. An expression or a tool gives text. */
export const readLocatorText = (raw: unknown, field: Field, context: ReadContext) =>
	readText((context.mode === 'fields' ? unwrapLocator(raw) : raw) ?? '', field, context);

/** Matches an entry of a list. An entry in double quotes may contain commas and doubled quotes. */
const listEntryPattern = /(?:^|[,\n])[^\S\n]*(?:"((?:[^"\n]|"")*)"[^\S\n]*(?=[,\n]|$)|([^,\n]*))/g;

/** Splits a text at commas and new lines, except within double quotes. Leaves out empty entries. */
export function splitList(text: string): string[] {
	return [...text.matchAll(listEntryPattern)]
		.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
		.filter((entry) => entry !== '');
}

export function readList(raw: unknown, field: Field, context: ReadContext): string[] {
	const given = typeof raw === 'number' && context.mode === 'fields' ? String(raw) : raw;
	const entries: unknown = typeof given === 'string' ? splitList(given) : given;
	if (!Array.isArray(entries))
		throw createTypeRefusal(raw, field, 'an array, or text separated by commas or new lines');
	const texts = entries
		.map((entry) => readText(entry, field, context))
		.filter((text) => text.trim() !== '');
	// What was picked from a list may begin or end with a space.
	const isPicked = field.type === 'multiOptions' && Array.isArray(raw);
	return isPicked ? texts : texts.map((text) => text.trim());
}

/** Refuses an unknown key of an entry. @throws NodeError 400 that names the key */
export function refuseUnknownEntryKeys(
	field: Field,
	entries: ReadonlyArray<Readonly<Record<string, unknown>>>,
	keys: readonly string[],
	expectation: string,
) {
	for (const key of entries.flatMap((entry) => Object.keys(entry)))
		if (!keys.includes(key))
			throw createValueRefusal(field, `${expectation}; '${key}' is not allowed`);
}

function readRows(raw: unknown, { name, format }: Field): unknown[] {
	const takesRecords = format === 'records';
	const rows = parseJson(isBlank(raw) ? [] : raw, quoteField(name), rowsAdvice);
	const message = `${quoteField(name)} must be an array of rows`;
	if (!Array.isArray(rows))
		throw createRefusal(`${message}, not ${describeType(rows)}`, rowsAdvice);
	const isRow = (row: unknown) => Array.isArray(row) || (takesRecords && isRecord(row));
	const wrongIndex = rows.findIndex((row) => !isRow(row));
	if (wrongIndex === -1) return rows;
	const records = takesRecords ? ' or an object keyed by header' : '';
	const found = `row ${wrongIndex + 1} is ${describeType(rows[wrongIndex])}`;
	throw createRefusal(`${message}, each an array of cells${records}; ${found}`, rowsAdvice);
}

const rowsAdvice = 'For example, two rows of two cells: [["Anna", 31], ["Ben", 42]].';

/**
 * Parses JSON, if the value is a text.
 * @param label names the text
 * @param example shows what is expected
 * @throws NodeError 400 with only the position, because the parser's message has content
 */
export function parseJson(raw: unknown, label: string, example = ''): unknown {
	if (typeof raw !== 'string') return raw;
	try {
		return JSON.parse(raw) as unknown;
	} catch (error) {
		const position = /position \d+/.exec(String(error));
		const place = position ? ` (at ${position[0]})` : '';
		throw createRefusal(
			`${label} is not valid JSON${place}`,
			joinSentences(example, jsonAdvice),
		);
	}
}

/**
 * The second sentence is for JSON with `"{{ … }}"`, which is no longer valid if the data has a
 * quote or a line break.
 */
const jsonAdvice =
	'Strings and keys must be in double quotes, without a trailing comma, and without the ``` that a model may put around them. If the text contains {{ }}, write {{ JSON.stringify($json.text) }} without quotes around it, or use one expression for the whole value.';

/** Refuses an expression, or an entry in JSON mode, that names no file. @throws NodeError 400 */
export function refuseUnnamedFiles(raw: unknown, field: Field, context: ReadContext) {
	const entries: unknown[] = typeof raw === 'string' ? raw.trim().split(/[,\n]/) : [raw].flat();
	if (context.mode === 'json') {
		// Null and an empty list say that no file is named on purpose.
		if (raw === null || entries.length === 0 || (field.mayBeEmpty && isBlank(raw))) return;
	} else if (!hasExpression(context.findSavedValue?.(field))) return;
	if (entries.length > 0 && entries.every((entry) => !isBlank(entry ?? ''))) return;
	throw createRefusal(
		`${quoteField(field.name)} names no file`,
		'It, or one of its entries, is empty for this item. Check the expression and that the input item contains the data, or remove it.',
	);
}

/** Returns whether a value that is saved in the workflow has an expression. */
export function hasExpression(value: unknown) {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
}

/**
 * Returns whether the expressions in a text inserted nothing, as in `order {{ $json.id }}` for
 * items without an ID, which would all get the same text. An expression with an empty text, such as
 * `{{ $json.id ?? '' }}`, may insert nothing.
 */
export function insertsNothing(saved: unknown, value: unknown) {
	if (typeof saved !== 'string' || typeof value !== 'string') return false;
	const typedText = saved.slice(1).replace(/\{\{(?:(?!''|"").)*?\}\}/gs, '');
	return saved.includes('{{') && typedText.trim() !== '' && value === typedText;
}

export const isBlank = (value: unknown) => typeof value === 'string' && value.trim() === '';

function readAttachment(entry: unknown, field: Field): AttachmentInput {
	if (typeof entry === 'string') return { field: entry.trim() };
	if (!isRecord(entry)) throw createTypeRefusal(entry, field, 'a list of binary fields');
	const expectation =
		'names of binary fields or objects with fileName, mimeType and content (base64 text)';
	refuseUnknownEntryKeys(field, [entry], ['fileName', 'mimeType', 'content'], expectation);
	const { fileName, mimeType = '', content } = entry;
	if ([fileName, mimeType, content].some((value) => typeof value !== 'string'))
		throw createValueRefusal(field, expectation);
	return entry as AttachmentInput;
}

function isAllowedNumber(value: number, { decimals, minimum, maximum }: Field) {
	if (!Number.isFinite(value)) return false;
	if (decimals === undefined && !Number.isInteger(value)) return false;
	return value >= (minimum ?? value) && value <= (maximum ?? value);
}

function describeLimits({ minimum, maximum }: Field): string {
	if (minimum === undefined) return ''; // no field has only a maximum
	return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/** Lists the names and values of a form's `{ group: [{ name, value }] }`, or of a plain object. */
function listPairs(record: Readonly<Record<string, unknown>>, group = ''): unknown[][] {
	const rows = record[group];
	if (!Array.isArray(rows)) return Object.entries(record);
	return rows.filter(isRecord).map((row) => [row['name'] ?? '', row['value'] ?? '']);
}

type ValueReader = (raw: unknown, field: Field, context: ReadContext) => unknown;

const formatReaders: Readonly<Record<FieldFormat, ValueReader>> = {
	list: readList,
	rows: readRows,
	records: readRows,

	addressList: (raw, field, context) =>
		Array.isArray(raw)
			? readList(raw, field, context).join('\n')
			: readText(raw, field, context),

	/** Skips a row of the form that nobody filled in. */
	pairs(raw, field, context) {
		if (!isRecord(raw)) throw createTypeRefusal(raw, field, 'an object with names and values');
		const group = context.mode === 'fields' ? field.entries?.group : undefined;
		// The values of headers such as X-Priority are often numbers.
		const readPart = (part: unknown) => readText(part, field, { ...context, mode: 'fields' });
		const pairs = listPairs(raw, group).map(([name, value]) => ({
			name: readPart(name),
			value: readPart(value),
		}));
		return pairs.filter(({ name, value }) => name !== '' || value !== '');
	},

	attachments(raw, field) {
		const entries: unknown[] = typeof raw === 'string' ? splitList(raw) : [raw].flat();
		const filledEntries = entries.filter((entry) => !isBlank(entry));
		return filledEntries.map((entry) => readAttachment(entry, field));
	},

	tab(raw, field, context) {
		const title = readLocatorText(raw, field, context);
		return isBlank(title) ? '' : title;
	},

	/**
	 * Reads values by column from n8n's column mapper or a plain object. Unset values are
	 * undefined.
	 * @returns undefined if n8n maps by name
	 */
	columns(raw, field, { mode }) {
		if (!isRecord(raw))
			throw createTypeRefusal(raw, field, 'an object with a value for each column');
		if (mode === 'json' || typeof raw['mappingMode'] !== 'string') return raw;
		if (raw['mappingMode'] === 'autoMapInputData') return undefined;
		const values = Object.entries(raw['value'] ?? {}) as Array<[string, unknown]>;
		return Object.fromEntries(values.map(([name, value]) => [name, value ?? undefined]));
	},
};

const typeReaders: Partial<Readonly<Record<Field['type'], ValueReader>>> = {
	json: (raw) => raw,

	boolean(raw, field, { mode }) {
		if (typeof raw === 'boolean') return raw;
		if (mode === 'fields' && (raw === 'true' || raw === 'false')) return raw === 'true';
		throw createTypeRefusal(raw, field, 'true or false');
	},

	number(raw, field, { mode }) {
		const mayBeText = mode === 'fields' && typeof raw === 'string' && !isBlank(raw);
		const value = mayBeText && !Number.isNaN(Number(raw)) ? Number(raw) : raw;
		if (typeof value === 'number' && isAllowedNumber(value, field)) return value;
		const kind = field.decimals === undefined ? 'a whole number' : 'a number';
		const found = typeof value === 'number' ? value : describeType(raw);
		throw createValueRefusal(field, `${kind}${describeLimits(field)}, not ${found}`);
	},

	options(raw, field) {
		const values = field.options?.map(({ value }) => value) ?? [];
		if (typeof raw === 'string' && values.includes(raw)) return raw;
		throw createValueRefusal(field, `one of: ${values.join(', ')}`);
	},

	/**
	 * Reads a time as ISO 8601 in UTC, or ''. Takes what n8n and programs write. What a person
	 * writes, such as 2.11.2026, is refused, because it can mean two days. A time without an offset
	 * is in the workflow's time zone, as everywhere in n8n.
	 */
	dateTime(raw, field, { timezone }) {
		if (raw === '') return '';
		const value = toPlainValue(raw);
		const text = typeof value === 'string' ? value : '';
		const isNumber = typeof value === 'number' || /^\d{9,13}$/.test(text);
		const time = isNumber ? parseUnixTime(Number(value)) : parseIsoTime(text, timezone);
		if (time) return time.toISOString();
		const expectation =
			'a date and time, such as 2026-01-31T09:00:00Z, or the milliseconds or seconds since 1970';
		throw createValueRefusal(field, expectation);
	},
};

/**
 * Converts a raw value to the value that the operation gets. In the form, an expression may give a
 * number as text, or a text as a number or boolean. In an input object, this is a wrong type.
 * @throws NodeError 400 that names the field and what is allowed
 */
export function readValue(raw: unknown, field: Field, context: ReadContext): unknown {
	if (field.read) return field.read(raw, field, context);
	const reader = field.format ? formatReaders[field.format] : typeReaders[field.type];
	return (reader ?? readText)(raw, field, context);
}
