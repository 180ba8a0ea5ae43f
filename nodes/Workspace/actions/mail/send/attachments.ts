import { unescape } from 'node:querystring';
import { buffer } from 'node:stream/consumers';

import { createRefusal } from '../../../../core/errors';
import { decodeBase64 } from '../../../byteSource';
import type { AttachmentInput, Clients, Item } from '../../../operation';
import { maxPartsAtOnce, runInParallel } from '../runInParallel';
import { maxMailBytes, createTooLargeError } from './deliver';
import type { UnreadFile } from './driveFiles';
import { requireOneLine, type SendParams } from './fields';

export interface AttachedFile extends Omit<UnreadFile, 'read'> {
	readonly content: Buffer;
	/** Content-ID, without angle brackets, of a file that the HTML shows. */
	readonly cid?: string;
}

/** The attachments with * replaced by all binary fields of the item, each one once. @throws NodeError 400 for a missing field */
export function expandAttachments(attachments: readonly AttachmentInput[], item: Item): AttachmentInput[] {
	const all = attachments.map((one) =>
		'field' in one ? item.findBinaryFields([one.field], 'attachments').map((field) => ({ field })) : [one],
	);
	const seen = new Set<string>();
	return all.flat().filter((one) => !('field' in one) || (!seen.has(one.field) && seen.add(one.field)));
}

/** The files to attach, read only if all fit. @throws NodeError 400 for a missing field, invalid base64, or more than an email holds */
export async function readAttachments(
	{ attachments, driveFiles }: Pick<SendParams, 'attachments' | 'driveFiles'>,
	{ drive }: Pick<Clients, 'drive'>,
	item: Item,
): Promise<AttachedFile[]> {
	const find = async (one: AttachmentInput, index: number) =>
		'field' in one ? await getFileFromField(one.field, item) : getFileFromText(one, index);
	const unread = await runInParallel(expandAttachments(attachments, item), 1, find);
	if (driveFiles.length > 0)
		unread.push(...(await (await import('./driveFiles')).findDriveFiles(drive, driveFiles)));
	let total = 0;
	const add = (bytes: number) => {
		total += bytes;
		if (total > maxMailBytes) throw createTooLargeError(total, unread);
	};
	add(unread.reduce((sum, { size }) => sum + getEncodedSize(size), 0));
	return await runInParallel(unread, maxPartsAtOnce, async ({ read, ...file }) => {
		const content = await read();
		// Corrects the size of a PDF, which Google does not tell before it has made the PDF.
		add(getEncodedSize(content.length) - getEncodedSize(file.size));
		return { ...file, size: content.length, content };
	});
}

async function getFileFromField(field: string, item: Item): Promise<UnreadFile> {
	const source = await item.getBinary(field);
	const filename = source.fileName || (await import('../../mimeTypes')).buildFileName(field, source.mimeType);
	return {
		field,
		filename: requireOneLine(filename, `The file name of '${field}'`),
		contentType: source.mimeType,
		size: source.size,
		read: async () => await buffer(await source.open()),
	};
}

type TextAttachment = Exclude<AttachmentInput, { readonly field: string }>;

function getFileFromText({ fileName, mimeType, content }: TextAttachment, index: number): UnreadFile {
	const bytes = decodeBase64(content);
	if (bytes === undefined) {
		throw createRefusal(
			`'content' of attachment ${index + 1} is not base64 text`,
			'Enter the file as base64 without a "data:" prefix, or use the name of a binary field instead.',
		);
	}
	return {
		filename: requireOneLine(fileName, `'fileName' of attachment ${index + 1}`),
		contentType: mimeType && requireOneLine(mimeType, `'mimeType' of attachment ${index + 1}`),
		size: bytes.length,
		read: () => Promise.resolve(bytes),
	};
}

/** Size in base64 with line breaks after 76 characters. */
function getEncodedSize(bytes: number): number {
	const characters = Math.ceil(bytes / 3) * 4;
	return characters + Math.ceil(characters / 76) * 2;
}

/** An HTML tag. Runs of other characters are matched as a whole, so that no text takes long. */
const htmlTag = /<[a-z](?:(?=([^"'<>]+))\1|"[^"]*"|'[^']*')*>/gi;
const styleTag = /(<\/?style\b[^<>]*>)/i;
const attributeValue = /(=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)/g;
/** An attribute whose whole value is a `cid:` link. */
const cidValue = /^(["']?\s*cid:)([^"'<>]{1,255}?)(["']?)$/i;
/** A `cid:` link in CSS. Few spaces may follow it, because they are matched again for each character of the name. */
const cidInStyle =
	/(url\(\s*(?:["']|&quot;|&#39;)?cid:)([^()"'<>]{1,255}?)((?:["']|&quot;|&#39;)?\s{0,9}\))/gi;

/** Puts other names into the `cid:` links of attributes and styles; text that looks like one stays as it is. */
function replaceCidLinks(html: string, rename: (name: string) => string): string {
	const replaceLink = (_all: string, before: string, name: string, after: string) =>
		before + rename(name) + after;
	const replaceInAttribute = (_all: string, equals: string, value: string) =>
		equals +
		(cidValue.test(value) ? value.replace(cidValue, replaceLink) : value.replaceAll(cidInStyle, replaceLink));
	let isStyle = false;
	return html
		.split(styleTag)
		.map((piece, at) => {
			if (at % 2 === 1) isStyle = !piece.startsWith('</');
			else if (isStyle) return piece.replaceAll(cidInStyle, replaceLink);
			return piece.replaceAll(htmlTag, (whole) => whole.replaceAll(attributeValue, replaceInAttribute));
		})
		.join('');
}

/**
 * Makes those attachments inline that the HTML names by their binary field or their file name.
 * @param token makes the Content-IDs unique among all emails
 * @returns also the names in the HTML that match no attachment
 */
export function inlineImages(html: string, files: readonly AttachedFile[], token: string) {
	const cids = new Map<AttachedFile, string>();
	const unknown = new Set<string>();
	const linkedHtml = replaceCidLinks(html, (name) => {
		const file = findAttachedFile(name, files);
		if (!file) {
			unknown.add(name);
			return name;
		}
		const cid = cids.get(file) ?? `${cids.size + 1}.${token}@inline`;
		cids.set(file, cid);
		return cid;
	});
	const inline = files.map((file) => ({ ...file, cid: cids.get(file) }));
	return { html: linkedHtml, files: inline, unknown: [...unknown] };
}

function findAttachedFile(name: string, files: readonly AttachedFile[]): AttachedFile | undefined {
	const spellings = [name.trim(), unescape(name.trim()), name.trim().replaceAll('&amp;', '&')];
	return (
		files.find(({ field }) => field !== undefined && spellings.includes(field)) ??
		files.find(({ filename }) => spellings.includes(filename))
	);
}
