import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
	ResourceMapperFields,
} from 'n8n-workflow';

import { toNodeError, nodeApiError, withAdvice } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { compareNames } from '../../fields/description';
import { Naming } from '../../fields/field';
import { requestOptions } from '../../fields/params';
import { fileIdOf, isRecord } from '../../fields/values';
import { allLabels } from '../actions/mail/list/query';
import { rowNumberKey } from '../actions/spreadsheet/cells';
import { readHeaderRow } from '../actions/spreadsheet/headerRow';
import { targetOf } from '../actions/spreadsheet/range';
import { Spreadsheet, spreadsheetUrl } from '../actions/spreadsheet/sheets';
import { Connection } from '../google/googleConnection';
import type { Clients } from '../operation';
import { type Search, searchDocuments, searchFolders, searchSpreadsheets } from './driveFiles';

/** The columns that values can be mapped to: those of the header row, in its order. */
export async function headerColumns(chosen: ChosenSpreadsheet): Promise<ResourceMapperFields> {
	const names = await headersOf(chosen);
	if (names === undefined) return noColumns('Choose the tab first.');
	if (names.length === 0) {
		return noColumns(
			`Row ${headerRowOf(chosen)} of the tab has no column names. Enter them there, or change Header Row.`,
		);
	}
	return {
		fields: names.map((name) => ({
			id: name,
			displayName: name,
			required: false,
			defaultMatch: false,
			canBeUsedToMatch: true,
			display: true,
		})),
	};
}

/** The columns that rows can be found by, and the number of the row. */
export async function matchColumns(chosen: ChosenSpreadsheet): Promise<INodePropertyOptions[]> {
	const names = (await headersOf(chosen)) ?? [];
	const rowNumber = { name: 'Row Number', value: rowNumberKey, description: 'As Read gives it' };
	return [...names.map((name) => ({ name, value: name })), rowNumber];
}

function headerRowOf({ text }: ChosenSpreadsheet): number {
	return Number(text('options.headerRow') || 1);
}

/** Undefined while no tab is chosen. */
async function headersOf(chosen: ChosenSpreadsheet): Promise<readonly string[] | undefined> {
	const { book, text } = chosen;
	const [tab, range] = [text('tab'), text('range')];
	if (tab === '' && range === '') return undefined;
	return (await readHeaderRow(book, targetOf({ tab, range }), headerRowOf(chosen))).names;
}

function noColumns(emptyFieldsNotice: string): ResourceMapperFields {
	return { fields: [], emptyFieldsNotice };
}

/** Somebody waits for a list: fewer tries than for a workflow, and no long waits. */
const patience = {
	maxTries: 3,
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
	methods: { 'drive.files.list': 'drive.file', 'drive.drives.list': 'drive' },
} as const;

/** What a request's failure may name. */
const naming = new Naming(requestOptions, 'fields');

/** Asks Google with the credential that is chosen in the node. @throws n8n's error, with the advice in its message */
async function askGoogle<T>(
	context: ILoadOptionsFunctions,
	ask: (clients: Clients, connection: Connection) => Promise<T>,
): Promise<T> {
	const sanitizer = new Sanitizer();
	try {
		const account = context.getNodeParameter('authentication', 'oAuth2') === 'serviceAccount';
		const connection = await Connection.open(context, account ? 'serviceAccount' : 'oAuth2', sanitizer);
		return await ask(await connection.clients(patience), connection);
	} catch (error) {
		const failure = withAdvice(naming.failure(toNodeError(error)));
		// n8n shows the message alone.
		throw nodeApiError(context.getNode(), failure, undefined, sanitizer);
	}
}

/** n8n's method for a picker. */
function picker(search: Search) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		return await askGoogle(this, async ({ drive }, { signIn }) => {
			return await search({ drive, signIn }, filter, paginationToken);
		});
	};
}

/** n8n's method for a list of choices. */
function chooser(choices: (clients: Clients) => Promise<INodePropertyOptions[]>) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		return await askGoogle(this, choices);
	};
}

/** What a list that depends on other fields of the form knows of them. */
interface ChosenSpreadsheet {
	readonly book: Spreadsheet;
	/** What a field of the form holds now; empty while it cannot be told. */
	readonly text: (field: string) => string;
}

/**
 * n8n's method for a list that depends on the chosen spreadsheet.
 * @param nothing what is shown while none is chosen
 */
function inChosenSpreadsheet<T>(
	ask: (chosen: ChosenSpreadsheet, filter?: string) => Promise<T>,
	nothing: () => T,
) {
	return async function (this: ILoadOptionsFunctions, filter?: string): Promise<T> {
		const text = (field: string) => textOf(this.getNodeParameter(field, ''));
		const given = text('spreadsheetId');
		if (given === '') return nothing();
		return await askGoogle(this, async ({ sheets }) => {
			const spreadsheetId = fileIdOf(given, 'spreadsheetId', 'Spreadsheet');
			return await ask({ book: new Spreadsheet(sheets, spreadsheetId), text }, filter);
		});
	};
}

/** A locator's value or a plain one. An expression that needs an input item is not resolved here. */
function textOf(raw: unknown): string {
	const value = isRecord(raw) ? raw['value'] : raw;
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	return text.startsWith('=') ? '' : text;
}

/** The tabs of the chosen spreadsheet whose names hold what the user typed. */
export async function searchTabs({ book }: ChosenSpreadsheet, filter = ''): Promise<INodeListSearchResult> {
	const { sheets = [] } = await book.get('sheets.properties(sheetId,title)');
	const wanted = filter.trim().toLowerCase();
	const results = sheets.flatMap(({ properties }) => {
		const { title, sheetId } = properties ?? {};
		if (!title?.toLowerCase().includes(wanted)) return [];
		const url = `${spreadsheetUrl(book.id)}#gid=${sheetId ?? 0}`;
		return [{ name: title, value: title, url }];
	});
	return { results };
}

/** The labels of the mailbox to choose from, its own first. */
export async function labelChoices(clients: Pick<Clients, 'gmail'>): Promise<INodePropertyOptions[]> {
	const labels = await allLabels(clients);
	const choices = labels.flatMap(({ id, name, type }) =>
		id ? [{ name: type === 'user' ? (name ?? id) : systemName(id), value: id, isOwn: type === 'user' }] : [],
	);
	const sorted = choices.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || compareNames(a.name, b.name));
	return sorted.map(({ name, value }) => ({ name, value }));
}

/** `CATEGORY_SOCIAL` as people read it: Category Social. */
function systemName(id: string): string {
	return id
		.toLowerCase()
		.split('_')
		.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
		.join(' ');
}

/** The node's methods for its form, by n8n's names. */
export const methods = {
	getLabels: chooser(labelChoices),
	getMatchColumns: inChosenSpreadsheet(matchColumns, () => []),
	headerColumns: inChosenSpreadsheet(headerColumns, () => noColumns('Choose the spreadsheet first.')),
	searchDocuments: picker(searchDocuments),
	searchFolders: picker(searchFolders),
	searchSpreadsheets: picker(searchSpreadsheets),
	searchTabs: inChosenSpreadsheet(searchTabs, () => ({ results: [] })),
};
