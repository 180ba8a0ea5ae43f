import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, NodeError, createRefusal } from '../../../core/errors';
import { isSameIgnoringCase, listNames } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { type Item, readingPrefix } from '../../operation';
import type { Cell } from './cells';
import type { DateSettings } from './dates';
import type { RowParams } from './fields';
import * as ranges from './range';

export const buildSpreadsheetUrl = (id: string) =>
	`https://docs.google.com/spreadsheets/d/${id}/edit`;

/**
 * A table that was made in Google Sheets with Format > Convert to table. It grows only if rows are
 * inserted inside it, or if values.append inserts rows below it.
 */
export interface NativeTable {
	readonly tableId: string;
	/** With the header and the footer. */
	readonly range: Readonly<Record<Bound, number>>;
	/** The row below the last one that is neither header nor footer. */
	readonly bodyEnd: number;
}

type Bound = 'sheetId' | 'startRowIndex' | 'endRowIndex' | 'startColumnIndex' | 'endColumnIndex';

/** Finds the table that a cell belongs to. */
export function findNativeTable(
	{ tables = [] }: sheets_v4.Schema$Sheet,
	{ row, column }: ranges.CellPosition,
): NativeTable | undefined {
	for (const { tableId, range, rowsProperties } of tables) {
		// Google leaves out a number that is 0.
		const zeros = { sheetId: 0, startRowIndex: 0, startColumnIndex: 0 };
		const area = { ...zeros, ...range } as NativeTable['range'];
		if (row < area.startRowIndex || row >= area.endRowIndex) continue;
		if (column < area.startColumnIndex || column >= area.endColumnIndex) continue;
		const footerRows = rowsProperties?.footerColorStyle ? 1 : 0;
		return { tableId: tableId ?? '', range: area, bodyEnd: area.endRowIndex - footerRows };
	}
	return undefined;
}

/** Builds the request that lets a native table end above a row. */
export const buildResizeTableRequest = ({ tableId, range }: NativeTable, endRowIndex: number) => ({
	updateTable: { table: { tableId, range: { ...range, endRowIndex } }, fields: 'range' },
});

/** Builds the requests that add rows and columns to a tab, until it has as many as needed. */
export function buildEnlargeTabRequests(
	{ sheetId, ...tab }: Pick<TabInfo, 'sheetId' | 'rowCount' | 'columnCount'>,
	rowCount: number,
	columnCount: number,
): sheets_v4.Schema$Request[] {
	const additions = [
		{ sheetId, dimension: 'ROWS', length: rowCount - tab.rowCount },
		{ sheetId, dimension: 'COLUMNS', length: columnCount - tab.columnCount },
	];
	const needed = additions.filter(({ length }) => length > 0);
	return needed.map((appendDimension) => ({ appendDimension }));
}

export const newTabSize = { rowCount: 1000, columnCount: 26 };

/** A tab, its size, and the settings of its spreadsheet that decide what dates mean. */
export interface TabInfo {
	readonly sheetId: number;
	readonly title: string;
	readonly rowCount: number;
	readonly columnCount: number;
	readonly settings: DateSettings;
}

const tabFields =
	'properties(sheetId,title,gridProperties(rowCount,columnCount)),tables(tableId,range,rowsProperties(footerColorStyle))';
const cellFields =
	'data(rowData(values(effectiveValue,formattedValue,effectiveFormat.numberFormat)))';
const settingsFields = 'properties(locale,timeZone)';

/**
 * The body of a request with many cells. A class, because Google's client would copy a plain object
 * cell by cell.
 */
export class RequestBody {
	readonly values: Cell[][] | undefined;
	readonly requests: sheets_v4.Schema$Request[] | undefined;

	constructor({ values, requests }: Partial<RequestBody>) {
		this.values = values;
		this.requests = requests;
	}
}

/**
 * Reads and changes one spreadsheet. A parameter `tab` is a title, whose case Google ignores;
 * undefined means the first tab.
 */
export class Spreadsheet {
	readonly id: string;
	readonly valuesApi: sheets_v4.Sheets['spreadsheets']['values'];
	readonly #client: sheets_v4.Sheets;
	readonly #item: Pick<Item, 'doOnce'>;

