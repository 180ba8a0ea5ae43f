import { getOrAdd } from '../../../core/maps';
import { dayMilliseconds, printOffset, readOffset, toWallTime } from '../../../core/timeZones';

/** Day 0 of Google's serial numbers. */
const dayZero = Date.UTC(1899, 11, 30);

/**
 * Number formats of Google. Without a pattern, the locale of the spreadsheet decides how a cell
 * looks.
 */
const formats = {
	date: { type: 'DATE' },
	dateTime: { type: 'DATE_TIME' },
	duration: { type: 'TIME', pattern: '[h]:mm:ss' },
	time: { type: 'TIME' },
} as const;

/** A number format as Google returns it. */
export interface NumberFormat {
	readonly type?: string | null;
	readonly pattern?: string | null;
}

/**
 * A date, a time or both, as the number that a cell holds: days since December 30, 1899, in the
 * spreadsheet's time zone.
 */
export class DateCell {
	readonly serial: number;
	/** Equal formats are the same object. */
	readonly format: NumberFormat;
	/** The text from which the date was parsed. */
	readonly text: string;

	constructor(serial: number, format: NumberFormat, text: string) {
		this.serial = serial;
		this.format = format;
		this.text = text;
	}

	/**
	 * Returns the date in the format of its column, unless Read would then give it otherwise: a day
	 * as a day with a time, or a time as a day.
	 */
	likeColumn(columnFormat: NumberFormat = this.format): DateCell {
		const isTime = this.format.type === 'TIME';
		const isDay = !isTime && this.text.length <= 'yyyy-mm-dd'.length;
		if (isTime !== (columnFormat.type === 'TIME')) return this;
		if (isDay && columnFormat.type === 'DATE_TIME') return this;
		return new DateCell(this.serial, columnFormat, this.text);
	}

	toString(): string {
		return this.text;
	}
}

/**
 * The settings of a spreadsheet that decide what dates mean: its locale, such as `en_GB`, and its
 * IANA time zone.
 */
export interface DateSettings {
	readonly locale: string;
	readonly timeZone: string;
}

