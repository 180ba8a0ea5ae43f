import { toSerial, type Cell, type Format } from './cell.ts';

/**
 * Interprets text as if a user had typed it: as a number (as in en_US), a date of its locale or of ISO 8601, a boolean, a
 * formula, or text. Undefined clears the cell.
 */
export function parseTyped(text: string, locale = 'en_US'): Cell | undefined {
	if (text === '') return undefined;
	if (text.startsWith("'")) return { value: text.slice(1) };
	if (text.startsWith('=')) return { value: evaluateFormula(text.slice(1)), formula: text };
	const number = parseNumber(text) ?? parseDate(text, locale);
	if (number !== undefined) return number;
	if (text.startsWith('+')) return { value: evaluateFormula(text), formula: `=${text}` };
	if (/^(true|false)$/i.test(text)) return { value: text.toLowerCase() === 'true' };
	return { value: text };
}

function parseNumber(text: string): Cell | undefined {
	const match =
		/^\s*([+-]?)(\$?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(e[+-]?\d+)?(%?)\s*$/i.exec(
			text,
		);
	if (match === null) return undefined;
	const [, sign, currency, digits = '', exponent = '', percent] = match;
	const size = Number(`${digits.replaceAll(',', '')}${exponent}`) / (percent ? 100 : 1);
	const format: Format = percent ? 'percent' : currency ? 'currency' : 'grouped';
	const shown = percent || currency || digits.includes(',') ? { format } : {};
	return { value: sign === '-' ? -size : size, ...shown };
}

const patterns: ReadonlyArray<readonly [RegExp, Format]> = [
	[/^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/, 'yyyy-mm-dd'],
	[
		/^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2}) (?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}))?$/,
		'yyyy-mm-dd h:mm:ss',
	],
	[/^(?<hour>\d{1,2}):(?<minute>\d{2})$/, 'h:mm'],
	[/^(?<hour>\d{1,2}):(?<minute>\d{2}):(?<second>\d{2})$/, 'h:mm:ss'],
];

const americanPatterns: typeof patterns = [
	[/^(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})$/, 'm/d/yyyy'],
	[/^(?<month>\d{1,2})\/(?<day>\d{1,2})$/, 'm/d'],
];
const patternsByLocale: Readonly<Record<string, typeof patterns>> = {
	de_DE: [[/^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})$/, 'dd.mm.yyyy']],
	en_GB: [[/^(?<day>\d{1,2})\/(?<month>\d{1,2})\/(?<year>\d{4})$/, 'dd/mm/yyyy']],
};

function parseDate(text: string, locale: string): Cell | undefined {
	for (const [pattern, format] of [
		...patterns,
		...(patternsByLocale[locale] ?? americanPatterns),
	]) {
		const groups = pattern.exec(text.trim())?.groups;
		if (groups !== undefined) return createDateCell(groups, format);
	}
	return undefined;
}

function createDateCell(
	groups: Record<string, string | undefined>,
	format: Format,
): Cell | undefined {
	const part = (name: string, missing: number) => Number(groups[name] ?? missing);
	const dated = groups['month'] !== undefined;
	const year = part('year', dated ? new Date().getUTCFullYear() : 1899);
	const [month, day] = [part('month', 12), part('day', 30)];
	const [hour, minute, second] = [part('hour', 0), part('minute', 0), part('second', 0)];
	const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
	const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
	if (!exists || hour > 23 || minute > 59 || second > 59) return undefined;
	return { value: toSerial(date.getTime()), format };
}

/** Evaluates arithmetic on numbers. For all other formulas, only the text is kept. */
function evaluateFormula(expression: string): number | string {
	const tokens = expression.replaceAll(/\s/g, '').match(/\d+(?:\.\d+)?|[-+*/()]/g) ?? [];
	if (tokens.join('') !== expression.replaceAll(/\s/g, '')) return '#NAME?';
	let position = 0;
	const sum = (): number => {
		let total = product();
		while (tokens[position] === '+' || tokens[position] === '-') {
			total += tokens[position++] === '+' ? product() : -product();
		}
		return total;
	};
	const product = (): number => {
		let total = factor();
		while (tokens[position] === '*' || tokens[position] === '/') {
			total = tokens[position++] === '*' ? total * factor() : total / factor();
		}
		return total;
	};
	const factor = (): number => {
		const token = tokens[position++];
		if (token === '-') return -factor();
		if (token === '+') return factor();
		if (token !== '(') return Number(token);
		const inner = sum();
		return tokens[position++] === ')' ? inner : NaN;
	};
	const result = sum();
	if (position < tokens.length || Number.isNaN(result)) return '#ERROR!';
	return Number.isFinite(result) ? result : '#DIV/0!';
}
