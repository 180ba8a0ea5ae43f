import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import { createNodeApiError, NodeError, addAdviceToMessage } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { compareNames } from '../../core/text';
import { FieldNaming } from '../../fields/field';
import { requestOptions } from '../../fields/params';
import { isRecord } from '../../fields/values';
import { flattenTabs, summarizeTab } from '../../untrusted/document/tabList';
import { quoteSearchText } from '../actions/createdFiles';
import { listHeadings } from '../actions/document/contentPlace';
import { buildDocumentUrl, readBodyState } from '../actions/document/tabs';
import { listLabels } from '../actions/mail/list/query';
import { rowNumberChoice } from '../actions/spreadsheet/fields';
import { Spreadsheet, buildSpreadsheetUrl } from '../actions/spreadsheet/spreadsheet';
import type { SignIn } from '../google/advice';
import { readGoogleCredential, type GoogleCredential } from '../google/googleCredential';
import { toGoogleFailure } from '../google/errors';
import { type FileKind, parseFileId, readDocumentTab, readLinkedTab } from '../locators';
import type { Clients } from '../operation';
import { buildMapperFields, type ColumnsBuilder, fetchColumns, toOptions } from './columnLists';

/** The client that finds files for a list, and what its sign-in may see. */
export type FileClients = Pick<Clients, 'drive'> & Pick<GoogleCredential, 'signIn'>;

/** Fetches one page of choices. The filter is what the user typed. n8n calls the page token `paginationToken`. */
type Search = (
	clients: FileClients,
	filter?: string,
	pageToken?: string,
) => Promise<INodeListSearchResult>;

/**
 * Creates the search for Drive files of one kind, with the last opened file first.
 * @param pluralNoun such as "documents"
 * @returns a search that throws NodeError 404 if there are no files at all. If only a filter finds none, the list is empty, because n8n
 * removes the search box of a list that fails, and the user could not change the filter.
 */
function createFileSearch(pluralNoun: string, mimeType: string): Search {
	return async (clients, filter, pageToken) => {
		const order = 'viewedByMeTime desc,name_natural';
		const page = await listPickerFiles(clients, mimeType, order, filter, pageToken);
		const hasFiles = page.results.length > 0 || page.paginationToken || pageToken;
		if (!hasFiles && !filter?.trim()) throw createEmptyListError(pluralNoun, clients.signIn);
		return page;
	};
}

/** Creates the error for an empty list. Its message uses the words of n8n's buttons. It has no hyphens, because n8n would cut it there. */
function createEmptyListError(
	pluralNoun: string,
	{ authentication, driveAccess }: SignIn,
): NodeError {
	const appFilesAdvice =
		'With Drive Access set to App Files, Google lists only what this app created. For all of them, change Drive Access in the credential, save it, and click Switch account.';
	const reconnectAdvice =
		'If Drive Access was changed in the credential, save it and click Switch account there.';
	const advice =
		authentication === 'serviceAccount'
			? 'Share some with the email of the service account.'
			: `${driveAccess === 'appFiles' ? appFilesAdvice : reconnectAdvice} To use one anyway, choose By URL above.`;
	return new NodeError({
		code: 404,
		message: `No ${pluralNoun} found for this account. ${advice}`,
	});
}

