import type { AttachedFile } from './attachments';

/** HTML whose `cid:` links point to attached files. */
export interface WithImages {
	readonly html: string;
	readonly files: readonly AttachedFile[];
	/** Names in the HTML that match no attachment. */
	readonly unknown: readonly string[];
}

/** Runs of other characters are taken whole, so that no text takes long. */
const tag = /<[a-z](?:(?=([^"'<>]+))\1|"[^"]*"|'[^']*')*>/gi;
const styleTag = /(<\/?style\b[^<>]*>)/i;
const attributeValue = /(=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)/g;
/** The whole value of an attribute. */
const linkedValue = /^(["']?\s*cid:)([^"'<>]{1,255}?)(["']?)$/i;
/** Few spaces at its end, because they are looked at again for each character of the name. */
const linkInStyle =
	/(url\(\s*(?:["']|&quot;|&#39;)?cid:)([^()"'<>]{1,255}?)((?:["']|&quot;|&#39;)?\s{0,9}\))/gi;

/** Puts other names into the `cid:` links of attributes and styles; text that looks like one stays as it is. */
function relinked(html: string, named: (name: string) => string): string {
	const link = (_all: string, before: string, name: string, after: string) => before + named(name) + after;
	const inAttribute = (_all: string, equals: string, value: string) =>
		equals +
		(linkedValue.test(value) ? value.replace(linkedValue, link) : value.replaceAll(linkInStyle, link));
	let isStyle = false;
	return html
		.split(styleTag)
		.map((piece, at) => {
			if (at % 2 === 1) isStyle = !piece.startsWith('</');
			else if (isStyle) return piece.replaceAll(linkInStyle, link);
			return piece.replaceAll(tag, (whole) => whole.replaceAll(attributeValue, inAttribute));
		})
		.join('');
}

/**
 * Makes those attachments inline that the HTML names by their binary field or their file name.
 * @param mark makes the Content-IDs unique among all emails
 */
export function withImages(html: string, files: readonly AttachedFile[], mark: string): WithImages {
	const cids = new Map<AttachedFile, string>();
	const unknown = new Set<string>();
	const linked = relinked(html, (name) => {
		const file = fileOf(name, files);
		if (!file) {
			unknown.add(name);
			return name;
		}
		const cid = cids.get(file) ?? `${cids.size + 1}.${mark}@inline`;
		cids.set(file, cid);
		return cid;
	});
	const inline = files.map((file) => {
		const cid = cids.get(file);
		return cid === undefined ? file : { ...file, cid };
	});
	return { html: linked, files: inline, unknown: [...unknown] };
}

function fileOf(name: string, files: readonly AttachedFile[]): AttachedFile | undefined {
	const spellings = [name.trim(), decodedUrl(name.trim()), name.trim().replaceAll('&amp;', '&')];
	return (
		files.find(({ field }) => field !== undefined && spellings.includes(field)) ??
		files.find(({ filename }) => spellings.includes(filename))
	);
}

function decodedUrl(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		// A percent sign that is not an escape.
		return text;
	}
}
