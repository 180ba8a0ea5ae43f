import type { AttachedFile } from './attachedFiles';

/** HTML whose `cid:` links point to attached files. */
export interface WithImages {
	readonly html: string;
	readonly files: readonly AttachedFile[];
	/** Names in the HTML that match no attachment. */
	readonly unknown: readonly string[];
}

/** A `cid:` link in an attribute, with or without quotes, or in a style. */
const link =
	/("\s*cid:([^"<>]{1,255})"|'\s*cid:([^'<>]{1,255})'|\burl\(\s*cid:([^()"'<>]{1,255})\)|=\s*cid:([^\s"'<>]{1,255}))/gi;

/**
 * Makes those attachments inline that the HTML names by their binary field or their file name.
 * @param mark makes the Content-IDs unique among all emails
 */
export function withImages(html: string, files: readonly AttachedFile[], mark: string): WithImages {
	const cids = new Map<AttachedFile, string>();
	const unknown = new Set<string>();
	const linked = html.replaceAll(link, (whole: string, _all: string, ...groups: unknown[]) => {
		const name = groups.slice(0, 4).find((group) => typeof group === 'string') ?? '';
		const file = fileOf(name, files);
		if (!file) {
			unknown.add(name);
			return whole;
		}
		const cid = cids.get(file) ?? `${cids.size + 1}.${mark}@inline`;
		cids.set(file, cid);
		const at = whole.indexOf(name, whole.toLowerCase().indexOf('cid:') + 4);
		return whole.slice(0, at) + cid + whole.slice(at + name.length);
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
