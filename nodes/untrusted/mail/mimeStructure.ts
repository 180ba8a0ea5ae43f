import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeHeader } from './charset';

/** A part of an email as Gmail returns it. */
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

/** Returns the decoded value of the first header with this name. */
export const getDecodedHeader = ({ payload }: gmail_v1.Schema$Message, name: string) =>
	decodeHeader(getRawHeader(payload ?? {}, name));

/** Returns the values, not decoded, of all headers with this name, because an email may repeat a header. */
export const getRawHeaders = ({ headers }: MimePart, name: string): string[] =>
	(headers ?? [])
		.filter((header) => header.name?.toLowerCase() === name.toLowerCase())
		.map(({ value }) => value ?? '');
