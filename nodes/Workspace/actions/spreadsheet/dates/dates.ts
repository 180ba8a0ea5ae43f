import { getOrAdd } from '../../../../core/boundedMap';

const dayMilliseconds = 86_400_000;
/** Day 0 of Google's serial numbers. */
const dayZero = Date.UTC(1899, 11, 30);

/** A number format of Google. Without a pattern, the locale of the spreadsheet decides how a cell looks. */
type DateFormat = Readonly<{ type: 'DATE' | 'TIME' | 'DATE_TIME'; pattern?: string }>;

/** A date, a time or both, as the number that a cell holds: days since December 30, 1899, in the spreadsheet's time zone. */
export class DateCell {
	readonly serial: number;
	readonly format: DateFormat;
	/** The text from which the date was parsed. */
	readonly text: string;

	constructor(millisecondsSinceDayZero: number, format: DateFormat, text: string) {
		this.serial = millisecondsSinceDayZero / dayMilliseconds;
		this.format = format;
		this.text = text;
	}

	/** Makes JSON.stringify send Google the number. */
	toJSON(): number {
		return this.serial;
	}

	toString(): string {
		return this.text;
	}
}

/** The settings of a spreadsheet that decide how dates are read and shown: its locale, such as `en_GB`, and its IANA time zone. */
export interface DateSettings {
	readonly locale: string;
	readonly timeZone: string;
}

const isoPattern =
	/^(?<day>\d{4}-\d{2}-\d{2})(?:[T ](?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d)(?::(?<seconds>[0-5]\d)(?:[.,](?<fraction>\d{1,9}))?)?(?<offset>Z|[+-]\d{2}:?\d{2})?)?$/i;
/** Matches a time, with or without a day before it. */
const timePattern =
	/^(?:(?<day>.+?),? )?(?<hours>[01]?\d|2[0-3]):(?<minutes>[0-5]\d)(?::(?<seconds>[0-5]\d)(?:\.(?<fraction>\d{1,3}))?)?(?: ?(?<meridiem>[AP])M)?$/i;
/** Matches durations such as `26:30:00` and `-1:00:00`. */
const durationPattern =
	/^(?<sign>-?)(?<hours>\d{1,6}):(?<minutes>[0-5]\d):(?<seconds>[0-5]\d)(?:\.(?<fraction>\d{1,3}))?$/;

/** Returns whether a text may be a complete date, a time, both or a duration. If no text is, the spreadsheet's settings are not fetched. */
export function mayBeDate(text: string): boolean {
	if (text.length > 40 || !/\d/.test(text)) return false;
	if (isoPattern.test(text) || durationPattern.test(text)) return true;
	const timeParts = timePattern.exec(text)?.groups;
	const day = timeParts ? timeParts.day : text;
	if (day === undefined || isoPattern.test(day)) return true;
	const words = splitDay(day);
	const hasWord = (pattern: RegExp) => words.some((word) => pattern.test(word));
	return words.length === 3 && hasWord(/^\d{4}$/) && hasWord(/^\d{1,2}$/);
}

/** Parses a date or timestamp in ISO 8601, a duration, or a time, a complete date or both in the locale's format. */
export function parseDate(text: string, { locale, timeZone }: DateSettings): DateCell | undefined {
	if (!mayBeDate(text)) return undefined;
	if (isoPattern.test(text)) return parseIso(text, timeZone);
	return parseDuration(text) ?? parseInLocale(text, locale);
}

function parseIso(text: string, timeZone: string): DateCell | undefined {
	const { day = '', offset, ...timeParts } = isoPattern.exec(text)?.groups ?? {};
	const writtenTime = parseIsoDay(day) + toMilliseconds(timeParts);
	const wallTime = offset ? toWallTime(writtenTime - parseOffset(offset), timeZone) : writtenTime;
	return toDateCell(
		wallTime,
		{ type: timeParts.hours === undefined ? 'DATE' : 'DATE_TIME' },
		text,
	);
}

function parseDuration(text: string): DateCell | undefined {
	const timeParts = durationPattern.exec(text)?.groups;
	if (!timeParts) return undefined;
	const { sign, hours = '' } = timeParts;
	// Read prints the hours of a time of day with two digits, so a single digit is a duration.
	const isTimeOfDay = !sign && hours.length > 1 && Number(hours) <= 23;
	if (isTimeOfDay) return undefined;
	const duration = toMilliseconds(timeParts);
	const pattern = /^0\d/.test(hours) ? '[hh]:mm:ss' : '[h]:mm:ss';
	return new DateCell(sign ? -duration : duration, { type: 'TIME', pattern }, text);
}

