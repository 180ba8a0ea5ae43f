import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeHeader } from './charset';
import { decodeAddresses } from './decodeAddresses';

/** A part of an email as Gmail returns it. */
export type MimePart = gmail_v1.Schema$MessagePart;

/** Returns the media type in lower case, without parameters. */
export function getMediaType({ mimeType }: MimePart): string {
	const [type = ''] = (mimeType ?? '').split(';', 1);
	return type.trim().toLowerCase();
}

/**
 * Returns the disposition in lower case, such as `inline` or `attachment`; '' for a part without a
 * disposition.
 */
export function getDisposition(part: MimePart): string {
	const [disposition = ''] = /[\w-]+/.exec(getRawHeader(part, 'Content-Disposition')) ?? [];
	return disposition.toLowerCase();
}

/**
 * Returns the values, not decoded, of all headers with this name in any case, because an email may
 * repeat a header.
 */
export function getRawHeaders({ headers }: MimePart, name: string): string[] {
	const lowerName = name.toLowerCase();
	const values: string[] = [];
	for (const header of headers ?? [])
		if (header.name?.toLowerCase() === lowerName) values.push(header.value ?? '');
	return values;
}

/**
 * Returns the value, not decoded, of the first header with this name; '' if the part has no such
 * header.
 */
export function getRawHeader(part: MimePart, name: string): string {
	const [value = ''] = getRawHeaders(part, name);
	return value;
}

/** Matches a text whose last quotes are never closed. */
const openQuotePattern = /^[^"]*(?:"(?:\\.|[^"\\])*"[^"]*)*"(?:\\.|[^"\\])*$/s;

/** Returns the decoded addresses of all headers with this name, with commas between them. */
export const joinAddresses = (part: MimePart, name: string) =>
	getRawHeaders(part, name)
		.map(decodeAddresses)
		// Open quotes would take in the addresses of the next header.
		.map((list) => list.replace(openQuotePattern, '$&"'))
		.join(', ');

/** Returns the decoded value of the first header with this name. */
export const getDecodedHeader = (part: MimePart, name: string) =>
	decodeHeader(getRawHeader(part, name));
