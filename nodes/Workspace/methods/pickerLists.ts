import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import { createNodeApiError, NodeError, addAdviceToMessage } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { FieldNaming } from '../../fields/field';
import { requestOptions } from '../../fields/commonOptions';
import { unwrapLocator } from '../../fields/values';
import { flattenTabs } from '../../untrusted/document/tabList';
import { listFiles, quoteSearchText } from '../actions/driveSearch';
import { listHeadings } from '../actions/document/content/contentPlace';
import {
	buildDocumentUrl,
	fetchDocument,
	findEditableTab,
} from '../actions/document/documentState';
import { listLabels } from '../actions/mail/list/labels';
import { rowNumberChoice } from '../actions/spreadsheet/fields';
import { Spreadsheet, buildSpreadsheetUrl } from '../actions/spreadsheet/spreadsheet';
import { readGoogleCredential, type GoogleCredential } from '../google/googleCredential';
import { toGoogleFailure } from '../google/errors';
import { type FileKind, parseFileId, readDocumentTab, readLinkedTab } from '../locators';
import type { Clients } from '../operation';
import { buildMapperFields, type ColumnsBuilder, fetchColumns, toOptions } from './columnLists';

/** The client that finds files for a list, and what its sign-in may see. */
export type FileClients = Pick<Clients, 'drive'> & Pick<GoogleCredential, 'signIn'>;

/**
 * Fetches one page of choices. The filter is what the user typed. n8n calls the page token
 * `paginationToken`.
 */
type Search = (
	clients: FileClients,
	filter?: string,
	pageToken?: string,
) => Promise<INodeListSearchResult>;

/**
 * Creates the search for Drive files of one kind, with the last opened file first.
 * @returns a search that throws NodeError 404 if there are no files at all. If only a filter finds
 * none, the list is empty, because n8n removes the search box of a list that fails, and the user
 * could not change the filter.
 */
function createFileSearch(kind: 'document' | 'spreadsheet'): Search {
	return async ({ drive }, filter = '', pageToken = '') => {
		const orderBy = 'viewedByMeTime desc,name_natural';
		const page = await fetchFilePage(drive, kind, orderBy, filter, pageToken);
		const isEmpty = !page.files?.length && !page.nextPageToken && pageToken === '';
		// The message uses the words of n8n's buttons. It has no hyphens, because n8n would cut it
		// there.
		if (isEmpty && filter.trim() === '')
			throw new NodeError({
				code: 404,
				message: `No ${kind}s found for this account. Drive Access in the credential determines what Google lists: after changing it, save the credential and click Switch account. A service account sees only what is shared with its email. To use one anyway, choose By URL above.`,
			});
		return toListResult(page);
	};
}

async function fetchFilePage(
	drive: drive_v3.Drive,
	kind: 'document' | 'spreadsheet' | 'folder',
	orderBy: string,
	filter: string,
	pageToken: string,
): Promise<drive_v3.Schema$FileList> {
	let q = `mimeType = 'application/vnd.google-apps.${kind}'`;
	if (filter.trim() !== '') q += ` and name contains ${quoteSearchText(filter.trim())}`;
	const fields = 'nextPageToken,files(id,name,webViewLink,isAppAuthorized)';
	return await listFiles(drive, { q, fields, orderBy, pageToken: pageToken || undefined });
}

function toListResult({ files = [], nextPageToken }: drive_v3.Schema$FileList) {
	const results = files.map(({ id, name, webViewLink }) => {
		return { name: String(name), value: id ?? '', url: webViewLink ?? undefined };
	});
	return { results, paginationToken: nextPageToken ?? undefined };
}

export const findDocuments = createFileSearch('document');
export const findSpreadsheets = createFileSearch('spreadsheet');

/**
 * Finds My Drive and the shared drives, then the folders page by page. Leaves out folders into
 * which the sign-in cannot put files.
 */
