import { getOrAdd } from '../../../core/boundedMap';

export const dayMilliseconds = 86_400_000;

/** Returns an offset in milliseconds. @param offset such as `+01:00` or `-0330`; also `Z` or '' for UTC */
export function parseOffset(offset: string): number {
	const [, sign, hours = 0, minutes = 0] = /^([+-])(\d{2}):?(\d{2})/.exec(offset) ?? [];
	const milliseconds = (Number(hours) * 60 + Number(minutes)) * 60_000;
	return sign === '-' ? -milliseconds : milliseconds;
}

/** The formats that print the offset of a time zone. Undefined for a zone that Node does not know. */
const offsetFormats = new Map<string, Intl.DateTimeFormat | undefined>();
const getOffsetFormat = (timeZone: string) =>
	getOrAdd(offsetFormats, timeZone, () => {
		try {
			return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
		} catch {
			return undefined;
		}
	});

/** Returns the offset of a time zone in milliseconds; NaN if the zone is unknown. @param instant ms since 1970 */
function getOffset(instant: number, timeZone: string): number {
	const fixedOffset = /^GMT([+-]\d{2}:\d{2})$/.exec(timeZone)?.[1];
	if (fixedOffset !== undefined) return parseOffset(fixedOffset);
	const format = Number.isNaN(instant) ? undefined : getOffsetFormat(timeZone);
	if (!format) return NaN;
	// The text ends with GMT+01:00, or with GMT alone.
	return parseOffset(/GMT(\S*)$/.exec(format.format(instant))?.[1] ?? '');
}

/** Returns the time that clocks in a time zone show, as if it were UTC; NaN if the zone is unknown. @param instant ms since 1970 */
export const toWallTime = (instant: number, timeZone: string) =>
	instant + getOffset(instant, timeZone);

/** Prints a time zone's offset when its clocks show a time: `+01:00`; '' if clocks skip that time, or if the zone is unknown. */
export function printOffset(wallTime: number, timeZone: string): string {
	// Clocks may change between the two times, so one offset or both may be right.
	for (const nearbyTime of [wallTime - dayMilliseconds, wallTime + dayMilliseconds]) {
		const offset = getOffset(nearbyTime, timeZone);
		if (getOffset(wallTime - offset, timeZone) !== offset) continue;
		const offsetText = new Date(Math.abs(offset)).toISOString().slice(11, 16); // hh:mm
		return `${offset < 0 ? '-' : '+'}${offsetText}`;
	}
	return '';
}
