import { unescape } from 'node:querystring';
import { buffer } from 'node:stream/consumers';

import { refusal } from '../../../../core/errors';
import { bytesOfBase64 } from '../../../source';
import type { Attachment, Item } from '../../../operation';
import { maxMailBytes, tooLarge } from './deliver';
import { oneLine } from './fields';

export interface AttachedFile {
	readonly filename: string;
	readonly contentType: string | undefined;
	/** Bytes. */
	readonly size: number;
	readonly content: Buffer;
	/** The binary field of the item that the file came from. */
	readonly field?: string;
	/** Content-ID, without angle brackets, of a file that the HTML shows. */
	readonly cid?: string;
}

/** A file whose size is known but that is not read yet. */
interface Announced extends Omit<AttachedFile, 'content'> {
	readonly read: () => Promise<Buffer>;
}

/** The files to attach, read only if all fit. @throws NodeError 400 for a missing field, invalid base64, or more than an email holds */
export async function attachedFiles(attachments: readonly Attachment[], item: Item): Promise<AttachedFile[]> {
	const announced: Announced[] = [];
	for (const [index, attachment] of attachments.entries()) {
		announced.push('field' in attachment ? await ofField(attachment.field, item) : ofText(attachment, index));
	}
	const total = announced.reduce((sum, { size }) => sum + encodedSize(size), 0);
	if (total > maxMailBytes) throw tooLarge(total, announced);
	return await Promise.all(announced.map(async ({ read, ...file }) => ({ ...file, content: await read() })));
}

async function ofField(field: string, item: Item): Promise<Announced> {
	const source = await item.binary(field);
	const filename = source.fileName || (await import('../../mimeTypes')).fileNameFor(field, source.mimeType);
	return {
		field,
		filename: oneLine(filename, `The file name of '${field}'`),
		contentType: source.mimeType,
		size: source.size,
		read: async () => await buffer(await source.open()),
	};
}

type TextAttachment = Exclude<Attachment, { readonly field: string }>;

function ofText({ fileName, mimeType, content }: TextAttachment, index: number): Announced {
	const bytes = bytesOfBase64(content);
	if (bytes === undefined) {
		throw refusal(
			`'content' of attachment ${index + 1} is not base64 text`,
			'Enter the file as base64 without a "data:" prefix, or use the name of a binary field instead.',
		);
	}
	return {
		filename: oneLine(fileName, `'fileName' of attachment ${index + 1}`),
		contentType: mimeType && oneLine(mimeType, `'mimeType' of attachment ${index + 1}`),
		size: bytes.length,
		read: () => Promise.resolve(bytes),
	};
}

/** Size in base64 with line breaks after 76 characters. */
function encodedSize(bytes: number): number {
	const characters = Math.ceil(bytes / 3) * 4;
	return characters + Math.ceil(characters / 76) * 2;
}

/** An HTML tag. Runs of other characters are matched as a whole, so that no text takes long. */
const tag = /<[a-z](?:(?=([^"'<>]+))\1|"[^"]*"|'[^']*')*>/gi;
const styleTag = /(<\/?style\b[^<>]*>)/i;
const attributeValue = /(=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)/g;
/** An attribute whose whole value is a `cid:` link. */
const linkedValue = /^(["']?\s*cid:)([^"'<>]{1,255}?)(["']?)$/i;
/** A `cid:` link in CSS. Few spaces may follow it, because they are matched again for each character of the name. */
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
 * @returns also the names in the HTML that match no attachment
 */
export function withImages(html: string, files: readonly AttachedFile[], mark: string) {
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
	const inline = files.map((file) => ({ ...file, cid: cids.get(file) }));
	return { html: linked, files: inline, unknown: [...unknown] };
}

function fileOf(name: string, files: readonly AttachedFile[]): AttachedFile | undefined {
	const spellings = [name.trim(), unescape(name.trim()), name.trim().replaceAll('&amp;', '&')];
	return (
		files.find(({ field }) => field !== undefined && spellings.includes(field)) ??
		files.find(({ filename }) => spellings.includes(filename))
	);
}