async function listPickerFiles(
	{ drive, signIn: { driveAccess } }: FileClients,
	mimeType: string,
	orderBy: string,
	filter = '',
	pageToken = '',
	isUsable: (file: drive_v3.Schema$File) => boolean = () => true,
): Promise<INodeListSearchResult> {
	const terms = [`mimeType = '${mimeType}'`, 'trashed = false'];
	if (filter.trim()) terms.push(`name contains ${quoteSearchText(filter.trim())}`);
	const { data } = await drive.files.list({
		q: terms.join(' and '),
		fields: 'nextPageToken,files(id,name,webViewLink,isAppAuthorized,modifiedTime)',
		orderBy,
		pageSize: 100,
		pageToken: pageToken || undefined,
		corpora: driveAccess === 'appFiles' ? 'user' : 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	const files = (data.files ?? []).filter(isUsable);
	const results = files.flatMap(({ id, name, webViewLink, modifiedTime }) => {
		if (!id) return [];
		const isUniqueName = files.filter((file) => file.name === name).length === 1;
		const label = `${name}${isUniqueName ? '' : ` (changed ${modifiedTime?.slice(0, 16).replace('T', ' ')} UTC)`}`;
		return { name: label, value: id, url: webViewLink ?? undefined };
	});
	return { results, paginationToken: data.nextPageToken ?? undefined };
}

export const findDocuments = createFileSearch('documents', 'application/vnd.google-apps.document');
export const findSpreadsheets = createFileSearch(
	'spreadsheets',
	'application/vnd.google-apps.spreadsheet',
);

/** Finds My Drive and the shared drives, then the folders page by page. Leaves out folders into which the sign-in cannot put files. */
export const findFolders: Search = async (clients, filter, pageToken) => {
	const folderType = 'application/vnd.google-apps.folder';
	const isUsable = ({ isAppAuthorized }: drive_v3.Schema$File) =>
		isAppAuthorized === true || clients.signIn.driveAccess !== 'appFilesAndNames';
	const page = await listPickerFiles(
		clients,
		folderType,
		'name_natural',
		filter,
		pageToken,
		isUsable,
	);
	const myDrive = {
		name: 'My Drive',
		value: 'root',
		url: 'https://drive.google.com/drive/my-drive',
	};
	const roots = pageToken ? [] : [myDrive, ...(await listSharedDrives(clients))];
	return { ...page, results: [...filterByName(roots, filter), ...page.results] };
};

/** Lists the shared drives. Google shows them only to a sign-in with access to all files. */
async function listSharedDrives(
	clients: FileClients,
	pageToken?: string,
): Promise<INodeListSearchItems[]> {
	if (clients.signIn.driveAccess !== 'allFiles') return [];
	const fields = 'nextPageToken,drives(id,name)';
	const { data } = await clients.drive.drives.list({ pageSize: 100, pageToken, fields });
	const drives = (data.drives ?? []).flatMap(({ id, name }) =>
		id
			? { name: name ?? id, value: id, url: `https://drive.google.com/drive/folders/${id}` }
			: [],
	);
	return data.nextPageToken
		? [...drives, ...(await listSharedDrives(clients, data.nextPageToken))]
		: drives;
}

/** Limits for requests while the user waits for a list. A workflow may wait longer. */
const pickerLimits = {
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
};

/** Puts the names of fields into a failure. Without an operation, a failure can name only the request options. */
const naming = new FieldNaming(requestOptions, 'fields');

type GoogleClients = Clients & FileClients;

/** Asks Google with the credential of the node. @throws n8n's error. The advice is in its message, because n8n shows only the message. */
async function askGoogle<T>(
	context: ILoadOptionsFunctions,
	ask: (clients: GoogleClients) => Promise<T>,
) {
	const sanitizer = new Sanitizer();
	try {
		const authentication = context.getNodeParameter('authentication', 'oAuth2');
		const { signIn, loadClients } = await readGoogleCredential(
			context,
			authentication,
			sanitizer,
		);
		return await ask({ signIn, ...(await loadClients(pickerLimits)) });
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

/** Creates the method that n8n calls for a list of the chosen tab's columns. @param emptyList the list while no spreadsheet is chosen */
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
		};
		// Only Read works without a tab and a range. It then reads the first tab.
		if (form.tab === '' && form.range === '' && !form.isRead)
			return buildList(undefined, form.headerRow, []);
		return await askGoogle(context, async ({ sheets }) => {
			const id = parseFileId(idOrUrl, 'spreadsheet', 'Spreadsheet');
			const { columns, row } = await fetchColumns(new Spreadsheet(sheets, id), form);
			return buildList(columns, row + 1, context.getNodeParameter('matchColumns', []));
		});
	};
}

/** Reads the text of a field, which may be a locator. For an expression that needs an input item, n8n gives its text, and '' is returned. */
function readChosenText(raw: unknown): string {
	const value = isRecord(raw) ? raw['value'] : raw;
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	return text.startsWith('=') ? '' : text;
}

/** Creates the method that n8n calls for the tabs or headings of the chosen file. In the form, the value of an expression is unknown. */
function createTabsMethod(
	kind: FileKind,
	listTabs: (
		clients: Clients,
		fileId: string,
		readField: (name: string) => string,
	) => Promise<INodeListSearchItems[]>,
) {
	return async (
		context: ILoadOptionsFunctions,
		filter?: string,
	): Promise<INodeListSearchResult> =>
		await askGoogle(context, async (clients) => {
			const readField = (name: string) => readChosenText(context.getNodeParameter(name, ''));
			const idOrUrl = readField(`${kind}Id`);
			const label = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
			if (idOrUrl !== '')
				return {
					results: filterByName(
						await listTabs(clients, parseFileId(idOrUrl, kind, label), readField),
						filter,
					),
				};
			const message = `Choose the ${kind} first. If an expression chooses it, choose By Name above.`;
			throw new NodeError({ code: 400, message });
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

const tabFields = 'tabProperties(tabId,title)';
/** Asks for three levels, because Google nests tabs at most three levels deep. */
const tabTree = `tabs(${tabFields},childTabs(${tabFields},childTabs(${tabFields})))`;

/** Lists the tabs by ID, because several tabs of a document may have the same title. */
export async function listDocumentTabs({ docs }: Pick<Clients, 'docs'>, documentId: string) {
	const { data } = await docs.documents.get({
		documentId,
		includeTabsContent: true,
		fields: tabTree,
	});
	return flattenTabs(data.tabs)
		.map(summarizeTab)
		.map(({ tabId, title }) => ({
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
	const { content } = await readBodyState(docs, documentId, tab || linkedTab, 'texts');
	return listHeadings(content).map(({ text }) => ({ name: text, value: text }));
}

function filterByName(
	choices: readonly INodeListSearchItems[],
	filter = '',
): INodeListSearchItems[] {
	const filterText = filter.trim().toLowerCase();
	return choices.filter(({ name }) => name.toLowerCase().includes(filterText));
}

/** Lists the labels of the mailbox. The labels of the user come first. Each shows its ID, which emails have in place of the name. */
export async function listLabelOptions(
	clients: Pick<Clients, 'gmail'>,
): Promise<INodePropertyOptions[]> {
	const labels = await listLabels(clients);
	const choices = labels.flatMap(({ id, name, type }) => {
		if (!id) return [];
		return type === 'user'
			? { name: name ?? id, value: id, description: id }
			: { name: formatSystemLabel(id), value: id };
	});
	// Only the user's own labels have a description.
	const rank = ({ description }: INodePropertyOptions) => (description === undefined ? 1 : 0);
	return choices.sort((a, b) => rank(a) - rank(b) || compareNames(a.name, b.name));
}

/** Formats the ID of one of Gmail's own labels, such as CATEGORY_SOCIAL to Category Social. */
function formatSystemLabel(id: string): string {
	const words = id.toLowerCase().replaceAll('_', ' ');
	return words.replace(/(?<!\S)\S/g, (letter) => letter.toUpperCase());
}

/** The methods that n8n calls to fill the lists of the form. Their names stand in the fields. They get n8n's `this` as their first argument. */
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
	searchDocumentTabs: createTabsMethod('document', listDocumentTabs),
	searchDocuments: createSearchMethod(findDocuments),
	searchHeadings: createTabsMethod('document', listDocumentHeadings),
	searchFolders: createSearchMethod(findFolders),
	searchSpreadsheets: createSearchMethod(findSpreadsheets),
	searchTabs: createTabsMethod('spreadsheet', listSpreadsheetTabs),
};
