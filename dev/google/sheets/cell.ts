/** How a cell's number is displayed. */
export type Format = 'number' | 'grouped' | 'percent' | 'currency' | DateFormat;
export type DateFormat =
	'yyyy-mm-dd' | 'm/d/yyyy' | 'dd/mm/yyyy' | 'dd.mm.yyyy' | 'm/d' | 'h:mm' | 'h:mm:ss' | 'yyyy-mm-dd h:mm:ss';

export interface Cell {
	readonly value: string | number | boolean;
	/** The formula with its `=`. */
	readonly formula?: string;
	readonly format?: Format;
}

const millisecondsPerDay = 86_400_000;
/** Day 0 of serial numbers. */
const epoch = Date.UTC(1899, 11, 30);

export function serialOf(milliseconds: number): number {
	return (milliseconds - epoch) / millisecondsPerDay;
}

/** A cell as displayed in the sheet. */
export function formatCell({ value, format }: Cell): string {
	if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
	if (typeof value === 'string') return value;
	switch (format) {
		case undefined:
		case 'number':
			return String(value);
		case 'grouped':
			return grouped(value);
		case 'percent':
			return `${String(Number((value * 100).toFixed(10)))}%`;
		case 'currency':
			return `$${grouped(value)}`;
		default:
			return formattedDate(value, format);
	}
}

function grouped(value: number): string {
	const digits = Number.isInteger(value) ? 0 : 2;
	return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function formattedDate(serial: number, format: DateFormat): string {
	const date = new Date(Math.round(epoch + serial * millisecondsPerDay));
	const two = (number: number) => String(number).padStart(2, '0');
	const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
	const american = `${date.getUTCMonth() + 1}/${date.getUTCDate()}`;
	const european = [two(date.getUTCDate()), two(date.getUTCMonth() + 1)];
	const minutes = `${date.getUTCHours()}:${two(date.getUTCMinutes())}`;
	const seconds = `${minutes}:${two(date.getUTCSeconds())}`;
	const shown: Record<DateFormat, string> = {
		'yyyy-mm-dd': day,
		'm/d/yyyy': `${american}/${date.getUTCFullYear()}`,
		'dd/mm/yyyy': `${european.join('/')}/${date.getUTCFullYear()}`,
		'dd.mm.yyyy': `${european.join('.')}.${date.getUTCFullYear()}`,
		'm/d': american,
		'h:mm': minutes,
		'h:mm:ss': seconds,
		'yyyy-mm-dd h:mm:ss': `${day} ${seconds}`,
	};
	return shown[format];
}

const dateFormats: ReadonlySet<Format> = new Set<DateFormat>([
	'yyyy-mm-dd',
	'm/d/yyyy',
	'dd/mm/yyyy',
	'dd.mm.yyyy',
	'm/d',
	'h:mm',
	'h:mm:ss',
	'yyyy-mm-dd h:mm:ss',
]);

export interface Rendering {
	readonly values: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';
	readonly dates: 'SERIAL_NUMBER' | 'FORMATTED_STRING';
}

/** A cell as returned in an answer; an empty one is "". */
export function renderCell(cell: Cell | undefined, { values, dates }: Rendering): string | number | boolean {
	if (cell === undefined) return '';
	if (values === 'FORMATTED_VALUE') return formatCell(cell);
	if (values === 'FORMULA' && cell.formula !== undefined) return cell.formula;
	const isDate = cell.format !== undefined && dateFormats.has(cell.format);
	return isDate && dates === 'FORMATTED_STRING' ? formatCell(cell) : cell.value;
}
