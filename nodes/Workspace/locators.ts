import type { INodePropertyMode } from 'n8n-workflow';

import { createRefusal } from '../core/errors';
import { shorten } from '../core/text';
import { type Field, quoteField, type ReadContext, textType } from '../fields/field';
import { unwrapLocator, readList, readLocatorText } from '../fields/values';

const idPattern = /^[A-Za-z0-9_-]+$/;
const googleHosts = ['docs.google.com', 'drive.google.com'];
/**
 * Finds the ID in `/d/<id>` of a file or `/folders/<id>` of a folder. `/d/e/…` is a page published
 * to the web, and has no ID.
 */
const idInPathPattern = /\/(?:d|folders)\/(?!e\/)([^/]+)/;

/**
 * For each kind of file: a part of the path of its URLs, an example, and what its list shows while
 * nothing is chosen.
 */
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

/** The kinds of files that a field may ask for. Error messages use these words. */
export type FileKind = keyof typeof fileKinds;

/**
 * Returns the ID without white space around it.
 * @throws NodeError 400 if it has other characters than an ID
 */
export function parseId(text: string, fieldName: string, advice = ''): string {
	const id = text.trim();
	if (idPattern.test(id)) return id;
	throw createRefusal(
		`${quoteField(fieldName)} is not an ID: ${shorten(id, 60)}`,
		`An ID contains only letters, digits, hyphens and underscores. ${advice}`.trim(),
	);
}

/**
 * Takes the ID from any URL that Google shows for a file or folder. An ID is returned as it is.
 * @param kind 'file' means any kind
 */
export function parseFileId(text: string, kind: FileKind | 'file', fieldName: string): string {
	const url = parseUrl(text);
	const advice = `Enter the ID of the ${kind}, or its URL from the address bar of the browser.`;
	if (!url) return parseId(text, fieldName, `A title is not an ID. ${advice}`);
	if (!googleHosts.includes(url.hostname))
		throw createRefusal(
			`${quoteField(fieldName)} is not a Google Drive or Google Docs URL: ${url.hostname}`,
			advice,
		);
	for (const [otherKind, { path }] of Object.entries(fileKinds))
		if (![otherKind, 'file'].includes(kind) && url.pathname.includes(path))
			throw createRefusal(
				`${quoteField(fieldName)} is the URL of a ${otherKind}, not of a ${kind}`,
				advice,
			);
	// The address of My Drive has no ID.
	if (kind === 'folder' && url.pathname.endsWith('/my-drive')) return 'root';
	const id = idInPathPattern.exec(url.pathname)?.[1] ?? url.searchParams.get('id');
	if (id && idPattern.test(id)) return id;
	throw createRefusal(`${quoteField(fieldName)} is a URL without an ID`, advice);
}

/**
 * Parses the URL of any site. A URL of Google may lack the scheme. If a program has escaped the
 * URL, this is undone. Otherwise, the tab that it names would be lost, and the first tab be
 * changed.
 */
function parseUrl(text: string): URL | undefined {
	const address = text
		.trim()
		.replaceAll('&amp;', '&')
		.replaceAll(escapedSeparatorPattern, decodeURIComponent);
	const lacksScheme = googleHosts.some((host) => address.startsWith(`${host}/`));
	const url = lacksScheme ? `https://${address}` : address;
	return /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
}

/** Matches `#`, `&`, `/`, `:`, `=` and `?` in a URL that a program has escaped for another URL. */
const escapedSeparatorPattern = /%(?:2[36f]|3[adf])/gi;

/**
 * Reads the IDs from a list of IDs or URLs of files, without duplicates.
 * @throws NodeError 400 if the option was added and names no file
 */
export function readFileIds(raw: unknown, field: Field, context: ReadContext): string[] {
	const ids = readList(raw, field, context).map((entry) =>
		parseFileId(entry, 'file', field.name),
	);
	if (ids.length === 0 && context.findSavedValue?.(field) !== undefined)
		throw createRefusal(
			`${quoteField(field.name)} names no file`,
			'Enter a file, or remove the option.',
		);
	return [...new Set(ids)];
}

const emptyLocator = { __rl: true, mode: 'list', value: '' } as const;

