import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { isDateFormat, printDate } from '../dates/dates';
import { type CellPosition, parseBounds, parseRange, printRange, type TabRange } from '../range';
import type { Spreadsheet } from '../spreadsheet';
import { findHeaderRow, type Header } from '../table';
import { type CellDetails, type CellValue, fetchDetails, noDetails, type Rows } from './details';
import type { ComparedCell } from './filters';

/** How the cells of a range are wanted. */
export interface CellFormat {
	readonly valueRenderOption: 'FORMATTED_VALUE' | 'FORMULA' | 'UNFORMATTED_VALUE';
	readonly dateTimeRenderOption: 'FORMATTED_STRING' | 'ISO_8601' | 'SERIAL_NUMBER';
	/** Where the header row is expected, from 0; -1 if there is none. */
	readonly headerRow: number;
	/** Whether cells are compared, so that the texts are needed that the sheet shows. */
	readonly hasFilters: boolean;
	/** Whether cells are compared by their size, so that dates are needed as numbers. */
	readonly comparesSize: boolean;
}

/** The cells of a range. Rows and columns count from 0, from the first cell of the range on. */
export class FetchedCells {
	/** The range as Google printed it. */
	readonly range: string;
	/** The values as Google returns them. A date that shall become ISO 8601 is still a number. */
	readonly rows: Rows;
	/** The header row; -1 if there is none. */
	readonly headerRow: number;
	/** The place of the first cell in the tab. */
	readonly start: CellPosition;
	/** Known if cells can be dates or are compared by their size. */
	readonly timeZone: string;
	readonly #wantsIso: boolean;
	readonly #details: CellDetails;
	readonly #comparedRows: Rows;

	constructor(answers: Answers) {
		this.range = answers.data.range ?? '';
		this.rows = readRows(answers.data);
		this.headerRow = answers.headerRow;
		this.start = parseBounds(parseRange(this.range));
		this.timeZone = answers.timeZone;
		this.#wantsIso = answers.wantsIso;
		this.#details = answers.details;
		this.#comparedRows = readRows(answers.comparedData);
	}

	/** Returns the values of all cells as Read outputs them. */
	getValues(): Rows {
		if (this.#details === noDetails) return this.rows;
		return this.rows.map((line, row) => line.map((_, column) => this.getValue(row, column)));
	}

	/** Returns the value of a cell as Read outputs it. */
	getValue(row: number, column: number): CellValue {
		const value = this.rows[row]?.[column] ?? '';
		if (typeof value !== 'number' || !this.#wantsIso) return value;
		const numberFormat = this.#details.find(row, column)?.effectiveFormat?.numberFormat;
		return printDate(value, numberFormat ?? {}, this.timeZone) ?? value;
	}

	/** Returns the header of a column. */
	getHeader(column: number): Header {
		const value = String(this.rows[this.headerRow]?.[column] ?? '');
		const details = this.#details.find(this.headerRow, column);
		const { effectiveFormat, formattedValue } = details ?? {};
		const shownText = formattedValue ?? value;
		const isDate = isDateFormat(effectiveFormat?.numberFormat ?? {});
		return { text: isDate ? shownText : value, shownText };
	}

	/** Returns a cell as filters compare it. */
	getCompared(row: number, column: number): ComparedCell {
		const texts = [String(this.getValue(row, column))];
		const shownText = this.#details.find(row, column)?.formattedValue;
		if (shownText) texts.push(shownText);
		return { texts, value: this.#comparedRows[row]?.[column] };
	}
}

/** What was fetched, and what it means. */
interface Answers {
	readonly data: sheets_v4.Schema$ValueRange;
	readonly headerRow: number;
	readonly details: CellDetails;
	readonly timeZone: string;
	readonly wantsIso: boolean;
	/** The same cells with dates as numbers. */
	readonly comparedData: sheets_v4.Schema$ValueRange;
}

const readRows = ({ values }: sheets_v4.Schema$ValueRange) => (values ?? []) as Rows;

/** Google's options to get each value as the cell holds it, and a date as its serial number. */
const plainValues = {
	valueRenderOption: 'UNFORMATTED_VALUE',
	dateTimeRenderOption: 'SERIAL_NUMBER',
} as const;

/** Fetches the cells of a range. A second request follows only if a number may be a date or looks different in the sheet. */
export async function fetchCells(
	spreadsheet: Spreadsheet,
	target: TabRange,
	format: CellFormat,
	item: Pick<Item, 'doOnce'>,
): Promise<FetchedCells> {
	const { valueRenderOption, hasFilters, comparesSize } = format;
	const wantsIso = format.dateTimeRenderOption === 'ISO_8601';
	// Google does not know ISO 8601. It is made from the numbers and their formats.
	const dateTimeRenderOption = wantsIso ? 'SERIAL_NUMBER' : format.dateTimeRenderOption;
	const fetch = async (options: ValueOptions) =>
		await fetchValues(spreadsheet, target, options, item);
	const data = await fetch({ valueRenderOption, dateTimeRenderOption });
	const headerRow = findHeaderRow(readRows(data), format.headerRow);
	const needsDetails = valueRenderOption !== 'FORMATTED_VALUE' && (wantsIso || hasFilters);
	const details = needsDetails
		? await fetchDetails(spreadsheet, data, { headerRow, hasFilters }, item)
		: noDetails;
	const answers = { data, headerRow, details, wantsIso };
	if (!comparesSize)
		return new FetchedCells({ ...answers, timeZone: details.timeZone, comparedData: data });
	const { timeZone } = await spreadsheet.fetchDateSettings();
	return new FetchedCells({ ...answers, timeZone, comparedData: await fetch(plainValues) });
}

/** How Google returns values. */
type ValueOptions = Readonly<Record<'valueRenderOption' | 'dateTimeRenderOption', string>>;

/** Items of a run that read the same range share one request. */
async function fetchValues(
	spreadsheet: Spreadsheet,
	target: TabRange,
	options: ValueOptions,
	item: Pick<Item, 'doOnce'>,
): Promise<sheets_v4.Schema$ValueRange> {
	const place = { spreadsheetId: spreadsheet.id, range: printRange(target) };
	const request = { ...place, majorDimension: 'ROWS', ...options };
	const send = async () => (await spreadsheet.valuesApi.get(request)).data;
	const key = `spreadsheet.read ${JSON.stringify(request)}`;
	return await item.doOnce(key, () => spreadsheet.sendForRange(target, send));
}
