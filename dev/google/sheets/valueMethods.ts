import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Call } from '../service.ts';
import { readBody, readList, readText } from './call.ts';
import type { Rendering } from './cell.ts';
import { append, clear, read, update, type Dimension, type Entry, type Writing } from './values.ts';
import { createInvalidError, type Workbook } from './workbook.ts';

/** The methods of `spreadsheets.values`, by the last part of their IDs. */
export function createValueMethods(
	asked: (call: Call) => Workbook,
): Record<string, (call: Call) => unknown> {
	return {
		get: (call) =>
			read(asked(call), readText(call, 'range'), readDimension(call), readRendering(call)),
		update(call) {
			const workbook = asked(call);
			const range = readText(call, 'range');
			const writing = buildWriting(
				readBody(call),
				readEntry(call.params['valueInputOption']),
			);
			return update(workbook, range, writing);
		},
		append(call) {
			const writing = buildWriting(
				readBody(call),
				readEntry(call.params['valueInputOption']),
			);
			const insert =
				call.params['insertDataOption'] === 'INSERT_ROWS' ? 'INSERT_ROWS' : 'OVERWRITE';
			return append(asked(call), readText(call, 'range'), writing, insert);
		},
		clear: (call) => clear(asked(call), readText(call, 'range')),
		batchGet(call) {
			const workbook = asked(call);
			const readRange = (range: string) =>
				read(workbook, range, readDimension(call), readRendering(call));
			return {
				spreadsheetId: workbook.id,
				valueRanges: readList(call, 'ranges').map(readRange),
			};
		},
		batchUpdate(call) {
			const workbook = asked(call);
			const { data = [], valueInputOption } = readBody(call);
			const entry = readEntry(valueInputOption ?? undefined);
			const responses = data.map((values) =>
				update(workbook, values.range ?? '', buildWriting(values, entry)),
			);
			return { spreadsheetId: workbook.id, ...sumUp(responses), responses };
		},
	};
}

function sumUp(responses: readonly sheets_v4.Schema$UpdateValuesResponse[]) {
	const sum = (key: 'updatedRows' | 'updatedColumns' | 'updatedCells') =>
		responses.reduce((total, response) => total + (response[key] ?? 0), 0);
	return {
		totalUpdatedRows: sum('updatedRows'),
		totalUpdatedColumns: sum('updatedColumns'),
		totalUpdatedCells: sum('updatedCells'),
		totalUpdatedSheets: new Set(
			responses.map(({ updatedRange }) => updatedRange?.split('!')[0]),
		).size,
	};
}

function buildWriting(
	{ values, majorDimension }: sheets_v4.Schema$ValueRange,
	entry: Entry,
): Writing {
	return {
		values: values ?? [],
		dimension: majorDimension === 'COLUMNS' ? 'COLUMNS' : 'ROWS',
		entry,
	};
}

/** The server requires it although the contract does not say so. */
function readEntry(option: unknown): Entry {
	if (option === 'RAW' || option === 'USER_ENTERED') return option;
	throw createInvalidError("'valueInputOption' is required but not specified");
}

function readDimension(call: Call): Dimension {
	return call.params['majorDimension'] === 'COLUMNS' ? 'COLUMNS' : 'ROWS';
}

function readRendering(call: Call): Rendering {
	const { valueRenderOption: values, dateTimeRenderOption: dates } = call.params;
	return {
		values: values === 'UNFORMATTED_VALUE' || values === 'FORMULA' ? values : 'FORMATTED_VALUE',
		dates: dates === 'FORMATTED_STRING' ? dates : 'SERIAL_NUMBER',
	};
}
