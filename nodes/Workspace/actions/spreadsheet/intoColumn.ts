import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure } from '../../../items/failure';
import type { AppendParams } from './append.operation';
import type { Cell } from './cells';
import { misplaced } from './failures';
import { areaLike, columnLetters, type Corner } from './range';
import { Rows } from './rows';
import { widthOf } from './written';

interface Landed {
	/** What Google says that it wrote. */
	readonly updatedRange: string;
	/** Of that. */
	readonly start: Corner;
	/** Where the rows belong, from 0. */
	readonly column: number;
	readonly values: readonly Cell[][];
}

/**
 * Google begins appended rows in the first column of the table that it finds, which may lie left of the range. The rows are ours alone,
 * so they can be written once more where they belong; what stood in the wrong cells is cleared.
 * @throws Failure, never ambiguous, that says where the rows are
 */
export async function intoColumn(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, valueInputOption }: AppendParams,
	{ updatedRange, start, column, values }: Landed,
): Promise<void> {
	const shift = column - start.column;
	if (shift < 0) throw misplaced(updatedRange, columnLetters(column), undefined);
	const left = Array.from({ length: shift }, () => '');
	const shifted = values.map((row) => [...left, ...row.map((cell) => cell ?? '')]);
	await sheets.spreadsheets.values
		.update({
			spreadsheetId,
			range: areaLike(updatedRange, start, shifted.length, shift + widthOf(values)),
			valueInputOption,
			requestBody: new Rows(shifted),
		})
		.catch((error: unknown) => {
			if (!isFailure(error)) throw error;
			throw misplaced(updatedRange, columnLetters(column), error);
		});
}
