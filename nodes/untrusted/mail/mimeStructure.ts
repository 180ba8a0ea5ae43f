import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeWords, maxHeaderCharacters } from './charset';

/** A part of an email as Gmail returns it, after `limitMessage`. */
export type MimePart = gmail_v1.Schema$MessagePart;

/** The surroundings of a part, which decide whether it is text or a file. */
export interface MimeContext {
	/** Type of the surrounding multipart; '' for the email itself. */
	readonly multipartType: string;
	/** Whether the part is in a `multipart/related`, after its HTML. */
	readonly isAfterHtml: boolean;
}

/** Types of text that are data for a program, such as an invitation. */
const dataTypes = /^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|x-amp-html|xml|rtf)$/;

/** Decides whether a part is a file or belongs to the email's text. */
export function isFile(part: MimePart, { multipartType, isAfterHtml }: MimeContext): boolean {
	const type = getMediaType(part);
	if (getDisposition(part) === 'attachment') return true;
	// Gmail returns a multipart with broken boundaries as a single part that contains its text.
	if (type === '' || type.startsWith('multipart/')) return Boolean(part.filename);
	if (!type.startsWith('text/') || dataTypes.test(type)) return true;
	const isBody = type === 'text/plain' || type === 'text/html';
	// A part that the HTML refers to, such as a frame or a style sheet, counts as a file.
	if (isAfterHtml && (getPartHeader(part, 'Content-ID') || getPartHeader(part, 'Content-Location')))
		return true;
	// Some programs give the text itself a file name.
	if (part.filename) return !(isBody && (multipartType === '' || multipartType === 'multipart/alternative'));
	return !isBody && multipartType !== '';
}

/** Media type without parameters, in lower case. */
export function getMediaType({ mimeType }: MimePart): string {
	return (mimeType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** `inline`, `attachment` or ''. */
export function getDisposition(part: MimePart): string {
	return /^\s*([\w-]+)/.exec(getPartHeader(part, 'Content-Disposition'))?.[1]?.toLowerCase() ?? '';
}

/** Value of the first header with a name, ignoring case; '' if there is none. */
export function getPartHeader({ headers }: MimePart, name: string): string {
	const wanted = name.toLowerCase();
	return headers?.find((header) => header.name?.toLowerCase() === wanted)?.value ?? '';
}

/** Value of an email's first header with a name, decoded. Others of that name are ignored, because an email may have thousands. */
export function getMessageHeader({ payload }: gmail_v1.Schema$Message, name: string): string {
	return decodeWords(getPartHeader(payload ?? {}, name));
}

/** Limits far beyond any email that a person or a program writes. */
const maxParts = 2_000;
const maxLevels = 50;
const maxHeaders = 1_000;

/**
 * Copies an email with limits on its parts, levels and headers, because a gateway in place of Gmail may have none.
 * @returns the copy with all content, the number of characters of that content, and whether anything was left out
 */
export function limitMessage(message: gmail_v1.Schema$Message) {
	let isCut = false;
	let characters = 0;
	let count = 0;
	function limitLength<T extends string | readonly unknown[]>(values: T, most: number): T {
		isCut ||= values.length > most;
		return values.slice(0, most) as T;
	}
	const limitText = (value: unknown) =>
		limitLength(typeof value === 'string' ? value : '', maxHeaderCharacters);
	const limitParts = (parts: readonly MimePart[], level: number): MimePart[] =>
		parts.flatMap((part) => {
			if (level < maxLevels && count < maxParts) return [limitPart(part, level)];
			isCut = true;
			return [];
		});
	const limitPart = (
		{ partId, mimeType, filename, headers, body, parts }: MimePart,
		level: number,
	): MimePart => {
		count++;
		characters += body?.data?.length ?? 0;
		return {
			partId,
			body,
			mimeType: limitText(mimeType),
			filename: limitText(filename),
			headers: limitLength(keepObjects(headers), maxHeaders).map(({ name, value }) => ({
				name: limitText(name),
				value: limitText(value),
			})),
			parts: limitParts(keepObjects(parts), level + 1),
		};
	};
	const copied = {
		...message,
		snippet: limitText(message.snippet),
		payload: limitPart(message.payload ?? {}, 0),
	};
	return { message: copied, characters, isCut };
}

/** A gateway may send anything in place of a list of objects; only objects in a list are kept. */
function keepObjects<T>(list: T[] | undefined): T[] {
	return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];
}
