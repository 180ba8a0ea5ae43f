import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodedWords, longestHeader } from './charset';

/** As Gmail returns it, within the limits of `bounded`. */
export type Part = gmail_v1.Schema$MessagePart;

/** The text of an email, nested like its parts. */
export type Body =
	| { readonly kind: 'text' | 'html'; readonly part: Part }
	/** The same content in several forms, the plainest first (RFC 2046, 5.1.4). */
	| { readonly kind: 'alternative'; readonly pieces: readonly Body[] }
	/** One after another. */
	| { readonly kind: 'sequence'; readonly pieces: readonly Body[] };

export interface FilePart {
	readonly part: Part;
	/** Whether it belongs to a text, such as a picture to its HTML. */
	readonly related: boolean;
}

/** Splits an email into its parts: each one is either text or a file. An attached email is one file. */
export function mimeStructure(payload: Part): { body: Body; files: FilePart[] } {
	const files: FilePart[] = [];
	const body = bodyOf(payload, { within: '', afterHtml: false }, files);
	return { body: body ?? { kind: 'sequence', pieces: [] }, files };
}

interface Place {
	/** Type of the surrounding multipart; '' for the email itself. */
	readonly within: string;
	/** Whether the part is in a `multipart/related`, after its HTML. */
	readonly afterHtml: boolean;
}

function bodyOf(part: Part, place: Place, files: FilePart[]): Body | undefined {
	const type = typeOf(part);
	const parts = part.parts ?? [];
	if (type.startsWith('multipart/') && parts.length > 0) return bodyOfParts(type, parts, files);
	if (isFile(part, type, place)) {
		files.push({ part, related: place.within === 'multipart/related' });
		return undefined;
	}
	return { kind: type === 'text/html' ? 'html' : 'text', part };
}

function bodyOfParts(type: string, parts: readonly Part[], files: FilePart[]): Body | undefined {
	const pieces: Body[] = [];
	let afterHtml = false;
	for (const part of parts) {
		const piece = bodyOf(part, { within: type, afterHtml }, files);
		if (!piece) continue;
		pieces.push(piece);
		afterHtml ||= type === 'multipart/related' && hasHtml(piece);
	}
	if (pieces.length === 0) return undefined;
	// Some programs put the two forms of the text where the pictures should be.
	const areForms = type === 'multipart/related' && pieces.map(({ kind }) => kind).join() === 'text,html';
	return { kind: areForms || type === 'multipart/alternative' ? 'alternative' : 'sequence', pieces };
}

function hasHtml(body: Body): boolean {
	return 'pieces' in body ? body.pieces.some(hasHtml) : body.kind === 'html';
}

/** Texts that are data for a program, such as an invitation. */
const dataTypes = /^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|x-amp-html|xml|rtf)$/;

function isFile(part: Part, type: string, { within, afterHtml }: Place): boolean {
	if (dispositionOf(part) === 'attachment') return true;
	// Gmail returns a multipart with broken boundaries as a single part that contains its text.
	if (type === '' || type.startsWith('multipart/')) return Boolean(part.filename);
	if (!type.startsWith('text/') || dataTypes.test(type)) return true;
	const isBody = type === 'text/plain' || type === 'text/html';
	// A frame or a style sheet that the HTML refers to.
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

/** The same of an email, decoded. The others of that name are not: an email may have thousands. */
export function headerOf({ payload }: gmail_v1.Schema$Message, name: string): string {
	return decodedWords(partHeader(payload ?? {}, name));
}

/** Far beyond any email that a person or a program writes. */
const mostParts = 2_000;
const mostLevels = 50;
const mostHeaders = 1_000;

/** Made when they are needed: the first number that is formatted costs 8 ms. */
const sayings = {
	headers: () => `the first ${mostHeaders.toLocaleString('en-US')} header fields`,
	header: () => `${longestHeader.toLocaleString('en-US')} characters of each header field`,
	levels: () => `${mostLevels} levels of parts`,
	parts: () => `the first ${mostParts.toLocaleString('en-US')} parts`,
};

/**
 * A copy of an email with limited structure, so that whatever reads it needs no limits of its own. Gmail has limits, too, but
 * a gateway in front of it may not.
 * @returns also the characters of content, which is whole, and what was read instead of all, such as `50 levels of parts`
 */
export function bounded(message: gmail_v1.Schema$Message) {
	const beyond = new Set<keyof typeof sayings>();
	let characters = 0;
	let count = 0;
	function first<T extends string | readonly unknown[]>(
		values: T,
		most: number,
		limit: keyof typeof sayings,
	): T {
		if (values.length > most) beyond.add(limit);
		return values.slice(0, most) as T;
	}
	const text = (value: unknown) => first(typeof value === 'string' ? value : '', longestHeader, 'header');
	const inner = (parts: readonly Part[], level: number): Part[] =>
		parts.flatMap((part) => {
			const limit = level >= mostLevels ? 'levels' : count >= mostParts ? 'parts' : undefined;
			if (limit) beyond.add(limit);
			return limit ? [] : [copy(part, level)];
		});
	const copy = ({ partId, mimeType, filename, headers, body, parts }: Part, level: number): Part => {
		count++;
		characters += body?.data?.length ?? 0;
		return {
			partId,
			body,
			mimeType: text(mimeType),
			filename: text(filename),
			headers: first(objectsIn(headers), mostHeaders, 'headers').map(({ name, value }) => ({
				name: text(name),
				value: text(value),
			})),
			parts: inner(objectsIn(parts), level + 1),
		};
	};
	const copied = { ...message, snippet: text(message.snippet), payload: copy(message.payload ?? {}, 0) };
	return { message: copied, characters, only: [...beyond].map((limit) => sayings[limit]()) };
}

/** Whatever a gateway sends in the place of a list has none. */
function objectsIn<T>(list: T[] | undefined): T[] {
	return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];
}
