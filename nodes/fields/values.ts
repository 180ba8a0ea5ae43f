import { tryToParseDateTime } from 'n8n-workflow';

import { type NodeError, refusal, shortened } from '../core/errors';
import type { Attachment, Field, FieldFormat, Reading } from './field';

const idPattern = /^[A-Za-z0-9_-]+$/;
const hosts = ['docs.google.com', 'drive.google.com', 'sheets.google.com', 'spreadsheets.google.com'];
/** `/d/<id>` of files, `/folders/<id>` of folders; `/d/e/…` is a page that was published to the web. */
const inPath = /\/(?:d|folders)\/(?!e\/)([^/]+)/;

const myDrive = /^\/drive\/(u\/\d+\/)?my-drive\/?$/;

/** The kind of file that a field wants, by the field's name. */
const kinds: Readonly<Record<string, { readonly path: string; readonly noun: string }>> = {
	spreadsheetId: { path: '/spreadsheets/', noun: 'spreadsheet' },
	documentId: { path: '/document/', noun: 'document' },
	parentFolder: { path: '/folders/', noun: 'folder' },
};

/** @throws NodeError 400 unless the text is an ID that can stand in a URL's path as it is */
export function checkedId(text: string, label: string): string {
	const id = text.trim();
	if (idPattern.test(id)) return id;
	throw refusal(
		`'${label}' is not an ID: ${shortened(id, 60)}`,
		'An ID contains only letters, digits, hyphens and underscores.',
	);
}

/** Takes an ID, or any URL that Google shows for a file or folder. @param name of the field, which tells the wanted kind of file */
export function fileIdOf(text: string, name: string, label: string): string {
	const given = text.trim();
	const url = urlOf(given);
	if (!url) return checkedId(given, label);
	if (!hosts.includes(url.hostname)) {
		throw refusal(`'${label}' is not a Google Drive or Google Docs URL: ${url.hostname}`, expected(name));
	}
	refuseOtherKind(url.pathname, name, label);
	if (name === 'parentFolder' && myDrive.test(url.pathname)) return 'root';
	const id = inPath.exec(url.pathname)?.[1] ?? url.searchParams.get('id') ?? url.searchParams.get('key');
	if (id && idPattern.test(id)) return id;
	const published = url.pathname.includes('/d/e/');
	throw refusal(
		`'${label}' is a URL without an ID`,
		published
			? 'This is the URL of a page published to the web. Open the file and use the URL from the address bar of the browser.'
			: expected(name),
	);
}

function urlOf(text: string): URL | undefined {
	if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : undefined;
	const [host = ''] = text.toLowerCase().split('/');
	return hosts.includes(host) && URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
}

function refuseOtherKind(path: string, name: string, label: string): void {
	const wanted = kinds[name];
	const found = Object.values(kinds).find((kind) => path.includes(kind.path));
	if (!wanted || !found || found === wanted) return;
	throw refusal(`'${label}' is the URL of a ${found.noun}, not of a ${wanted.noun}`, expected(name));
}

function expected(name: string): string {
	const noun = kinds[name]?.noun ?? 'file';
	return `Enter the ID of the ${noun}, or its URL from the address bar of the browser.`;
}

/** The field's name as the user sees it. */
export const labelOf = ({ displayName, name }: Field, { mode }: Reading) =>
	mode === 'fields' ? displayName : name;

export function notA(field: Field, reading: Reading, wanted: string): NodeError {
	return refusal(
		`'${labelOf(field, reading)}' must be ${wanted}`,
		reading.mode === 'fields' ? 'If it is an expression, check its result for this item.' : undefined,
	);
}

function textOf(field: Field, raw: unknown, reading: Reading): string {
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

export const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values by column, from n8n's column mapper or a plain object. Unset ones are left out. @returns undefined if n8n maps by name */
function columnMapping(field: Field, raw: unknown, reading: Reading) {
	const wanted = 'an object with a value for each column';
	if (!isRecord(raw)) throw notA(field, reading, `${wanted}, not ${kindOf(raw)}`);
	const isMapper = reading.mode === 'fields' && typeof raw['mappingMode'] === 'string';
	if (!isMapper) return raw;
	if (raw['mappingMode'] === 'autoMapInputData') return undefined;
	const values = isRecord(raw['value']) ? raw['value'] : {};
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
	);
}

