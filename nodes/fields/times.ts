import { tryToParseDateTime } from 'n8n-workflow';

const isoPattern =
	/^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?$/;
const minSecondsSince1970 = 1e8;
/**
 * From here on, a number is milliseconds: as seconds, it would be after the year 5000, and smaller
 * milliseconds would be before 1974.
 */
const minMillisecondsSince1970 = 1e11;
const maxMillisecondsSince1970 = 1e13;

/** Reads a number of seconds or milliseconds since 1970, which differ in their size. */
export function parseUnixTime(number: number): Date | undefined {
	if (!(number >= minSecondsSince1970 && number <= maxMillisecondsSince1970)) return undefined;
	return new Date(number < minMillisecondsSince1970 ? number * 1000 : number);
}

/** Reads ISO 8601. @param timezone applies to a time without an offset */
export function parseIsoTime(text: string, timezone: string): Date | undefined {
	const day = isoPattern.exec(text.trim())?.[1];
	if (day === undefined) return undefined;
	try {
		const time = tryToParseDateTime(text, timezone);
		// JavaScript takes February 30 for March 2.
		return time.toISODate() === day ? time.toJSDate() : undefined;
	} catch {
		return undefined;
	}
}