	/**
	 * @param item shares Google's responses with the other items of the run. Without it, Google is
	 * asked each time
	 */
	constructor(client: sheets_v4.Sheets, id: string, item?: Pick<Item, 'doOnce'>) {
		this.#client = client;
		this.id = id;
		this.valuesApi = client.spreadsheets.values;
		this.#item = item ?? { doOnce: (_, ask) => ask() };
	}

	/**
	 * Does the work once per run for each key. All items that work on the spreadsheet get the same
	 * result.
	 */
	#doOnce<T>(key: string, work: () => Promise<T>): Promise<T> {
		return this.#item.doOnce(`spreadsheet ${this.id} ${key}`, work);
	}

	/**
	 * Reads something once per run for each key, and again after an item that changes something.
	 */
	readOnce<T>(key: string, read: () => Promise<T>): Promise<T> {
		return this.#item.doOnce(`${readingPrefix}spreadsheet ${this.id} ${key}`, read);
	}

	/**
	 * @param fields what to return, as in Google's parameter `fields`
	 * @param cells the range of cells to return; undefined for all cells
	 */
	async fetch(
		fields: string,
		cells?: string,
		options = {},
	): Promise<sheets_v4.Schema$Spreadsheet> {
		const ranges = cells === undefined ? undefined : [cells];
		const request = { spreadsheetId: this.id, ranges, fields, prettyPrint: false };
		return (await this.#client.spreadsheets.get(request, options)).data;
	}

	/** Sends changes in one request. Google makes all of them or none. */
	async change(requests: sheets_v4.Schema$Request[]): Promise<void> {
		if (requests.length === 0) return;
		await this.#client.spreadsheets.batchUpdate({
			spreadsheetId: this.id,
			requestBody: new RequestBody({ requests }),
		});
	}

	async fetchTimeZone(): Promise<string> {
		const { properties } = await this.#doOnce('settings', () => this.fetch(settingsFields));
		return properties?.timeZone ?? '';
	}

	/**
	 * Calls `send`. If Google finds no such range, the error lists the tabs.
	 * @throws NodeError 400 if a range such as Q1 is also a tab
	 */
	async sendForRange<T>(target: ranges.TabRange, send: () => Promise<T>): Promise<T> {
		if (ranges.isCellWithoutTab(target)) await this.#refuseTabLikeCell(target);
		return await send().catch(async (error: unknown) => {
			if (!isUnknownRangeError(error)) throw error;
			throw createMissingTabError(error, target, await this.tryFetchTitles());
		});
	}

	/**
	 * Throws if a cell such as `Q1` is also the title of a tab. Google would read the cell of the
	 * first tab.
	 */
	async #refuseTabLikeCell({ a1 = '' }: ranges.TabRange): Promise<void> {
		const tabs = await this.fetchTabs();
		const namesake = tabs.find(({ title }) => isSameIgnoringCase(title, a1));
		if (!namesake) return;
		throw createRefusal(
			`${quoteField('range')} ${a1} is ambiguous: it is a cell, and the spreadsheet has a tab with this name`,
			`Enter ${ranges.quoteTab(namesake.title)} for the tab, or ${ranges.quoteTab(tabs[0]?.title ?? '')}!${a1} for the cell in the first tab.`,
		);
	}

	/**
	 * Combines the fields Tab and Range to one range. A link in Tab, such as `#gid=0`, becomes its
	 * tab's title.
	 */
	async resolveTarget(params: ranges.TargetParams): Promise<ranges.TabRange> {
		const target = ranges.parseTarget(params);
		// The range may name the tab itself.
		if (!ranges.isLinkedTab(params.tab) || target.tab !== params.tab) return target;
		const tabs = await this.fetchTabs();
		const linkedTab = tabs.find(({ gid }) => gid === target.tab);
		if (linkedTab) return { ...target, tab: linkedTab.title };
		throw createRefusal(
			`The spreadsheet has no tab with the ${target.tab} of its URL`,
			`Choose it in ${quoteField('tab')}. The spreadsheet has the tabs ${listNames(tabs.map(({ title }) => title))}.`,
		);
	}

	/**
	 * Fetches a tab, and `sheet`, the tab as Google returns it.
	 * @param a1 cells to return, with values, shown texts and formats
	 */
	async fetchTabInfo(
		tab: string | undefined,
		a1: string,
	): Promise<TabInfo & { readonly sheet: sheets_v4.Schema$Sheet }> {
		const fields = `${settingsFields},sheets(${tabFields},${cellFields})`;
		const data = await this.fetch(fields, ranges.printRange({ tab, a1 }));
		const sheet = data.sheets?.find(
			({ properties }) => tab === undefined || isSameIgnoringCase(properties?.title, tab),
		);
		// Without its ID, a change could reach another tab.
		if (!sheet?.properties)
			throw new NodeError({ code: 502, message: 'Google did not return the tab' });
		const { sheetId, title, gridProperties } = sheet.properties;
		return {
			sheetId: sheetId ?? 0,
			title: title ?? '',
			rowCount: gridProperties?.rowCount ?? 0,
			columnCount: gridProperties?.columnCount ?? 0,
			settings: {
				locale: data.properties?.locale ?? '',
				timeZone: data.properties?.timeZone ?? '',
			},
			sheet,
		};
	}

	/**
	 * Creates the tab that a target names, unless the spreadsheet has a tab or a named range of
	 * that name.
	 */
	async createMissingTab({ tab, name }: ranges.TabRange): Promise<void> {
		const title = tab ?? name;
		if (title === undefined) return;
		await this.#doOnce(`tab ${title}`, async () => {
			if (await this.#hasTabOrNamedRange(title)) return;
			const requests = [{ addSheet: { properties: { title } } }];
			await this.change(requests).catch(async (error: unknown) => {
				// Another execution may have created the tab meanwhile.
				if (!(await this.#hasTabOrNamedRange(title))) throw error;
			});
		});
	}

	async #hasTabOrNamedRange(title: string): Promise<boolean> {
		const fields = 'sheets.properties.title,namedRanges.name';
		const { sheets = [], namedRanges = [] } = await this.fetch(fields);
		const titles = sheets.map(({ properties }) => properties?.title);
		const names = [...titles, ...namedRanges.map(({ name }) => name)];
		return names.some((name) => isSameIgnoringCase(name, title));
	}

	/** Fetches the title of each tab, and `gid`, the end of a link to the tab, such as `#gid=0`. */
	fetchTabs(options = {}) {
		// Who waits long for the tabs does not share the answer of who does not.
		return this.#doOnce(`tabs ${JSON.stringify(options)}`, async () => {
			const fields = 'sheets.properties(sheetId,title)';
			const { sheets = [] } = await this.fetch(fields, undefined, options);
			return sheets.map(({ properties: { title, sheetId } = {} }) => {
				return { title: title ?? '', gid: `#gid=${sheetId ?? 0}` };
			});
		});
	}

	/**
	 * Fetches the titles of all tabs as additional information. Returns none if this fails, because
	 * something else is more important.
	 */
	async tryFetchTitles(): Promise<string[]> {
		// The user should not wait long for them.
		const options = { retryConfig: { retry: 0 }, timeout: 5000 };
		const tabs = await this.fetchTabs(options).catch(() => []);
		return tabs.map(({ title }) => title);
	}
}

