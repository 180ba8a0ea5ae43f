import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeHeader } from './charset';

/** A part of an email as Gmail returns it. */
export type MimePart = gmail_v1.Schema$MessagePart;

/** Returns the media type in lower case, without parameters. */
export const getMediaType = ({ mimeType }: MimePart) =>
	(mimeType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Returns the disposition in lower case, such as `inline` or `attachment`; '' for a part without a disposition. */
export const getDisposition = (part: MimePart) =>
	/^\s*([\w-]+)/.exec(getRawHeader(part, 'Content-Disposition'))?.[1]?.toLowerCase() ?? '';

/** Returns the values, not decoded, of all headers with this name in any case, because an email may repeat a header. */
export const getRawHeaders = ({ headers }: MimePart, name: string): string[] =>
	(headers ?? [])
		.filter((header) => header.name?.toLowerCase() === name.toLowerCase())
		.map(({ value }) => value ?? '');

/** Returns the value, not decoded, of the first header with this name; '' if the part has no such header. */
export const getRawHeader = (part: MimePart, name: string) => getRawHeaders(part, name)[0] ?? '';

/** Returns the decoded value of the first header with this name. */
export const getDecodedHeader = (part: MimePart, name: string) =>
	decodeHeader(getRawHeader(part, name));