/** Matches a complete date in ISO 8601, with or without a time. */
const isoPattern =
	/^([1-9]\d{3}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;
/**
 * Matches times such as `10:30:00` and durations such as `26:30:00` and `-1:00:00`, as Read gives
 * them.
 */
const durationPattern = /^(-?)(\d{1,6}):([0-5]\d):([0-5]\d(?:\.\d{1,3})?)$/;

/**
 * Parses a complete date or timestamp in ISO 8601, or a time or duration with seconds. A midnight
 * is a date.
 */
export function parseIso(
	text: string,
	{ timeZone }: Pick<DateSettings, 'timeZone'>,
): DateCell | undefined {
	const [, day, time, offset] = isoPattern.exec(text) ?? [];
	if (day === undefined) return parseDuration(text);
	const writtenTime = parseWallTime(day, time);
	if (offset === undefined) return createDateCell(writtenTime, text);
	return createDateCell(toWallTime(writtenTime - readOffset(offset), timeZone), text);
}

function parseDuration(text: string): DateCell | undefined {
	const [, sign = '', hours, minutes, seconds] = durationPattern.exec(text) ?? [];
	if (hours === undefined) return undefined;
	const totalSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
	const milliseconds = Math.round(totalSeconds * 1000) * (sign === '' ? 1 : -1);
	const isTime = sign === '' && Number(hours) <= 23;
	const format = isTime ? formats.time : formats.duration;
	return new DateCell(milliseconds / dayMilliseconds, format, text);
}

/**
 * Parses a text for a column of dates: like `parseIso`, or a date, a time or both as the
 * spreadsheet's locale writes them, such as `5.1.2024` or `1/5/2024 15:30`.
 */
export function parseShown(text: string, settings: DateSettings): DateCell | undefined {
	const isoCell = parseIso(text.replace(/^\d\d?:\d\d$/, '$&:00'), settings);
	if (isoCell) return new DateCell(isoCell.serial, isoCell.format, text);
	const parts = getShownPattern(settings.locale).exec(text)?.groups ?? {};
	const { year = '', month = '', day = '', time } = parts;
	const isoDay = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
	return createDateCell(parseWallTime(isoDay, time?.replace(/^\d:/, '0$&')), text);
}

/**
 * The patterns of dates as locales write them, with or without a time. Making one takes as long as
 * reading a hundred dates.
 */
const shownPatterns = new Map<string, RegExp>();
const getShownPattern = (locale: string) =>
	getOrAdd(shownPatterns, locale, () => {
		const tag = /^[a-z]{2,3}(_[A-Z]{2})?$/.test(locale) ? locale.replace('_', '-') : 'en-US';
		const format = new Intl.DateTimeFormat(`${tag}-u-ca-gregory-nu-latn`);
		const parts = format.formatToParts(0).map(({ type, value }) => {
			if (type !== 'literal') return `(?<${type}>\\d+)`;
			return value.trim().replace('.', '\\.');
		});
		// Three numbers, and the separators between them.
		const day = parts.slice(0, 5).join('\\s*');
		const separator = parts[1];
		return new RegExp(
			// Some locales write the separator after the third number, too.
			`^${day}(?:\\s*${separator})?(?:,? +(?<time>\\d\\d?:\\d\\d(?::\\d\\d)?))?$`,
		);
	});

/**
 * Returns the time that clocks show, as milliseconds since 1970; NaN if there is no such day or
 * time.
 * @param day as `yyyy-mm-dd`
 */
function parseWallTime(day: string, time = '00:00'): number {
	const wallTime = Date.parse(`${day}T${time.slice(0, 12).replace(',', '.')}Z`);
	// `Date.parse` takes February 30 for March 1.
	const isRealDay = printIso(wallTime).startsWith(day);
	// Read gives no earlier year as a date, either.
	return isRealDay && day >= '1000' ? wallTime : NaN;
}

/**
 * @param wallTime the time that clocks show, as milliseconds since 1970; NaN if there is no such
 * time
 */
function createDateCell(wallTime: number, text: string): DateCell | undefined {
	if (Number.isNaN(wallTime)) return undefined;
	const isMidnight = wallTime % dayMilliseconds === 0;
	const serial = (wallTime - dayZero) / dayMilliseconds;
	return new DateCell(serial, isMidnight ? formats.date : formats.dateTime, text);
}

/**
 * Converts a date of n8n's expressions to ISO 8601: Luxon's DateTime, or a Date of any JavaScript
 * realm. A midnight of Luxon is a date. A Date has no time zone, so its midnight is a time. Returns
 * '' for a date that is not valid.
 */
export function toIsoText(value: object): string | undefined {
	const isDateTime = 'isLuxonDateTime' in value;
	if (!isDateTime && Object.prototype.toString.call(value) !== '[object Date]') return undefined;
	const text = (value as { toJSON?(): string | null }).toJSON?.() ?? '';
	return isDateTime ? text.replace(/T00:00:00\.000.*/, '') : text;
}

/** Returns '' for a time that `Date` cannot represent. */
const printIso = (time: number) => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : '');

export const isDateFormat = ({ type }: NumberFormat): boolean =>
	['DATE', 'TIME', 'DATE_TIME'].includes(type ?? '');

/**
 * Prints a date in ISO 8601, and a time or duration as `hh:mm:ss`. Undefined if there is no such
 * date.
 */
export function printSerialAsIso(
	serial: number,
	format: NumberFormat,
	timeZone: string,
): string | undefined {
	const { type, pattern } = format;
	const milliseconds = toMilliseconds(serial);
	const wallTime = milliseconds + dayZero;
	const iso = printIso(wallTime);
	if (!/^[1-9]\d{3}-/.test(iso)) return undefined;
	// A time of up to 366 days is more likely a sum of times than a date in 1900.
	if (type === 'TIME' && (milliseconds < 366 * dayMilliseconds || pattern?.includes('[')))
		return printDuration(milliseconds);
	if (type === 'DATE' && milliseconds % dayMilliseconds === 0) return iso.slice(0, 10);
	return `${iso.slice(0, 23)}${printOffset(wallTime, timeZone)}`;
}

function printDuration(milliseconds: number): string {
	const duration = Math.abs(milliseconds);
	const hours = String(Math.floor(duration / 3_600_000)).padStart(2, '0');
	const minutesAndSeconds = printIso(duration).slice(13, 23).replace('.000', ''); // :mm:ss.sss
	return `${milliseconds < 0 ? '-' : ''}${hours}${minutesAndSeconds}`;
}

/** Rounds a serial number to a whole millisecond: formulas leave rounding errors. */
export const toMilliseconds = (serial: number) => Math.round(serial * dayMilliseconds);
