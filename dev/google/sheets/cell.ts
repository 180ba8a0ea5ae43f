const dateFormats = [
	'yyyy-mm-dd',
	'm/d/yyyy',
	'dd/mm/yyyy',
	'dd.mm.yyyy',
	'm/d',
	'h:mm',
	'h:mm:ss',
	'yyyy-mm-dd h:mm:ss',
	'[hh]:mm:ss',
	'[h]:mm:ss',
	'[h]:mm',
	'[mm]:ss',
	'DATE',
	'TIME',
	'DATE_TIME',
] as const;
type DateFormat = (typeof dateFormats)[number];
/** A format without a pattern: the locale has one. */
type LocaleFormat = 'DATE' | 'TIME' | 'DATE_TIME';
/** How a cell's number is displayed. */
export type Format = 'number' | 'grouped' | 'percent' | 'currency' | DateFormat;

export interface Cell {
	readonly value: string | number | boolean;
	/** The formula with its `=`. */
	readonly formula?: string;
	readonly format?: Format;
}

const millisecondsPerDay = 86_400_000;
/** Day 0 of serial numbers. */
const epoch = Date.UTC(1899, 11, 30);

export function toSerial(milliseconds: number): number {
	return (milliseconds - epoch) / millisecondsPerDay;
}

/** Formats a cell as the sheet shows it. */
export function formatCell({ value, format }: Cell, locale = 'en_US'): string {
	if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
	if (typeof value === 'string') return value;
	switch (format) {
		case undefined:
		case 'number':
			return String(value);
		case 'grouped':
			return formatGrouped(value);
		case 'percent':
			return `${String(Number((value * 100).toFixed(10)))}%`;
		case 'currency':
			return `$${formatGrouped(value)}`;
		default:
			return formatDate(value, format, locale);
	}
}

function formatGrouped(value: number): string {
	const digits = Number.isInteger(value) ? 0 : 2;
	const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
	return value.toLocaleString('en-US', options);
}

const two = (number: number) => String(number).padStart(2, '0');

function formatDate(serial: number, format: DateFormat, locale: string): string {
	const date = new Date(Math.round(epoch + serial * millisecondsPerDay));
	const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
	const american = `${date.getUTCMonth() + 1}/${date.getUTCDate()}`;
	const european = [two(date.getUTCDate()), two(date.getUTCMonth() + 1)];
	const minutes = `${date.getUTCHours()}:${two(date.getUTCMinutes())}`;
	const seconds = `${minutes}:${two(date.getUTCSeconds())}`;
	if (format === 'DATE' || format === 'TIME' || format === 'DATE_TIME')
		return formatInLocale(date, format, locale);
	if (format.includes('[')) return formatDuration(serial, format);
	const texts: Record<Exclude<DateFormat, LocaleFormat | `[${string}`>, string> = {
		'yyyy-mm-dd': day,
		'm/d/yyyy': `${american}/${date.getUTCFullYear()}`,
		'dd/mm/yyyy': `${european.join('/')}/${date.getUTCFullYear()}`,
		'dd.mm.yyyy': `${european.join('.')}.${date.getUTCFullYear()}`,
		'm/d': american,
		'h:mm': minutes,
		'h:mm:ss': seconds,
		'yyyy-mm-dd h:mm:ss': `${day} ${seconds}`,
	};
	return texts[format as keyof typeof texts];
}

function formatDuration(serial: number, format: DateFormat): string {
	const size = Math.abs(Math.round(serial * 86_400));
	const [hours, minutes] = [Math.floor(size / 3600), Math.floor(size / 60)];
	const seconds = two(size % 60);
	const inHours = `${format === '[hh]:mm:ss' ? two(hours) : hours}:${two(minutes % 60)}`;
	const text = format === '[mm]:ss' ? `${two(minutes)}:${seconds}` : inHours;
	return `${serial < 0 ? '-' : ''}${format.endsWith('h]:mm:ss') ? `${text}:${seconds}` : text}`;
}

function formatInLocale(date: Date, format: LocaleFormat, locale: string): string {
	const width = locale === 'en_US' ? ('numeric' as const) : ('2-digit' as const);
	const style = {
		...(format !== 'TIME' && { day: width, month: width, year: 'numeric' as const }),
		...(format !== 'DATE' && {
			hour: 'numeric' as const,
			minute: '2-digit' as const,
			second: '2-digit' as const,
		}),
	};
	return new Intl.DateTimeFormat(locale.replace('_', '-'), { ...style, timeZone: 'UTC' }).format(
		date,
	);
}

/** Returns Google's name for a kind of format. */
export function getFormatType(format: Format): string {
	switch (format) {
		case 'grouped':
		case 'number':
			return 'NUMBER';
		case 'percent':
			return 'PERCENT';
		case 'currency':
			return 'CURRENCY';
		case 'DATE':
		case 'TIME':
		case 'DATE_TIME':
			return format;
		default:
			return /h|\[mm/.test(format)
				? format.includes('yyyy')
					? 'DATE_TIME'
					: 'TIME'
				: 'DATE';
	}
}

export function isDateFormat(format: string | undefined): format is DateFormat {
	return dateFormats.some((dateFormat) => dateFormat === format);
}

export interface Rendering {
	readonly values: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';
	readonly dates: 'SERIAL_NUMBER' | 'FORMATTED_STRING';
	readonly locale?: string;
}

/** Renders a cell as an answer contains it; an empty one is "". */
export function renderCell(
	cell: Cell | undefined,
	{ values, dates, locale }: Rendering,
): string | number | boolean {
	if (cell === undefined) return '';
	if (values === 'FORMATTED_VALUE') return formatCell(cell, locale);
	if (values === 'FORMULA' && cell.formula !== undefined) return cell.formula;
	return isDateFormat(cell.format) && dates === 'FORMATTED_STRING'
		? formatCell(cell, locale)
		: cell.value;
}