/**
 * Builds what all fields for a file or folder of Drive share: a choice from a list, by URL or by
 * ID. Without a choice, the value is ''.
 */
export function buildFileLocator(kind: FileKind, searchListMethod: string) {
	const { exampleUrl, listPlaceholder } = fileKinds[kind];
	return {
		type: 'resourceLocator',
		default: emptyLocator,
		isId: true,
		modes: [
			// n8n does not say why a list is empty, so the hint does.
			{
				...buildListMode(searchListMethod, listPlaceholder),
				hint: "Something missing? 'Drive Access' in the credential determines what is listed.",
			},
			buildTextMode('By URL', 'url', `e.g. ${exampleUrl}`),
			buildTextMode('By ID', 'id', 'e.g. 1Qm7xWc0aVbR2yKt4hL9'),
		],
		builderHint:
			"Pass the whole object: { __rl: true, mode: 'id', value: '…' }, or mode 'url' with the address. Without a known ID, use mode 'list' with an empty value, and the user chooses. Never make up an ID.",
		read(raw: unknown, field: Field, context: ReadContext): string {
			const text = readLocatorText(raw, field, context);
			return text.trim() === '' ? '' : parseFileId(text, kind, field.name);
		},
	} as const satisfies Partial<Field>;
}

/** Reads the URL of a link: a URL, or a locator with a URL. */
function readLink(link: unknown): URL | undefined {
	const text = unwrapLocator(link);
	return typeof text === 'string' ? parseUrl(text) : undefined;
}

/** Reads which tab a link to a document opens. @returns '' or an ID such as `t.0` */
export const readDocumentTab = (link: unknown) => readLink(link)?.searchParams.get('tab') ?? '';

/** Reads which tab a link to a spreadsheet opens. @returns '' or, for example, `#gid=7` */
export function readLinkedTab(link: unknown): string {
	const sheetId = /[#?&]gid=(\d+)/.exec(readLink(link)?.href ?? '')?.[1];
	return sheetId === undefined ? '' : `#gid=${sheetId}`;
}

/** Builds what all fields share that name a part of the chosen file, such as a tab. */
export const buildNameLocator = (
	searchListMethod: string,
	listPlaceholder: string,
	example: string,
) =>
	({
		type: 'resourceLocator',
		default: emptyLocator,
		format: 'tab',
		// The first tab or the whole document would be changed.
		mustBeFound: true,
		modes: [
			buildListMode(searchListMethod, listPlaceholder),
			buildTextMode('By Name', 'name', example),
		],
	}) as const satisfies Partial<Field>;

/** Builds what all fields for a tab of the chosen file share. */
export const buildTabLocator = (kind: FileKind, searchListMethod: string, example: string) =>
	({
		...buildNameLocator(searchListMethod, 'Select a tab...', example),
		typeOptions: { loadOptionsDependsOn: [`${kind}Id.value`] },
	}) as const satisfies Partial<Field>;

/**
 * What all fields for the ID of an email share. If the field is empty, the value is ''. An
 * expression may give a locator instead of a text.
 */
export const messageIdField = {
	...textType,
	isId: true,
	placeholder: 'e.g. 18c3f0a1b2d4e5f6',
	read(raw: unknown, field: Field, context: ReadContext): string {
		const text = readLocatorText(raw, field, context);
		if (text.trim() === '') return '';
		const advice = 'List and Search return it as id. A subject or an address is not an ID.';
		return parseId(text, field.name, advice);
	},
} as const satisfies Partial<Field>;

/**
 * Builds a mode without a `validation`, because n8n would stop the whole node if the ID of one item
 * were wrong. The names are spread, because n8n's linter would take a mode with literal names for a
 * field that lacks a default.
 */
const buildTextMode = (
	displayName: string,
	name: string,
	placeholder: string,
): INodePropertyMode => ({
	...{ displayName, name, placeholder },
	type: 'string',
});

const buildListMode = (searchListMethod: string, placeholder: string): INodePropertyMode => ({
	...{ displayName: 'From List', name: 'list', placeholder },
	type: 'list',
	typeOptions: { searchListMethod, searchable: true },
});
