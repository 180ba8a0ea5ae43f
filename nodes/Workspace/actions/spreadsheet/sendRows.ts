import { isNodeError, NodeError } from '../../../core/errors';
import { createStoppedError } from '../../../http/retry';
import type { Item } from '../../operation';
import { type Cell, hasColumnNames, readCellRows, readNamedRows, type RowsMember } from './cells';
import type { WriteParams } from './fields';
import { printAreaLike, type Corner } from './range';
import type { Spreadsheet } from './spreadsheet';

/** What was written for an item. */
export interface SheetWriteResult {
	readonly spreadsheetId: string;
	readonly updatedRange: string;
	readonly updatedRows: number;
	readonly updatedColumns: number;
	readonly updatedCells: number;
}

/**
 * What was written for each item, whose rows stand below those of the item before.
 * @param range any range in the same tab, as Google printed it
 * @param start first cell of the first item's rows
 */
export function buildWriteResults(
	spreadsheetId: string,
	range: string,
	{ row, column }: Corner,
	all: ReadonlyArray<readonly Cell[][]>,
): SheetWriteResult[] {
	let next = row;
	return all.map((rows) => {
		const written = rows.flatMap((cells) => cells.flatMap((cell, at) => (cell === null ? [] : [at])));
		const updatedRange = printAreaLike(range, { row: next, column }, rows.length, countColumns(rows));
		next += rows.length;
		const counts = { updatedColumns: new Set(written).size, updatedCells: written.length };
		return { spreadsheetId, updatedRange, updatedRows: rows.length, ...counts };
	});
}

/** Columns of the widest row, at least one. */
export function countColumns(rows: readonly Cell[][]): number {
	return rows.reduce((widest, row) => Math.max(widest, row.length), 1);
}

/** The size of requests that Google recommends not to exceed, in bytes. */
export const maxRequestBytes = 2_000_000;

/** Splits parts into requests of the recommended size. A part is written as a whole or not at all, so a larger one is sent alone. */
export function splitIntoChunks<T extends { readonly rows: readonly Cell[][] }>(
	parts: readonly T[],
	largest = maxRequestBytes,
): T[][] {
	const chunks: T[][] = [];
	let room = 0;
	for (const part of parts) {
		const size = countBytes(part.rows);
		const chunk = chunks.at(-1);
		if (chunk && size <= room) chunk.push(part);
		else {
			chunks.push([part]);
			room = largest;
		}
		room -= size;
	}
	return chunks;
}

function countBytes(rows: ReadonlyArray<readonly Cell[]>): number {
	return rows.reduce((sum, row) => sum + countRowBytes(row), 0);
}

/** What a member's rows add to a request, of which 1 is as much as it may hold. */
export function weighRows(member: RowsMember, largest = maxRequestBytes): number {
	const rows = hasColumnNames(member.params)
		? readNamedRows(member).map(({ cells }) => [...cells.values()])
		: readCellRows(member.params);
	return countBytes(rows) / largest;
}

/** Estimates the size as JSON. Escapes do not count: the limit is a recommendation, and not worth building the text twice. */
function countRowBytes(row: readonly Cell[]): number {
	let bytes = 3;
	for (const cell of row)
		bytes += typeof cell === 'string' ? Buffer.byteLength(cell) + 3 : String(cell).length + 1;
	return bytes;
}

interface SendSettings<E, R> {
	/** The word for messages, as in "Nothing was appended". */
	readonly done: 'appended' | 'written';
	/** How many bytes a request may have; what Google recommends if undefined. */
	readonly largest?: number;
	/** The rows whose size counts. */
	readonly rowsOf: (entry: E) => readonly Cell[][];
	/** Sends entries together; results in their order. */
	readonly send: (entries: E[], items: ReadonlyArray<Item | undefined>) => Promise<readonly R[]>;
}

type Members = ReadonlyArray<{ readonly item: Item }>;

/** The error for a member whose execution was stopped before anything was sent. */
export function findStop({ item }: Members[number]): NodeError | undefined {
	return item.signal?.aborted ? createStoppedError('Nothing was changed.') : undefined;
}

