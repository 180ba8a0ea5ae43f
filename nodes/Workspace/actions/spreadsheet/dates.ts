import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../operation';
import type { Cell, Entering } from './cells';

/** How rows are sent, so that each value keeps its type. */
export interface Entry {
	readonly valueInputOption: 'RAW' | 'USER_ENTERED';
	/** A value as it goes out. */
	readonly cell: (cell: Cell) => Cell;
	/** A text that stays text, such as a header. */
	readonly text: (cell: Cell) => Cell;
}

interface Typed {
	readonly spreadsheetId: string;
	readonly valueInputOption: Entering['valueInputOption'];
}

/**
 * For `AUTO`: only what is taken as typed can become a date. Then every other text gets an apostrophe, which Google Sheets takes for
 * "this is text" and does not show.
 */
export async function entryFor(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, valueInputOption }: Typed,
	item: Item,
	rows: ReadonlyArray<readonly Cell[]>,
): Promise<Entry> {
	const same = (cell: Cell) => cell;
	if (valueInputOption !== 'AUTO') return { valueInputOption, cell: same, text: same };
	const texts = rows
		.flat()
		.filter((cell) => typeof cell === 'string')
		.filter(mayBeDate);
	const locale = texts.every(isIsoOrTime) ? '' : await localeOf(sheets, spreadsheetId, item);
	if (!texts.some((text) => isDate(text, locale))) return { valueInputOption: 'RAW', cell: same, text: same };
	const text = (cell: Cell) => (typeof cell === 'string' && cell !== '' ? `'${cell}` : cell);
	return {
		valueInputOption: 'USER_ENTERED',
		cell: (cell) => (typeof cell === 'string' && isDate(cell, locale) ? cell : text(cell)),
		text,
	};
}

async function localeOf(sheets: sheets_v4.Sheets, spreadsheetId: string, item: Item): Promise<string> {
	return await item.once(`locale ${spreadsheetId}`, async () => {
		const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields: 'properties.locale' });
		return data.properties?.locale ?? '';
	});
}

/** A time, or three parts of which one is a year and one a day: the sheet's locale is asked for only where this fits. */
function mayBeDate(text: string): boolean {
	if (text.length > 40 || !/\d/.test(text)) return false;
	if (isIsoOrTime(text)) return true;
	const parts = partsOf(dayOf(text));
	return (
		parts.length === 3 &&
		parts.some((part) => /^\d{4}$/.test(part)) &&
		parts.some((part) => /^\d{1,2}$/.test(part))
	);
}

const clock = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[AP]M)?`;
const timeOnly = new RegExp(`^${clock}$`, 'i');
const withTime = new RegExp(`^(.+?),? ${clock}$`, 'i');
const iso = /^(\d{4})-(\d{2})-(\d{2})$/;

function dayOf(text: string): string {
	return withTime.exec(text)?.[1] ?? text;
}

function partsOf(day: string): string[] {
	return day.split(/[ ,./-]+/).filter((part) => part !== '');
}

function isIsoOrTime(text: string): boolean {
	if (timeOnly.test(text)) return true;
	const [, year, month, day] = iso.exec(dayOf(text)) ?? [];
	return exists(Number(year), Number(month), Number(day));
}

/**
 * Whether a text is a complete date, a time or both, as ISO 8601 or the sheet's locale writes it.
 * @param locale of Google, such as `en_GB`
 */
export function isDate(text: string, locale: string): boolean {
	if (!mayBeDate(text)) return false;
	if (isIsoOrTime(text)) return true;
	const day = dayOf(text);
	return isNumeric(day, styleOf(locale)) || isNamed(day, styleOf(locale));
}

interface Style {
	/** Of day, month and year in a date. */
	readonly order: readonly string[];
	readonly separator: string;
	/** Of the months, in lower case and without dots. */
	readonly months: ReadonlyMap<string, number>;
}

const styles = new Map<string, Style>();

function styleOf(locale: string): Style {
	const known = styles.get(locale);
	if (known) return known;
	const tag = /^[a-z]{2,3}(_[A-Z]{2})?$/.test(locale) ? locale.replace('_', '-') : 'en-US';
	const utc = { timeZone: 'UTC', calendar: 'gregory', numberingSystem: 'latn' } as const;
	const numeric = new Intl.DateTimeFormat(tag, { ...utc, day: 'numeric', month: 'numeric', year: 'numeric' });
	const parts = numeric.formatToParts(new Date(Date.UTC(2024, 0, 31)));
	const months = new Map<string, number>();
	for (const month of ['long', 'short'] as const) {
		const format = new Intl.DateTimeFormat(tag, { ...utc, day: 'numeric', month, year: 'numeric' });
		for (let number = 1; number <= 12; number++) {
			const name = format.formatToParts(new Date(Date.UTC(2024, number - 1, 1)));
			months.set(plainName(name.find(({ type }) => type === 'month')?.value ?? ''), number);
		}
	}
	const style = {
		order: parts.map(({ type }) => type).filter((type) => type !== 'literal'),
		separator: parts.find(({ type }) => type === 'literal')?.value.trim() ?? '/',
		months,
	};
	styles.set(locale, style);
	return style;
}

function plainName(text: string): string {
	return text.toLowerCase().replaceAll('.', '');
}

function isNumeric(text: string, { order, separator }: Style): boolean {
	const numbers = text.split(separator).map((part) => part.trim());
	if (numbers.at(-1) === '') numbers.pop();
	const part = (name: string) => numbers[order.indexOf(name)] ?? '';
	if (numbers.length !== 3 || !/^\d{4}$/.test(part('year'))) return false;
	if (!/^\d{1,2}$/.test(part('month')) || !/^\d{1,2}$/.test(part('day'))) return false;
	return exists(Number(part('year')), Number(part('month')), Number(part('day')));
}

/** Day, month and year in any order, as in `5 Jan 2024` and `January 5, 2024`. */
function isNamed(text: string, { months }: Style): boolean {
	const parts = partsOf(text);
	const year = parts.find((part) => /^\d{4}$/.test(part));
	const day = parts.find((part) => /^\d{1,2}$/.test(part));
	const month = parts.map((part) => months.get(plainName(part))).find((number) => number !== undefined);
	return parts.length === 3 && month !== undefined && exists(Number(year), month, Number(day));
}

function exists(year: number, month: number, day: number): boolean {
	const date = new Date(Date.UTC(year, month - 1, day));
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
