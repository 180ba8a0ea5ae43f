import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Call } from '../service.ts';
import { readBody, readList, readText } from './call.ts';
import type { Rendering } from './cell.ts';
import { append, read, update, type Dimension, type Entry, type Writing } from './values.ts';
import { createInvalidError, type Workbook } from './workbook.ts';

/** The methods of `spreadsheets.values`, by the last parts of their IDs. */
export function createValueMethods(asked: (call: Call) => Workbook) {
	return {
		'values.get': (call: Call) => readRange(asked(call), readText(call, 'range'), call),
		'values.update': (call: Call) => {
			const workbook = asked(call);
			return update(workbook, readText(call, 'range'), readWriting(call));
		},
		'values.append': (call: Call) => {
			const writing = readWriting(call);
			const insert =
				call.params['insertDataOption'] === 'INSERT_ROWS' ? 'INSERT_ROWS' : 'OVERWRITE';
			return append(asked(call), readText(call, 'range'), writing, insert);
		},
		'values.batchGet': (call: Call) => {
			const workbook = asked(call);
			const valueRanges = readList(call, 'ranges').map((range) =>
				readRange(workbook, range, call),
			);
			return { spreadsheetId: workbook.id, valueRanges };
		},
		'values.batchUpdate': (call: Call) => {
			const workbook = asked(call);
			const { data = [], valueInputOption } = readBody(call);
			const entry = readEntry(valueInputOption);
			const responses = data.map((values) =>
				update(workbook, values.range ?? '', buildWriting(values, entry)),
			);
			return { spreadsheetId: workbook.id, ...sumUp(responses), responses };
		},
	};
}

const readRange = (workbook: Workbook, range: string, call: Call) =>
	read(workbook, range, readDimension(call.params['majorDimension']), readRendering(call));

const readWriting = (call: Call): Writing =>
	buildWriting(readBody(call), readEntry(call.params['valueInputOption']));

function sumUp(responses: readonly sheets_v4.Schema$UpdateValuesResponse[]) {
	const sum = (key: 'updatedRows' | 'updatedColumns' | 'updatedCells') =>
		responses.reduce((total, response) => total + (response[key] ?? 0), 0);
	const titles = responses.map(({ updatedRange }) => updatedRange?.split('!')[0]);
	return {
		totalUpdatedRows: sum('updatedRows'),
		totalUpdatedColumns: sum('updatedColumns'),
		totalUpdatedCells: sum('updatedCells'),
		totalUpdatedSheets: new Set(titles).size,
	};
}

function buildWriting(
	{ values, majorDimension }: sheets_v4.Schema$ValueRange,
	entry: Entry,
): Writing {
	return { values: values ?? [], dimension: readDimension(majorDimension), entry };
}

/** The server requires it although the contract does not say so. */
function readEntry(option: unknown): Entry {
	if (option === 'RAW' || option === 'USER_ENTERED') return option;
	throw createInvalidError("'valueInputOption' is required but not specified");
}

function readDimension(name: unknown): Dimension {
	return name === 'COLUMNS' ? 'COLUMNS' : 'ROWS';
}

function readRendering(call: Call): Rendering {
	const { valueRenderOption: values, dateTimeRenderOption: dates } = call.params;
	return {
		values: values === 'UNFORMATTED_VALUE' || values === 'FORMULA' ? values : 'FORMATTED_VALUE',
		dates: dates === 'FORMATTED_STRING' ? dates : 'SERIAL_NUMBER',
	};
}