/** Nothing of a run is sent if the node would stop because of one of its entries, which is an error. */
export function spreadRefusals<E>(
	entries: ReadonlyArray<E | NodeError>,
	members: Members,
	done: SendSettings<E, unknown>['done'],
): Array<E | NodeError> {
	const notSent = new Map<unknown, NodeError>();
	for (const [at, entry] of entries.entries()) {
		const item = members[at]?.item;
		if (!isNodeError(entry) || item?.continueOnFail || notSent.has(item?.run)) continue;
		const message = `Nothing was ${done} because of item ${item?.index ?? at}: ${entry.message}`;
		notSent.set(item?.run, buildNotSentError(entry, message, entry.description));
	}
	return entries.map((entry, at) =>
		isNodeError(entry) ? entry : (notSent.get(members[at]?.item.run) ?? entry),
	);
}

/**
 * Sends the entries of all members in as few requests as Google recommends. A member whose entry is an error keeps it. After a failed
 * request nothing more is sent, because it would break the order.
 */
export async function sendInChunks<E, R>(
	given: ReadonlyArray<E | NodeError>,
	members: Members,
	{ done, largest, rowsOf, send }: SendSettings<E, R>,
): Promise<Array<R | NodeError>> {
	const entries = spreadRefusals(given, members, done);
	const results: Array<R | NodeError | undefined> = entries.map((entry) =>
		isNodeError(entry) ? entry : undefined,
	);
	const parts = entries.flatMap((entry, position) =>
		isNodeError(entry) ? [] : [{ position, entry, rows: rowsOf(entry) }],
	);
	let stopped: NodeError | undefined;
	for (const chunk of splitIntoChunks(parts, largest)) {
		const sent = stopped
			? buildNotSentError(
					stopped,
					`Not sent, because the previous rows were not ${done}: ${stopped.message}`,
					'Nothing was written for this item.',
				)
			: await send(
					chunk.map(({ entry }) => entry),
					chunk.map(({ position }) => members[position]?.item),
				).catch((error: unknown) => {
					if (isNodeError(error)) return (stopped = error);
					throw error;
				});
		for (const [at, { position }] of chunk.entries()) results[position] = isNodeError(sent) ? sent : sent[at];
	}
	return results.filter((result) => result !== undefined);
}

function buildNotSentError(
	{ code, status }: NodeError,
	message: string,
	description: string | undefined,
): NodeError {
	return new NodeError({ code, status, message, description });
}

/** The result for a single member. @throws NodeError */
export function takeOnlyResult<R>([result]: ReadonlyArray<R | NodeError>): R {
	if (result === undefined) throw new Error('There is no result');
	if (isNodeError(result)) throw result;
	return result;
}

/** How rows are sent, so that each value keeps its type. */
export interface CellEncoding {
	readonly valueInputOption: 'RAW' | 'USER_ENTERED';
	/** Prepares a value for sending. */
	readonly cell: (cell: Cell) => Cell;
	/** Prepares a text that must stay text, such as a header. */
	readonly text: (cell: Cell) => Cell;
}

/** Chooses how rows are sent. For `AUTO`, Google only makes dates of values as typed, so every other text gets an apostrophe, which keeps it. */
export async function chooseEncoding(
	book: Spreadsheet,
	params: Pick<WriteParams, 'valueInputOption' | 'valuesSource' | 'values'>,
	rows: ReadonlyArray<readonly Cell[]>,
): Promise<CellEncoding> {
	const { valueInputOption } = params;
	const keepCell = (cell: Cell) => cell;
	const asIs = { valueInputOption: 'RAW', cell: keepCell, text: keepCell } as const;
	if (valueInputOption !== 'AUTO') return { ...asIs, valueInputOption };
	// In rows of cells without names, dates stay text.
	const all = hasColumnNames(params) ? rows.flat() : [];
	const texts = all.filter((cell) => typeof cell === 'string').filter(mayBeDate);
	const locale = texts.every(isIsoOrTime) ? '' : await book.readLocale();
	if (!texts.some((one) => isDateText(one, locale))) return asIs;
	const text = (cell: Cell) => (typeof cell === 'string' && cell !== '' ? `'${cell}` : cell);
	return {
		valueInputOption: 'USER_ENTERED',
		cell: (cell) => (typeof cell === 'string' && isDateText(cell, locale) ? cell : text(cell)),
		text,
	};
}

