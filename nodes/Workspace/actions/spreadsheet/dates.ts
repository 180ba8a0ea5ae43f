/** Whether a text is a time, or has three parts with a year and a day. Only for such texts the sheet's locale is read. */
export function mayBeDate(text: string): boolean {
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

export function isIsoOrTime(text: string): boolean {
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
