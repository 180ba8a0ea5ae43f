import type { INodePropertyMode } from 'n8n-workflow';

import { createRefusal } from '../core/errors';
import { shorten } from '../core/text';
import type { Field, ReadContext } from '../fields/field';
import { nameField, isRecord, readList, readLocatorText } from '../fields/values';

const idPattern = /^[A-Za-z0-9_-]+$/;
const googleHosts = ['docs.google.com', 'drive.google.com', 'sheets.google.com', 'spreadsheets.google.com'];
/** `/d/<id>` of files, `/folders/<id>` of folders; `/d/e/…` is a page that was published to the web. */
const idInPath = /\/(?:d|folders)\/(?!e\/)([^/]+)/;
const myDrivePath = /^\/drive\/(u\/\d+\/)?my-drive\/?$/;

/** For each kind of file: what is in the path of its URLs, one of them, and what its list shows while nothing is chosen. */
const fileKinds = {
	spreadsheet: {
		path: '/spreadsheets/',
		exampleUrl: 'https://docs.google.com/spreadsheets/d/1Qm7xWc0aVbR2yKt4hL9/edit',
		listPlaceholder: 'Select a spreadsheet...',
	},
	document: {
		path: '/document/',
		exampleUrl: 'https://docs.google.com/document/d/1Qm7xWc0aVbR2yKt4hL9/edit',
		listPlaceholder: 'Select a document...',
	},
	folder: {
		path: '/folders/',
		exampleUrl: 'https://drive.google.com/drive/folders/1Qm7xWc0aVbR2yKt4hL9',
		listPlaceholder: 'My Drive',
	},
} as const;

/** The kinds of files that a field may ask for; each kind has URLs of its own. */
export type FileNoun = keyof typeof fileKinds;

/** @throws NodeError 400 unless the text is an ID that can stand in a URL's path as it is */
export function parseId(text: string, label: string, advice = ''): string {
	const id = text.trim();
	if (idPattern.test(id)) return id;
	throw createRefusal(
		`'${label}' is not an ID: ${shorten(id, 60)}`,
		`An ID contains only letters, digits, hyphens and underscores. ${advice}`.trim(),
	);
}

/** Takes an ID, or any URL that Google shows for a file or folder. @param noun 'file' for any kind @throws NodeError 400 */
export function parseFileId(text: string, noun: FileNoun | 'file', label: string): string {
	const given = text.trim();
	const url = parseGoogleUrl(given);
	const advice = `Enter the ID of the ${noun}, or its URL from the address bar of the browser.`;
	if (!url) return parseId(given, label, `A title is not an ID. ${advice}`);
	if (!googleHosts.includes(url.hostname))
		throw createRefusal(`'${label}' is not a Google Drive or Google Docs URL: ${url.hostname}`, advice);
	const found = Object.entries(fileKinds).find(([, { path }]) => url.pathname.includes(path))?.[0];
	if (noun !== 'file' && found !== undefined && found !== noun)
		throw createRefusal(`'${label}' is the URL of a ${found}, not of a ${noun}`, advice);
	if (noun === 'folder' && myDrivePath.test(url.pathname)) return 'root';
	const id = idInPath.exec(url.pathname)?.[1] ?? url.searchParams.get('id') ?? url.searchParams.get('key');
	if (id && idPattern.test(id)) return id;
	const isPublished = url.pathname.includes('/d/e/');
	throw createRefusal(`'${label}' is a URL without an ID`, isPublished ? publishedAdvice : advice);
}

const publishedAdvice =
	'This is the URL of a page published to the web. Open the file and use the URL from the address bar of the browser.';

function parseGoogleUrl(text: string): URL | undefined {
	const isUrl = /^https?:\/\//i.test(text) || googleHosts.includes(text.toLowerCase().split('/')[0] ?? '');
	const url = /^https?:/i.test(text) ? text : `https://${text}`;
	return isUrl && URL.canParse(url) ? new URL(url) : undefined;
}

/** Reads a list of IDs or URLs of files, each one once. */
export const readFileIds = (raw: unknown, field: Field, reading: ReadContext): string[] => {
	const entries = readList(field, raw, reading);
	return [...new Set(entries.map((entry) => parseFileId(entry, 'file', nameField(field, reading))))];
};

const emptyLocator = { __rl: true, mode: 'list', value: '' } as const;

/** Builds what every field for a file or folder of Drive shares: a choice from a list, by URL or by ID. Reads '' if nothing is chosen. */
export function createFileLocator(noun: FileNoun, searchListMethod: string) {
	const { exampleUrl, listPlaceholder } = fileKinds[noun];
	return {
		type: 'resourceLocator',
		default: emptyLocator,
		isId: true,
		modes: [
			// An empty list cannot say why it is empty.
			{
				...createListMode(searchListMethod, listPlaceholder),
				hint: "Something missing? 'Drive Access' in the credential determines what is listed.",
			},
			createTextMode('By URL', 'url', `e.g. ${exampleUrl}`),
			createTextMode('By ID', 'id', 'e.g. 1Qm7xWc0aVbR2yKt4hL9'),
		],
		builderHint:
			"Pass the whole object: { __rl: true, mode: 'id', value: '…' }, or mode 'url' with the address. Without a known ID, use mode 'list' with an empty value, and the user chooses. Never make up an ID.",
		read(raw: unknown, field: Field, reading: ReadContext): string {
			const text = readLocatorText(field, raw, reading);
			return text.trim() === '' ? '' : parseFileId(text, noun, nameField(field, reading));
		},
	} as const satisfies Partial<Field>;
}

/** The tab that a link to a spreadsheet opens, as `#gid=7`; '' if it names none. @param link as it was given, or in a locator */
export function readLinkedTab(link: unknown): string {
	const text = isRecord(link) ? link['value'] : link;
	if (typeof text !== 'string' || !parseGoogleUrl(text.trim())) return '';
	const sheetId = /[#?&]gid=(\d+)/.exec(text)?.[1];
	return sheetId === undefined ? '' : `#gid=${sheetId}`;
}

/** Builds what every field for a tab of the chosen file shares. @param search the method that lists the tabs */
export const createTabLocator = (noun: FileNoun, search: string, example: string) =>
	({
		type: 'resourceLocator',
		default: emptyLocator,
		format: 'tab',
		typeOptions: { loadOptionsDependsOn: [`${noun}Id.value`] },
		modes: [createListMode(search, 'Select a tab...'), createTextMode('By Name', 'name', `e.g. ${example}`)],
	}) as const satisfies Partial<Field>;

/** What every field for the ID of an email shares. Reads '' if there is none. */
export const messageIdField = {
	type: 'string',
	default: '',
	isId: true,
	placeholder: 'e.g. 18c3f0a1b2d4e5f6',
	read(raw: unknown, field: Field, reading: ReadContext): string {
		const text = readLocatorText(field, raw, reading);
		if (text.trim() === '') return '';
		const advice = 'List and Search return it as id. A subject or an address is not an ID.';
		return parseId(text, nameField(field, reading), advice);
	},
} as const satisfies Partial<Field>;

/** No mode has a `validation`: n8n would stop the whole node where one item's ID is wrong. */
const createTextMode = (displayName: string, name: string, placeholder: string): INodePropertyMode => ({
	...{ displayName, name, placeholder },
	type: 'string',
});

const createListMode = (searchListMethod: string, placeholder: string): INodePropertyMode => ({
	...{ displayName: 'From List', name: 'list', placeholder },
	type: 'list',
	typeOptions: { searchListMethod, searchable: true },
});
