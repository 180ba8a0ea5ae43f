import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Call } from '../service.ts';

/** Reads a parameter that occurs once; "" if it is missing. */
export function readText(call: Call, name: string): string {
	return String(call.params[name] ?? '');
}

export function readList(call: Call, name: string): string[] {
	const value = call.params[name];
	return value === undefined ? [] : [value].flat();
}

/** Reads the body, which the front has already checked against the contract. */
export function readBody({ body }: Call) {
	return (body ?? {}) as sheets_v4.Schema$Spreadsheet &
		sheets_v4.Schema$BatchUpdateSpreadsheetRequest &
		sheets_v4.Schema$BatchUpdateValuesRequest &
		sheets_v4.Schema$ValueRange;
}