export const findFolders: Search = async (clients, filter = '', pageToken = '') => {
	const { drive, signIn } = clients;
	const data = await fetchFilePage(drive, 'folder', 'name_natural', filter, pageToken);
	const seesNamesOnly = signIn.driveAccess === 'appFilesAndNames';
	const files = data.files?.filter(({ isAppAuthorized }) => !seesNamesOnly || isAppAuthorized);
	const page = toListResult({ ...data, files });
	if (pageToken !== '') return page;
	const url = 'https://drive.google.com/drive/my-drive';
	const roots = [{ name: 'My Drive', value: 'root', url }, ...(await listSharedDrives(clients))];
	return { ...page, results: [...filterByName(roots, filter), ...page.results] };
};

/** Lists the shared drives. Google shows them only to a sign-in with access to all files. */
async function listSharedDrives({ drive, signIn }: FileClients): Promise<INodeListSearchItems[]> {
	const choices: INodeListSearchItems[] = [];
	if (signIn.driveAccess !== 'allFiles') return choices;
	let pageToken: string | undefined;
	do {
		const request = { pageSize: 100, pageToken, fields: 'nextPageToken,drives(id,name)' };
		const { data } = await drive.drives.list(request);
		for (const { id, name } of data.drives ?? []) {
			const url = `https://drive.google.com/drive/folders/${id}`;
			choices.push({ name: String(name), value: String(id), url });
		}
		pageToken = data.nextPageToken ?? undefined;
	} while (pageToken !== undefined);
	return choices;
}

/** Limits for requests while the user waits for a list. A workflow may wait longer. */
const pickerLimits = {
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
};

/**
 * Puts the names of fields into a failure. Without an operation, a failure can name only the
 * request options.
 */
const naming = new FieldNaming(requestOptions, { mode: 'fields' });

type GoogleClients = Clients & FileClients;

/**
 * Asks Google with the credential of the node.
 * @throws n8n's error. The advice is in its message, because n8n shows only the message.
 */
async function askGoogle<T>(
	context: ILoadOptionsFunctions,
	ask: (clients: GoogleClients) => Promise<T>,
) {
	const sanitizer = new Sanitizer();
	try {
		const authentication = context.getNodeParameter('authentication', 'oAuth2');
		const credential = await readGoogleCredential(context, authentication, sanitizer);
		const clients = await credential.loadClients(pickerLimits);
		return await ask({ signIn: credential.signIn, ...clients });
	} catch (error) {
		const rawFailure = toGoogleFailure(error, context.logger.info.bind(context.logger));
		const failure = addAdviceToMessage(naming.insertNamesIntoError(rawFailure));
		throw createNodeApiError(context.getNode(), failure, undefined, sanitizer);
	}
}

function createSearchMethod(search: Search) {
	return async (context: ILoadOptionsFunctions, filter?: string, pageToken?: string) =>
		await askGoogle(context, (clients) => search(clients, filter, pageToken));
}

/**
 * Creates the method that n8n calls for a list of the chosen tab's columns.
 * @param emptyList the list while no spreadsheet is chosen
 */
function createColumnsMethod<T>(buildList: ColumnsBuilder<T>, emptyList: T) {
	return async (context: ILoadOptionsFunctions): Promise<T> => {
		const readField = (field: string) => readChosenText(context.getNodeParameter(field, ''));
		const idOrUrl = readField('spreadsheetId');
		if (idOrUrl === '') return emptyList;
		const form = {
			tab: readField('tab') || readLinkedTab(idOrUrl),
			range: readField('options.range'),
			headerRow: Number(readField('options.headerRow') || 1),
			isRead: readField('operation') === 'read',
			isReplaced: readField('writeMode') === 'replace',
		};
		// Only Read works without a tab and a range. It then reads the first tab.
		if (form.tab === '' && form.range === '' && !form.isRead)
			return buildList(undefined, form.headerRow, []);
		return await askGoogle(context, async ({ sheets }) => {
			const id = parseFileId(idOrUrl, 'spreadsheet', 'spreadsheet');
			const { columns, row } = await fetchColumns(new Spreadsheet(sheets, id), form);
			return buildList(columns, row + 1, context.getNodeParameter('matchColumns', []));
		});
	};
}

/**
 * Reads the text of a field, which may be a locator. For an expression that needs an input item,
 * n8n gives its text, and '' is returned.
 */
function readChosenText(raw: unknown): string {
	const value = unwrapLocator(raw);
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	return text.startsWith('=') ? '' : text;
}

