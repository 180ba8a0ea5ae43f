import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Call } from '../service.ts';
import { bodyOf, list, text } from './call.ts';
import type { Rendering } from './cell.ts';
import {
	append,
	clear,
	read,
	update,
	valueRange,
	type Dimension,
	type Entry,
	type Writing,
} from './values.ts';
import { invalid, resolve, type Workbook } from './workbook.ts';

/** The methods of `spreadsheets.values`, by the last part of their IDs. */
export function valueMethods(asked: (call: Call) => Workbook): Record<string, (call: Call) => unknown> {
	return {
		get: (call) => read(asked(call), text(call, 'range'), dimensionOf(call), renderingOf(call)),
		update(call) {
			const workbook = asked(call);
			const range = text(call, 'range');
			const writing = writingOf(bodyOf(call), entryOf(call.params['valueInputOption']));
			const done = update(workbook, range, writing);
			if (text(call, 'includeValuesInResponse') !== 'true') return done;
			const { sheet, area } = resolve(workbook, done.updatedRange ?? range);
			return {
				...done,
				updatedData: valueRange(
					sheet,
					area,
					'ROWS',
					renderingOf(call, 'responseValueRenderOption', 'responseDateTimeRenderOption'),
				),
			};
		},
		append(call) {
			const writing = writingOf(bodyOf(call), entryOf(call.params['valueInputOption']));
			const insert = call.params['insertDataOption'] === 'INSERT_ROWS' ? 'INSERT_ROWS' : 'OVERWRITE';
			return append(asked(call), text(call, 'range'), writing, insert);
		},
		clear: (call) => clear(asked(call), text(call, 'range')),
		batchGet(call) {
			const workbook = asked(call);
			const readRange = (range: string) => read(workbook, range, dimensionOf(call), renderingOf(call));
			return { spreadsheetId: workbook.id, valueRanges: list(call, 'ranges').map(readRange) };
		},
		batchUpdate(call) {
			const workbook = asked(call);
			const { data = [], valueInputOption } = bodyOf(call);
			const entry = entryOf(valueInputOption ?? undefined);
			const responses = data.map((values) => update(workbook, values.range ?? '', writingOf(values, entry)));
			return { spreadsheetId: workbook.id, ...totalsOf(responses), responses };
		},
	};
}

function totalsOf(responses: readonly sheets_v4.Schema$UpdateValuesResponse[]) {
	const sum = (key: 'updatedRows' | 'updatedColumns' | 'updatedCells') =>
		responses.reduce((total, response) => total + (response[key] ?? 0), 0);
	return {
		totalUpdatedRows: sum('updatedRows'),
		totalUpdatedColumns: sum('updatedColumns'),
		totalUpdatedCells: sum('updatedCells'),
		totalUpdatedSheets: new Set(responses.map(({ updatedRange }) => updatedRange?.split('!')[0])).size,
	};
}

function writingOf({ values, majorDimension }: sheets_v4.Schema$ValueRange, entry: Entry): Writing {
	return { values: values ?? [], dimension: majorDimension === 'COLUMNS' ? 'COLUMNS' : 'ROWS', entry };
}

/** The server requires it although the contract does not say so. */
function entryOf(option: unknown): Entry {
	if (option === 'RAW' || option === 'USER_ENTERED') return option;
	throw invalid("'valueInputOption' is required but not specified");
}

function dimensionOf(call: Call): Dimension {
	return call.params['majorDimension'] === 'COLUMNS' ? 'COLUMNS' : 'ROWS';
}

function renderingOf(
	call: Call,
	valueOption = 'valueRenderOption',
	dateOption = 'dateTimeRenderOption',
): Rendering {
	const [values, dates] = [call.params[valueOption], call.params[dateOption]];
	return {
		values: values === 'UNFORMATTED_VALUE' || values === 'FORMULA' ? values : 'FORMATTED_VALUE',
		dates: dates === 'FORMATTED_STRING' ? dates : 'SERIAL_NUMBER',
	};
}