/** The ID in a locator; '' if there is none. */
function idOf(field: Field, raw: unknown, reading: Reading): string {
	const text = locatorText(field, raw, reading);
	if (text.trim() === '') return '';
	const label = labelOf(field, reading);
	return field.format === 'fileId' ? fileIdOf(text, field.name, label) : checkedId(text, label);
}

/** The text of a locator. The form gives an object; an expression or a tool gives text. */
function locatorText(field: Field, raw: unknown, reading: Reading): string {
	const locator = reading.mode === 'fields' && isRecord(raw) && 'mode' in raw;
	return textOf(field, (locator ? raw['value'] : raw) ?? '', reading);
}

/** An entry of a list. One in double quotes may contain commas and doubled quotes. */
const listEntry = /(?:^|[,\n])[^\S\n]*(?:"((?:[^"\n]|"")*)"[^\S\n]*(?=[,\n]|$)|([^,\n]*))/g;

/** The entries of a text separated by commas or new lines. */
export function entriesOf(text: string): string[] {
	return [...text.matchAll(listEntry)]
		.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
		.filter((entry) => entry !== '');
}

/** Takes text separated by commas or new lines, or an array. */
export function listOf(field: Field, raw: unknown, reading: Reading): string[] {
	const entries = typeof raw === 'string' ? entriesOf(raw) : raw;
	if (!Array.isArray(entries)) {
		throw notA(field, reading, `an array, or text separated by commas or new lines, not ${kindOf(raw)}`);
	}
	return entries.map((entry) => textOf(field, entry, reading).trim()).filter((entry) => entry !== '');
}

type Pair = { readonly name: string; readonly value: string };

/** Takes the form's `{ group: [{ key, value }] }`, an array of such rows, or a plain object. */
function pairsOf(field: Field, raw: unknown, reading: Reading): Pair[] {
	const { group, key, value: second = 'value' } = field.pair ?? { group: 'pair', key: 'name' };
	const pairIn = (row: Readonly<Record<string, unknown>>) => ({
		name: textOf(field, row[key] ?? '', reading),
		value: textOf(field, row[second] ?? '', reading),
	});
	if (Array.isArray(raw) && raw.every(isRecord)) {
		refuseOtherKeys(field, raw, [key, second], `objects with ${key} and ${second}`, reading);
		return raw.map(pairIn);
	}
	if (!isRecord(raw)) throw notA(field, reading, `an object with names and values, not ${kindOf(raw)}`);
	const rows = raw[group];
	if (reading.mode === 'fields' && Array.isArray(rows)) return rows.filter(isRecord).map(pairIn);
	return Object.entries(raw).map(([name, value]) => ({ name, value: textOf(field, value, reading) }));
}

/** Refuses an unknown key in JSON mode, as at the top level. @throws NodeError 400 that names the key and what is wanted */
export function refuseOtherKeys(
	field: Field,
	entries: ReadonlyArray<Readonly<Record<string, unknown>>>,
	keys: readonly string[],
	wanted: string,
	reading: Reading,
): void {
	const other = entries.flatMap((entry) => Object.keys(entry)).find((key) => !keys.includes(key));
	if (other === undefined || reading.mode === 'fields') return;
	throw notA(field, reading, `${wanted}; '${other}' is not allowed`);
}

function rowsOf(field: Field, raw: unknown, reading: Reading): unknown[] {
	const takesRecords = field.format === 'records';
	const wanted = `an array of cells${takesRecords ? ' or an object keyed by header' : ''}`;
	const isRow = (row: unknown) => Array.isArray(row) || (takesRecords && isRecord(row));
	const label = labelOf(field, reading);
	const text = typeof raw === 'string' && raw.trim() === '' ? '[]' : raw;
	const rows = typeof text === 'string' ? parsedJson(text, `'${label}'`, jsonAdvice) : text;
	const wantedRows = `'${label}' must be an array of rows`;
	if (!Array.isArray(rows)) throw refusal(`${wantedRows}, not ${kindOf(rows)}`, rowsAdvice);
	const wrong = rows.findIndex((row) => !isRow(row));
	if (wrong === -1) return rows;
	throw refusal(`${wantedRows}, each ${wanted}; row ${wrong + 1} is ${kindOf(rows[wrong])}`, rowsAdvice);
}

const rowsAdvice = 'For example, two rows of two cells: [["Anna", 31], ["Ben", 42]].';

