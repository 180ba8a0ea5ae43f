import { unescape } from 'node:querystring';

import { getOrAdd } from '../../../../core/boundedMap';
import type { LoadedFile } from './attachments';

/** Matches an HTML tag. `(?=(…))\1` is an atomic group: without backtracking, no text takes long. */
const htmlTagPattern = /<[a-z](?:(?=([^"'<>]+))\1|"[^"]*"|'[^']*')*>/gi;
/** The group makes `split` also return the tags, at the odd indexes. */
const styleTagPattern = /(<\/?style\b[^<>]*>)/i;
const attributeValuePattern = /(=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)/g;
/** Matches an attribute's value that is a `cid:` link and nothing else. */
const cidValuePattern = /^(["']?\s*cid:)([^"'<>]{1,255}?)(["']?)$/i;
/** Matches a `cid:` link in CSS. It allows few spaces before the bracket, because they are tried after each character of the name. */
const cidInStylePattern =
	/(url\(\s*(?:["']|&quot;|&#39;)?cid:)([^()"'<>]{1,255}?)((?:["']|&quot;|&#39;)?\s{0,9}\))/gi;

/** Replaces the names in the `cid:` links of attributes and styles. Leaves other text alone, even if it looks like a link. */
function replaceCidLinks(html: string, replaceName: (name: string) => string): string {
	const replaceLink = (_link: string, prefix: string, name: string, suffix: string) =>
		prefix + replaceName(name) + suffix;
	const replaceInAttribute = (_attribute: string, equals: string, value: string) => {
		const linkPattern = cidValuePattern.test(value) ? cidValuePattern : cidInStylePattern;
		return equals + value.replace(linkPattern, replaceLink);
	};
	const replaceInTag = (tag: string) => tag.replaceAll(attributeValuePattern, replaceInAttribute);
	let isInStyle = false;
	const pieces = html.split(styleTagPattern).map((piece, index) => {
		const isStyleTag = index % 2 === 1;
		if (isInStyle && !isStyleTag) return piece.replaceAll(cidInStylePattern, replaceLink);
		if (isStyleTag) isInStyle = !piece.startsWith('</');
		return piece.replaceAll(htmlTagPattern, replaceInTag);
	});
	return pieces.join('');
}

/**
 * Gives a Content-ID to each file that a `cid:` link of the HTML names by its binary field or file name. The link then has the Content-ID.
 * @param uniqueId makes the Content-IDs unique among all emails
 * @returns the HTML, all files (those that are linked with their Content-IDs), and the names in the HTML that match no file
 */
export function inlineLinkedFiles(html: string, files: readonly LoadedFile[], uniqueId: string) {
	const cidByFile = new Map<LoadedFile, string>();
	const unknownNames = new Set<string>();
	const linkedHtml = replaceCidLinks(html, (name) => {
		const file = findLinkedFile(name, files);
		if (!file) {
			unknownNames.add(name);
			return name;
		}
		return getOrAdd(cidByFile, file, () => `${cidByFile.size + 1}.${uniqueId}@inline`);
	});
	const filesWithCid = files.map((file) => ({ ...file, cid: cidByFile.get(file) }));
	return { html: linkedHtml, files: filesWithCid, unknownNames: [...unknownNames] };
}

function findLinkedFile(name: string, files: readonly LoadedFile[]): LoadedFile | undefined {
	// In a link, a name may have percent signs or HTML escapes.
	const spellings = [name.trim(), unescape(name.trim()), name.trim().replaceAll('&amp;', '&')];
	return (
		files.find(({ field }) => field !== undefined && spellings.includes(field)) ??
		files.find(({ filename }) => spellings.includes(filename))
	);
}