/**
 * Creates the method that n8n calls for the tabs or headings of the chosen file. In the form, the
 * value of an expression is unknown.
 */
function createFilePartsMethod(
	kind: FileKind,
	listParts: (
		clients: Clients,
		fileId: string,
		readField: (name: string) => string,
	) => Promise<INodeListSearchItems[]>,
) {
	return async (context: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> =>
		await askGoogle(context, async (clients) => {
			const readField = (name: string) => readChosenText(context.getNodeParameter(name, ''));
			const idOrUrl = readField(`${kind}Id`);
			if (idOrUrl === '')
				throw new NodeError({
					code: 400,
					message: `Choose the ${kind} first. If an expression chooses it, choose By Name above.`,
				});
			const fileId = parseFileId(idOrUrl, kind, kind);
			return { results: filterByName(await listParts(clients, fileId, readField), filter) };
		});
}

export async function listSpreadsheetTabs({ sheets }: Pick<Clients, 'sheets'>, id: string) {
	const tabs = await new Spreadsheet(sheets, id).fetchTabs();
	return tabs.map(({ title: name, gid }) => ({
		name,
		value: name,
		url: `${buildSpreadsheetUrl(id)}${gid}`,
	}));
}

/** Lists the tabs by ID, because several tabs of a document may have the same title. */
export async function listDocumentTabs({ docs }: Pick<Clients, 'docs'>, documentId: string) {
	const { tabs } = await fetchDocument({ docs, documentId, detail: 'names' });
	return flattenTabs(tabs).map(({ tabId, title }) => ({
		name: title,
		value: tabId,
		url: buildDocumentUrl(documentId, tabId),
	}));
}

/** Lists the headings of the chosen tab. Append has the tab among its options. */
export async function listDocumentHeadings(
	{ docs }: Pick<Clients, 'docs'>,
	documentId: string,
	readField: (name: string) => string,
) {
	const tab = readField('tab') || readField('options.tab');
	const linkedTab = readDocumentTab(readField('documentId'));
	const document = await fetchDocument({ docs, documentId, detail: 'texts' });
	const { content } = findEditableTab(document, tab || linkedTab);
	// A section includes those of the lower headings below it.
	return listHeadings(content).map(({ text, level }) => {
		return { name: `${'\u2003'.repeat(level - 1)}${text}`, value: text };
	});
}

function filterByName(choices: readonly INodeListSearchItems[], filter: string) {
	const filterText = filter.trim().toLowerCase();
	return choices.filter(({ name }) => name.toLowerCase().includes(filterText));
}

/**
 * Lists the labels of the mailbox, the user's own first. Each shows its ID, which emails have in
 * place of the name.
 */
export async function listLabelOptions(
	clients: Pick<Clients, 'gmail'>,
): Promise<INodePropertyOptions[]> {
	const labels = await listLabels(clients);
	return labels.map(({ id, name }) => ({
		name: String(name),
		value: String(id),
		description: String(id),
	}));
}

/**
 * The methods that n8n calls to fill the lists of the form. Their names stand in the fields. They
 * get n8n's `this` as their first argument.
 */
export const pickerLists = {
	getLabels: async (context: ILoadOptionsFunctions) => await askGoogle(context, listLabelOptions),
	getColumns: createColumnsMethod(toOptions, []),
	/** Lists the columns by which rows can be found, then the row number. */
	getMatchColumns: createColumnsMethod(
		(columns) => [...toOptions(columns), { ...rowNumberChoice }],
		[],
	),
	headerColumns: createColumnsMethod(buildMapperFields, {
		fields: [],
		emptyFieldsNotice: 'Choose the spreadsheet first.',
	}),
	searchDocumentTabs: createFilePartsMethod('document', listDocumentTabs),
	searchDocuments: createSearchMethod(findDocuments),
	searchHeadings: createFilePartsMethod('document', listDocumentHeadings),
	searchFolders: createSearchMethod(findFolders),
	searchSpreadsheets: createSearchMethod(findSpreadsheets),
	searchTabs: createFilePartsMethod('spreadsheet', listSpreadsheetTabs),
};
