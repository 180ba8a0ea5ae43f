import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeHeader, maxHeaderCharacters } from './charset';

/** A part of an email as Gmail returns it, after `limitMessage`. */
export type MimePart = gmail_v1.Schema$MessagePart;

/** The surroundings of a part, which decide whether it is text or a file. */
export interface MimeContext {
	/** Type of the surrounding multipart; '' for the email itself. */
	readonly multipartType: string;
	/** Whether the part is in a `multipart/related`, after its HTML. */
	readonly isAfterHtml: boolean;
}

/** Text types whose content is data for a program, such as an invitation. */
const dataTypePattern =
	/^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|x-amp-html|xml|rtf)$/;

/** Whether a part is a file. Any other part belongs to the email's text. */
export function isFile(part: MimePart, { multipartType, isAfterHtml }: MimeContext): boolean {
	const type = getMediaType(part);
	if (getDisposition(part) === 'attachment') return true;
	// Gmail returns a multipart with broken boundaries as a single part that contains its text.
	if (type === '' || type.startsWith('multipart/')) return Boolean(part.filename);
	if (!type.startsWith('text/') || dataTypePattern.test(type)) return true;
	const isBody = type === 'text/plain' || type === 'text/html';
	// A part that the HTML refers to, such as a frame or a style sheet, counts as a file.
	if (isAfterHtml && (getRawHeader(part, 'Content-ID') || getRawHeader(part, 'Content-Location')))
		return true;
	// Some programs give the text itself a file name.
	if (part.filename)
		return !(isBody && (multipartType === '' || multipartType === 'multipart/alternative'));
	return !isBody && multipartType !== '';
}

/** Returns the media type in lower case, without parameters. */
export const getMediaType = ({ mimeType }: MimePart) =>
	(mimeType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Returns the disposition in lower case, such as `inline` or `attachment`; '' for a part without a disposition. */
export const getDisposition = (part: MimePart) =>
	/^\s*([\w-]+)/.exec(getRawHeader(part, 'Content-Disposition'))?.[1]?.toLowerCase() ?? '';

/** Returns the value, not decoded, of the first header with this name in any case; '' if the part has no such header. */
export function getRawHeader({ headers }: MimePart, name: string): string {
	const lowerName = name.toLowerCase();
	return headers?.find((header) => header.name?.toLowerCase() === lowerName)?.value ?? '';
}

/** Returns the decoded value of the first header with this name. Only that one is decoded, because an email may have thousands of them. */
export const getDecodedHeader = ({ payload }: gmail_v1.Schema$Message, name: string) =>
	decodeHeader(getRawHeader(payload ?? {}, name));

/** Returns the values, not decoded, of all headers with this name, because an email may repeat a header. */
export const getRawHeaders = ({ headers }: MimePart, name: string): string[] =>
	(headers ?? [])
		.filter((header) => header.name?.toLowerCase() === name.toLowerCase())
		.map(({ value }) => value ?? '');

/** Limits for the copy of an email. No email that a person or an ordinary program writes comes near them. */
const maxParts = 2_000;
const maxLevels = 50;
const maxHeaders = 1_000;

/**
 * Copies an email, with limits for its parts, levels and headers, because a gateway in place of Gmail may have no limits.
 * @returns the copy, the number of characters of the content of all parts, and whether the copy lacks anything
 */
export function limitMessage(message: gmail_v1.Schema$Message) {
	let isCut = false;
	let characterCount = 0;
	let partCount = 0;
	function limitLength<T extends string | readonly unknown[]>(values: T, maxLength: number): T {
		isCut ||= values.length > maxLength;
		return values.slice(0, maxLength) as T;
	}
	const limitText = (value: unknown) =>
		limitLength(typeof value === 'string' ? value : '', maxHeaderCharacters);
	const limitParts = (parts: readonly MimePart[], level: number): MimePart[] =>
		parts.flatMap((part) => {
			if (level < maxLevels && partCount < maxParts) return [limitPart(part, level)];
			isCut = true;
			return [];
		});
	const limitPart = (
		{ partId, mimeType, filename, headers, body, parts }: MimePart,
		level: number,
	) => {
		partCount++;
		characterCount += body?.data?.length ?? 0;
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
	const payload = limitPart(message.payload ?? {}, 0);
	const copy = { ...message, snippet: limitText(message.snippet), payload };
	return { message: copy, characterCount, isCut };
}

/** Keeps only the objects of a list, because a gateway in place of Gmail may send anything else. */
function keepObjects<T>(list: T[] | undefined): T[] {
	return Array.isArray(list)
		? list.filter((element) => typeof element === 'object' && element !== null)
		: [];
}
