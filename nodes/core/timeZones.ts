import { getOrAdd } from './maps';

export const dayMilliseconds = 86_400_000;

/**
 * Returns an offset in milliseconds; NaN if there is no such offset.
 * @param offset such as `+01:00`, `-0330` or `Z`
 */
export const readOffset = (offset: string) => -Date.parse(`1970-01-01T00:00${offset}`);

/**
 * The formats that print the offset of a time zone. Undefined for a zone that Node does not know.
 */
const offsetFormats = new Map<string, Intl.DateTimeFormat | undefined>();
const getOffsetFormat = (timeZone: string) =>
	getOrAdd(offsetFormats, timeZone, () => {
		try {
			return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
		} catch {
			return undefined;
		}
	});

/** Finds the offset of a time zone; '' if the zone is unknown. @param instant ms since 1970 */
function findOffset(instant: number, timeZone: string): string {
	const isFixed = timeZone.startsWith('GMT');
	const text = isFixed ? timeZone : getOffsetFormat(timeZone)?.format(instant);
	// The text ends with GMT+01:00, or with GMT alone. Offsets of the 19th century also have
	// seconds, which ISO 8601 does not know.
	const match = /GMT([+-]\d\d:\d\d)?/.exec(text ?? '');
	return match ? (match[1] ?? '+00:00') : '';
}

/**
 * Returns the time that clocks in a time zone show, as if it were UTC; NaN if the zone is unknown.
 * @param instant ms since 1970
 */
export function toWallTime(instant: number, timeZone: string): number {
	const offset = Number.isNaN(instant) ? '' : findOffset(instant, timeZone);
	return offset === '' ? NaN : instant + readOffset(offset);
}

/**
 * Prints a time zone's offset when its clocks show a time: `+01:00`; '' if clocks skip that time,
 * or if the zone is unknown.
 */
export function printOffset(wallTime: number, timeZone: string): string {
	// Clocks may change between the two times, so one offset or both may be right.
	for (const nearbyTime of [wallTime - dayMilliseconds, wallTime + dayMilliseconds]) {
		const offset = findOffset(nearbyTime, timeZone);
		if (toWallTime(wallTime - readOffset(offset), timeZone) === wallTime) return offset;
	}
	return '';
}