function parseInLocale(text: string, locale: string): DateCell | undefined {
	const timeParts = timePattern.exec(text)?.groups;
	const day = timeParts ? timeParts.day : text;
	const timeOfDayMilliseconds = timeParts ? toMilliseconds(timeParts) : 0;
	if (day === undefined) return new DateCell(timeOfDayMilliseconds, { type: 'TIME' }, text);
	const wallTime = parseDay(day, getDateStyle(locale)) + timeOfDayMilliseconds;
	return toDateCell(wallTime, { type: timeParts ? 'DATE_TIME' : 'DATE' }, text);
}

/** @param wallTime the time that clocks show, as milliseconds since 1970; NaN if there is no such time */
const toDateCell = (wallTime: number, format: DateFormat, text: string) =>
	Number.isNaN(wallTime) ? undefined : new DateCell(wallTime - dayZero, format, text);

/** @param time the parts of a time, as a pattern matches them. A missing part is 0. */
function toMilliseconds(time: Readonly<Record<string, string | undefined>>): number {
	const { hours = '', minutes = '', seconds = '', fraction = '', meridiem } = time;
	const hours24 = meridiem
		? (Number(hours) % 12) + (/p/i.test(meridiem) ? 12 : 0)
		: Number(hours);
	const totalSeconds = (hours24 * 60 + Number(minutes)) * 60 + Number(seconds);
	return totalSeconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function parseOffset(offset: string): number {
	if (/z/i.test(offset)) return 0;
	const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
	return (offset.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Returns the start of a day in UTC, as milliseconds since 1970; NaN if there is no such day, or if the year is before 1000. */
function toDayStart(year: number, month: number, day: number): number {
	const date = new Date(Date.UTC(year, month - 1, day));
	const isSame = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
	return year >= 1000 && isSame ? date.getTime() : NaN;
}

function parseIsoDay(isoDay: string): number {
	const [year = 0, month = 0, day = 0] = isoDay.split('-').map(Number);
	return toDayStart(year, month, day);
}

const zoneFormats = new Map<string, Intl.DateTimeFormat | undefined>();
function getZoneFormat(timeZone: string): Intl.DateTimeFormat | undefined {
	if (!zoneFormats.has(timeZone)) {
		const fields = {
			year: 'numeric',
			month: 'numeric',
			day: 'numeric',
			hour: 'numeric',
		} as const;
		const options = {
			...fields,
			minute: 'numeric',
			second: 'numeric',
			hourCycle: 'h23',
			timeZone,
		} as const;
		try {
			zoneFormats.set(timeZone, new Intl.DateTimeFormat('en-US', options));
		} catch {
			// Node does not know the time zone, so `toWallTime` returns NaN.
			zoneFormats.set(timeZone, undefined);
		}
	}
	return zoneFormats.get(timeZone);
}

/** Returns the time that clocks in a time zone show, as if it were UTC; NaN if the zone is unknown. @param instant ms since 1970 */
function toWallTime(instant: number, timeZone: string): number {
	const fixedOffset = /^GMT([+-]\d{2}:\d{2})$/.exec(timeZone)?.[1];
	if (fixedOffset !== undefined) return instant + parseOffset(fixedOffset);
	const parts = Number.isNaN(instant) ? [] : getZoneFormat(timeZone)?.formatToParts(instant);
	const getPart = (partType: string) => parts?.find(({ type }) => type === partType)?.value;
	const time = { hours: getPart('hour'), minutes: getPart('minute'), seconds: getPart('second') };
	const day = toDayStart(
		Number(getPart('year')),
		Number(getPart('month')),
		Number(getPart('day')),
	);
	// The format has no milliseconds. `%` is negative for times before 1970.
	const milliseconds = ((instant % 1000) + 1000) % 1000;
	return day + toMilliseconds(time) + milliseconds;
}

/** Prints a time zone's offset when its clocks show a time: `+01:00`; '' if clocks skip that time or the offset has seconds. */
function printOffset(wallTime: number, timeZone: string): string {
	// Clocks may change between the two times, so one offset or both may be right.
	for (const nearbyTime of [wallTime - dayMilliseconds, wallTime + dayMilliseconds]) {
		const offset = toWallTime(nearbyTime, timeZone) - nearbyTime;
		if (toWallTime(wallTime - offset, timeZone) !== wallTime || offset % 60_000 !== 0) continue;
		const offsetText = new Date(Math.abs(offset)).toISOString().slice(11, 16); // hh:mm
		return `${offset < 0 ? '-' : '+'}${offsetText}`;
	}
	return '';
}

/** Prints a date in ISO 8601, and a time or duration as `hh:mm:ss` or, with such a format, `h:mm:ss`. Undefined for other numbers. */
export function printDate(
	serial: number,
	{ type, pattern }: { readonly type?: string | null; readonly pattern?: string | null },
	timeZone: string,
): string | undefined {
	const milliseconds = Math.round(serial * dayMilliseconds);
	const wallTime = milliseconds + dayZero;
	const iso = Math.abs(wallTime) < 8.64e15 ? new Date(wallTime).toISOString() : ''; // the limit of Date
	if (!/^[1-9]\d{3}-/.test(iso)) return undefined;
	// A time of up to 366 days is more likely a sum of times than a date in 1900.
	if (type === 'TIME' && (milliseconds < 366 * dayMilliseconds || pattern?.includes('[')))
		return printDuration(milliseconds, pattern?.startsWith('[h]:mm:ss') ? 1 : 2);
	if (!/^(?:DATE|TIME|DATE_TIME)$/.test(type ?? '')) return undefined;
	if (type === 'DATE' && milliseconds % dayMilliseconds === 0) return iso.slice(0, 10);
	return `${iso.slice(0, 23)}${printOffset(wallTime, timeZone)}`;
}

function printDuration(milliseconds: number, hourDigits: number): string {
	const duration = Math.abs(milliseconds);
	const hours = String(Math.floor(duration / 3_600_000)).padStart(hourDigits, '0');
	const minutesAndSeconds = new Date(duration)
		.toISOString()
		.slice(13, duration % 1000 === 0 ? 19 : 23); // :mm:ss.sss
	return `${milliseconds < 0 ? '-' : ''}${hours}${minutesAndSeconds}`;
}

/** Returns whether two serial numbers are the same millisecond. */
export const isSameTime = (serial: number, otherSerial: number) =>
	Math.round(serial * dayMilliseconds) === Math.round(otherSerial * dayMilliseconds);

/** Rounds a date to a whole millisecond, if only a rounding error separates them. Other numbers stay as they are. */
export function roundToMillisecond(value: number): number {
	const milliseconds = value * dayMilliseconds;
	// A number below 1 is no date. At day 45,000, a double is exact to 0.0006 ms, and a formula may add up several such errors.
	const isTime = Math.abs(value) >= 1 && Math.abs(milliseconds - Math.round(milliseconds)) < 0.01;
	return isTime ? Math.round(milliseconds) / dayMilliseconds : value;
}

const splitDay = (day: string) => day.split(/[ ,./-]+/).filter((word) => word !== '');

type DateStyle = ReturnType<typeof buildDateStyle>;
const dateStyles = new Map<string, DateStyle>();
const getDateStyle = (locale: string) => getOrAdd(dateStyles, locale, () => buildDateStyle(locale));

/** Finds a locale's order of year, month and day, the separator between them, and the numbers of months by their names. */
function buildDateStyle(locale: string) {
	const tag = /^[a-z]{2,3}(_[A-Z]{2})?$/.test(locale) ? locale.replace('_', '-') : 'en-US';
	const utc = { timeZone: 'UTC', calendar: 'gregory', numberingSystem: 'latn' } as const;
	const numeric = { ...utc, day: 'numeric', month: 'numeric', year: 'numeric' } as const;
	const parts = new Intl.DateTimeFormat(tag, numeric).formatToParts();
	const months = new Map<string, number>();
	for (const month of ['long', 'short'] as const) {
		const format = new Intl.DateTimeFormat(tag, { ...numeric, month });
		for (let monthIndex = 0; monthIndex < 12; monthIndex++) {
			const name = format
				.formatToParts(Date.UTC(2024, monthIndex))
				.find(({ type }) => type === 'month');
			months.set(normalizeMonth(name?.value ?? ''), monthIndex + 1);
		}
	}
	const separator = parts.find(({ type }) => type === 'literal')?.value.trim() ?? '/';
	const order: readonly string[] = parts
		.map(({ type }) => type)
		.filter((type) => type !== 'literal');
	return { order, separator, months };
}

const normalizeMonth = (text: string) => text.toLowerCase().replaceAll('.', '');

/** Parses a day in ISO 8601, in the locale's format, or with a month's name, such as `5 Jan 2024`. Returns NaN for any other text. */
function parseDay(text: string, { order, separator, months }: DateStyle): number {
	if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return parseIsoDay(text);
	const numbers = text.split(separator).map((part) => part.trim());
	if (numbers.at(-1) === '') numbers.pop(); // some locales write 2024. 1. 5.
	const getNumber = (part: string) => numbers[order.indexOf(part)] ?? '';
	const iso = `${getNumber('year')}-${getNumber('month')}-${getNumber('day')}`;
	if (numbers.length === 3 && /^\d{4}-\d\d?-\d\d?$/.test(iso)) return parseIsoDay(iso);
	const words = splitDay(text);
	if (words.length !== 3) return NaN;
	const [monthNumber = NaN] = words.flatMap((word) => months.get(normalizeMonth(word)) ?? []);
	const findNumber = (pattern: RegExp) => Number(words.find((word) => pattern.test(word)));
	return toDayStart(findNumber(/^\d{4}$/), monthNumber, findNumber(/^\d{1,2}$/));
}