/** Whether a text is a time, or has three parts with a year and a day. Only for such texts the sheet's locale is read. */
function mayBeDate(text: string): boolean {
	if (text.length > 40 || !/\d/.test(text)) return false;
	if (isIsoOrTime(text)) return true;
	const parts = splitDate(stripTime(text));
	const has = (pattern: RegExp) => parts.some((part) => pattern.test(part));
	return parts.length === 3 && has(/^\d{4}$/) && has(/^\d{1,2}$/);
}

const clockPattern = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[AP]M)?`;
const timePattern = new RegExp(`^${clockPattern}$`, 'i');
const dateTimePattern = new RegExp(`^(.+?),? ${clockPattern}$`, 'i');
const isoDatePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

function stripTime(text: string): string {
	return dateTimePattern.exec(text)?.[1] ?? text;
}

function splitDate(day: string): string[] {
	return day.split(/[ ,./-]+/).filter((part) => part !== '');
}

function isIsoOrTime(text: string): boolean {
	if (timePattern.test(text)) return true;
	const [, year, month, day] = isoDatePattern.exec(stripTime(text)) ?? [];
	return isCalendarDate(Number(year), Number(month), Number(day));
}

/** Whether a text is a complete date, a time or both, as ISO 8601 or the sheet's locale (such as `en_GB`) writes it. */
export function isDateText(text: string, locale: string): boolean {
	if (!mayBeDate(text)) return false;
	if (isIsoOrTime(text)) return true;
	const [day, style] = [stripTime(text), getDateStyle(locale)];
	return isNumericDate(day, style) || isDateWithMonthName(day, style);
}

interface DateStyle {
	/** Order of day, month and year in a date. */
	readonly order: readonly string[];
	readonly separator: string;
	/** Numbers of the months by their names, in lower case and without dots. */
	readonly months: ReadonlyMap<string, number>;
}

const dateStyles = new Map<string, DateStyle>();

function getDateStyle(locale: string): DateStyle {
	const known = dateStyles.get(locale);
	if (known) return known;
	const tag = /^[a-z]{2,3}(_[A-Z]{2})?$/.test(locale) ? locale.replace('_', '-') : 'en-US';
	const utc = { timeZone: 'UTC', calendar: 'gregory', numberingSystem: 'latn' } as const;
	const numeric = { ...utc, day: 'numeric', month: 'numeric', year: 'numeric' } as const;
	const parts = new Intl.DateTimeFormat(tag, numeric).formatToParts();
	const months = new Map<string, number>();
	for (const month of ['long', 'short'] as const) {
		const format = new Intl.DateTimeFormat(tag, { ...utc, day: 'numeric', month, year: 'numeric' });
		for (let number = 1; number <= 12; number++) {
			for (const { type, value } of format.formatToParts(Date.UTC(2024, number - 1))) {
				if (type === 'month') months.set(normalizeMonth(value), number);
			}
		}
	}
	const [separator = '/'] = parts.flatMap(({ type, value }) => (type === 'literal' ? [value.trim()] : []));
	const order = parts.map(({ type }) => type).filter((type) => type !== 'literal');
	const style = { order, separator, months };
	dateStyles.set(locale, style);
	return style;
}

function normalizeMonth(text: string): string {
	return text.toLowerCase().replaceAll('.', '');
}

function isNumericDate(text: string, { order, separator }: DateStyle): boolean {
	const numbers = text.split(separator).map((part) => part.trim());
	if (numbers.at(-1) === '') numbers.pop();
	const [year, month, day] = ['year', 'month', 'day'].map((name) => numbers[order.indexOf(name)]);
	const isDay = numbers.length === 3 && /^\d{4}-\d\d?-\d\d?$/.test(`${year}-${month}-${day}`);
	return isDay && isCalendarDate(Number(year), Number(month), Number(day));
}

/** Whether a text has a day, the name of a month and a year in any order, as in `5 Jan 2024` and `January 5, 2024`. */
function isDateWithMonthName(text: string, { months }: DateStyle): boolean {
	const parts = splitDate(text);
	const year = parts.find((part) => /^\d{4}$/.test(part));
	const day = parts.find((part) => /^\d{1,2}$/.test(part));
	const month = parts.map((part) => months.get(normalizeMonth(part))).find((number) => number !== undefined);
	return parts.length === 3 && month !== undefined && isCalendarDate(Number(year), month, Number(day));
}

function isCalendarDate(year: number, month: number, day: number): boolean {
	const date = new Date(Date.UTC(year, month - 1, day));
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