/** Opens the spreadsheet of items to write rows, and creates the tab if the user wants it. */
export async function openTarget(client: sheets_v4.Sheets, params: RowParams, item: Item) {
	const spreadsheet = new Spreadsheet(client, params.spreadsheetId, item);
	const target = await spreadsheet.resolveTarget(params);
	if (params.createTab) await spreadsheet.createMissingTab(target);
	return { spreadsheet, target };
}

/**
 * Returns whether Google knows no such tab or named range. Google's message is the same for a text
 * that is not a range.
 */
export const isUnknownRangeError = (error: unknown): error is NodeError =>
	isNodeError(error) && error.code === 400 && error.message.includes('Unable to parse range');

/**
 * Adds the missing name and the existing tabs to Google's error, whose message only has the range
 * as the node printed it.
 */
function createMissingTabError(
	error: NodeError,
	{ tab, name }: ranges.TabRange,
	titles: readonly string[],
) {
	const missingTab = tab ?? name;
	if (titles.length === 0 || missingTab === undefined) return error;
	if (titles.some((title) => isSameIgnoringCase(title, missingTab)))
		return error.with({ description: ranges.rangeAdvice });
	return error.with({
		message: `Google Sheets: the spreadsheet has no tab ${listNames([missingTab])}`,
		description: `The spreadsheet has the tabs ${listNames(titles)}. Choose one in ${quoteField('tab')}, and leave ${quoteField('range')} empty to use all of it.`,
	});
}