/** @param what the user's name for the text @throws NodeError 400 with the position only: the parser's message repeats the content */
export function parsedJson(text: string, what: string, advice: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		const place = /position \d+/.exec(String(error))?.[0];
		throw refusal(`${what} is not valid JSON${place === undefined ? '' : ` (at ${place})`}`, advice);
	}
}

const jsonAdvice =
	'Strings and keys must be in double quotes, with no comma after the last one. An expression that returns an array needs no quotes.';

function attachmentsOf(field: Field, raw: unknown, reading: Reading): Attachment[] {
	const entries = typeof raw === 'string' ? entriesOf(raw) : [raw].flat();
	return entries.flatMap((entry: unknown) => {
		if (typeof entry === 'string') return entry.trim() === '' ? [] : { field: entry.trim() };
		if (reading.mode === 'json' && isRecord(entry)) return contentAttachment(field, entry, reading);
		throw notA(field, reading, `a list of binary fields, not ${kindOf(entry)}`);
	});
}

function contentAttachment(field: Field, entry: Record<string, unknown>, reading: Reading): Attachment {
	const { fileName, mimeType, content } = entry;
	const wanted = 'names of binary fields or objects with fileName, mimeType and content (base64 text)';
	refuseOtherKeys(field, [entry], ['fileName', 'mimeType', 'content'], wanted, reading);
	const isComplete = typeof fileName === 'string' && typeof content === 'string';
	if (!isComplete || !(mimeType === undefined || typeof mimeType === 'string'))
		throw notA(field, reading, wanted);
	return { fileName, content, ...(mimeType !== undefined && { mimeType }) };
}

/** A time as ISO 8601 in UTC; '' for none. A time without an offset is in the workflow's time zone, as everywhere in n8n. */
function dateTimeOf(field: Field, raw: unknown, reading: Reading): string {
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

function booleanOf(field: Field, raw: unknown, reading: Reading): boolean {
	if (typeof raw === 'boolean') return raw;
	if (reading.mode === 'fields' && (raw === 'true' || raw === 'false')) return raw === 'true';
	throw notA(field, reading, `true or false, not ${kindOf(raw)}`);
}

function numberOf(field: Field, raw: unknown, reading: Reading): number {
	const { minimum = -Infinity, maximum = Infinity, decimals } = field;
	const fromText = reading.mode === 'fields' && typeof raw === 'string' && raw.trim() !== '';
	const value = fromText ? Number(raw) : raw;
	const isNumber = decimals === undefined ? Number.isInteger : Number.isFinite;
	if (typeof value === 'number' && isNumber(value) && value >= minimum && value <= maximum) return value;
	const given = typeof value === 'number' && !(fromText && Number.isNaN(value)) ? String(value) : kindOf(raw);
	const wanted = `a ${decimals === undefined ? 'whole ' : ''}number${limits(field)}`;
	throw notA(field, reading, `${wanted}, not ${given}`);
}

function limits({ minimum, maximum }: Field): string {
	if (minimum === undefined) return '';
	return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function choiceOf(field: Field, raw: unknown, reading: Reading): string {
	const values = field.options?.map(({ value }) => value) ?? [];
	if (typeof raw === 'string' && values.includes(raw)) return raw;
	throw notA(field, reading, `one of: ${values.join(', ')}`);
}

type Reader = (field: Field, raw: unknown, reading: Reading) => unknown;

const formats: Readonly<Record<FieldFormat, Reader>> = {
	list: listOf,
	addressList: (field, raw, reading) =>
		Array.isArray(raw) ? listOf(field, raw, reading).join('\n') : textOf(field, raw, reading),
	pairs: pairsOf,
	rows: rowsOf,
	records: rowsOf,
	columns: columnMapping,
	tab: (...given) => locatorText(...given).trim(),
	attachments: attachmentsOf,
	fileId: idOf,
	id: idOf,
};

const types: Partial<Readonly<Record<Field['type'], Reader>>> = {
	boolean: booleanOf,
	number: numberOf,
	options: choiceOf,
	json: (_, raw) => raw,
	dateTime: dateTimeOf,
};

/** Converts a given value to the one that the operation gets. @throws NodeError 400 that names the field and what is allowed */
export function valueOf(field: Field, raw: unknown, reading: Reading): unknown {
	if (field.read) return field.read(raw, field, reading);
	const reader = field.format ? formats[field.format] : (types[field.type] ?? textOf);
	return reader(field, raw, reading);
}
