import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Call } from '../service.ts';

/** A parameter that occurs once; "" if it is missing. */
export function text(call: Call, name: string): string {
	return String(call.params[name] ?? '');
}

export function list(call: Call, name: string): string[] {
	const value = call.params[name];
	return value === undefined ? [] : [value].flat();
}

/** The front has already checked it against the contract. */
export function bodyOf({ body }: Call) {
	return (body ?? {}) as sheets_v4.Schema$Spreadsheet &
		sheets_v4.Schema$BatchUpdateSpreadsheetRequest &
		sheets_v4.Schema$BatchUpdateValuesRequest &
		sheets_v4.Schema$ValueRange;
}
