import { unescape } from 'node:querystring';

import { getOrAdd } from '../../../../core/boundedMap';
import type { LoadedFile } from './attachments';

/** Matches a `cid:` link that is the whole value of an attribute, or a `url()` in CSS. */
const cidLinkPattern =
	/((?:=(?:["']\s{0,9})?|url\(\s{0,9}(?:["']|&quot;|&#39;)?)cid:)([^()"'<>&]{1,255})/gi;

/**
 * Gives a Content-ID to each file that a `cid:` link of the HTML names by its binary field or file name. The link then has the Content-ID.
 * @param uniqueId makes the Content-IDs unique among all emails
 * @returns the HTML, all files (those that are linked with their Content-IDs), and the names in the HTML that match no file
 */
export function inlineLinkedFiles(html: string, files: readonly LoadedFile[], uniqueId: string) {
	const cidByFile = new Map<LoadedFile, string>();
	const unknownNames = new Set<string>();
	const linkedHtml = html.replaceAll(cidLinkPattern, (link, prefix: string, name: string) => {
		const file = findLinkedFile(name.trim(), files);
		if (!file) {
			unknownNames.add(name);
			return link;
		}
		return prefix + getOrAdd(cidByFile, file, () => `${cidByFile.size + 1}.${uniqueId}@inline`);
	});
	const filesWithCid = files.map((file) => ({ ...file, cid: cidByFile.get(file) }));
	return { html: linkedHtml, files: filesWithCid, unknownNames: [...unknownNames] };
}

function findLinkedFile(name: string, files: readonly LoadedFile[]): LoadedFile | undefined {
	// In a link, a name may have percent signs.
	const spellings = [name, unescape(name)];
	return (
		files.find(({ field }) => field !== undefined && spellings.includes(field)) ??
		files.find(({ filename }) => spellings.includes(filename))
	);
}
