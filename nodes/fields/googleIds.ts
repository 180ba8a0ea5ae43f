import { refusal } from '../core/errors';
import { shortened } from '../core/text';

const idPattern = /^[A-Za-z0-9_-]+$/;
const hosts = ['docs.google.com', 'drive.google.com', 'sheets.google.com', 'spreadsheets.google.com'];
/** `/d/<id>` of files, `/folders/<id>` of folders; `/d/e/…` is a page that was published to the web. */
const inPath = /\/(?:d|folders)\/(?!e\/)([^/]+)/;

/** What an address leads to, by the field that it is given for. */
const kinds: Readonly<Record<string, { readonly path: string; readonly noun: string }>> = {
	spreadsheetId: { path: '/spreadsheets/', noun: 'spreadsheet' },
	documentId: { path: '/document/', noun: 'document' },
	parentFolder: { path: '/folders/', noun: 'folder' },
};

/** @throws Failure 400 unless the text is an id that stands in a path as it is */
export function checkedId(text: string, label: string): string {
	const id = text.trim();
	if (idPattern.test(id)) return id;
	throw refusal(
		`'${label}' is not an ID: ${shortened(id, 60)}`,
		'An ID contains only letters, digits, hyphens and underscores.',
	);
}

/**
 * The id in any address that Google shows for a spreadsheet, a document, a file or a folder; an id stands for itself.
 * @param name of the field, which tells what the address must lead to
 * @throws Failure 400
 */
export function fileIdOf(text: string, name: string, label: string): string {
	const given = text.trim();
	const url = urlOf(given);
	if (!url) return checkedId(given, label);
	if (!hosts.includes(url.hostname)) {
		throw refusal(`'${label}' is not a Google Drive or Google Docs URL: ${url.hostname}`, expected(name));
	}
	refuseOtherKind(url.pathname, name, label);
	if (/^\/drive\/(u\/\d+\/)?my-drive\/?$/.test(url.pathname)) return 'root';
	const id = inPath.exec(url.pathname)?.[1] ?? url.searchParams.get('id') ?? url.searchParams.get('key');
	if (id && idPattern.test(id)) return id;
	const published = url.pathname.includes('/d/e/');
	throw refusal(
		`'${label}' is a URL without an ID`,
		published
			? 'This is the URL of a page published to the web. Open the file and use the URL from the address bar of the browser.'
			: expected(name),
	);
}

function urlOf(text: string): URL | undefined {
	if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : undefined;
	const host = text.split('/')[0]?.toLowerCase() ?? '';
	return hosts.includes(host) && URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
}

function refuseOtherKind(path: string, name: string, label: string): void {
	const wanted = kinds[name];
	const found = Object.values(kinds).find((kind) => path.includes(kind.path));
	if (!wanted || !found || found === wanted) return;
	throw refusal(`'${label}' is the URL of a ${found.noun}, not of a ${wanted.noun}`, expected(name));
}

function expected(name: string): string {
	const noun = kinds[name]?.noun ?? 'file';
	return `Enter the ID of the ${noun}, or its URL from the address bar of the browser.`;
}
