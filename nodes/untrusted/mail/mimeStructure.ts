import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodeWords, longestHeader } from './charset';

/** A part of an email as Gmail returns it, after `limitMessage`. */
export type Part = gmail_v1.Schema$MessagePart;

/** The surroundings of a part, which decide whether it is text or a file. */
export interface Place {
	/** Type of the surrounding multipart; '' for the email itself. */
	readonly within: string;
	/** Whether the part is in a `multipart/related`, after its HTML. */
	readonly afterHtml: boolean;
}

/** Types of text that are data for a program, such as an invitation. */
const dataTypes = /^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|x-amp-html|xml|rtf)$/;

/** Decides whether a part is a file or belongs to the email's text. */
export function isFile(part: Part, { within, afterHtml }: Place): boolean {
	const type = typeOf(part);
	if (dispositionOf(part) === 'attachment') return true;
	// Gmail returns a multipart with broken boundaries as a single part that contains its text.
	if (type === '' || type.startsWith('multipart/')) return Boolean(part.filename);
	if (!type.startsWith('text/') || dataTypes.test(type)) return true;
	const isBody = type === 'text/plain' || type === 'text/html';
	// The HTML refers to this part, such as a frame or a style sheet.
	if (afterHtml && (partHeader(part, 'Content-ID') || partHeader(part, 'Content-Location'))) return true;
	// Some programs give the text itself a file name.
	if (part.filename) return !(isBody && (within === '' || within === 'multipart/alternative'));
	return !isBody && within !== '';
}

/** Media type without parameters, in lower case. */
export function typeOf({ mimeType }: Part): string {
	return (mimeType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** `inline`, `attachment` or ''. */
export function dispositionOf(part: Part): string {
	return /^\s*([\w-]+)/.exec(partHeader(part, 'Content-Disposition'))?.[1]?.toLowerCase() ?? '';
}

/** Value of the first header with a name, ignoring case; '' if there is none. */
export function partHeader({ headers }: Part, name: string): string {
	const wanted = name.toLowerCase();
	return headers?.find((header) => header.name?.toLowerCase() === wanted)?.value ?? '';
}

/** Value of an email's first header with a name, decoded. Others of that name are ignored, because an email may have thousands. */
export function headerOf({ payload }: gmail_v1.Schema$Message, name: string): string {
	return decodeWords(partHeader(payload ?? {}, name));
}

/** Far beyond any email that a person or a program writes. */
const mostParts = 2_000;
const mostLevels = 50;
const mostHeaders = 1_000;

/**
 * Copies an email with limits on its parts, levels and headers, because a gateway in place of Gmail may have none.
 * @returns the copy with all content, the number of characters of that content, and whether anything was left out
 */
export function bounded(message: gmail_v1.Schema$Message) {
	let isCut = false;
	let characters = 0;
	let count = 0;
	function first<T extends string | readonly unknown[]>(values: T, most: number): T {
		isCut ||= values.length > most;
		return values.slice(0, most) as T;
	}
	const text = (value: unknown) => first(typeof value === 'string' ? value : '', longestHeader);
	const inner = (parts: readonly Part[], level: number): Part[] =>
		parts.flatMap((part) => {
			if (level < mostLevels && count < mostParts) return [copy(part, level)];
			isCut = true;
			return [];
		});
	const copy = ({ partId, mimeType, filename, headers, body, parts }: Part, level: number): Part => {
		count++;
		characters += body?.data?.length ?? 0;
		return {
			partId,
			body,
			mimeType: text(mimeType),
			filename: text(filename),
			headers: first(objectsIn(headers), mostHeaders).map(({ name, value }) => ({
				name: text(name),
				value: text(value),
			})),
			parts: inner(objectsIn(parts), level + 1),
		};
	};
	const copied = { ...message, snippet: text(message.snippet), payload: copy(message.payload ?? {}, 0) };
	return { message: copied, characters, isCut };
}

/** A gateway may send anything in place of a list of objects; only objects in a list are kept. */
function objectsIn<T>(list: T[] | undefined): T[] {
	return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];
}
