import { joinLines } from '../../core/text';
import { decodeHeader } from './charset';

/**
 * Matches what stands between commas, where a comma in quotes or in an encoded word does not count.
 * Quotes that are never closed end with the text.
 */
export const entryPattern =
	/(?!\s)(?:=\?[^?\s]{1,80}\?[bq]\?[^?\r\n]*\?=|"(?:\\.|[^"\\])*"?|[^",=]+|=)+/gis;

/**
 * Decodes a list of addresses as Gmail returns it: names may be decoded but without their quotes,
 * such as `Doe, Jane <jane@example.com>`. Puts a name in quotes if a part of it could be mistaken
 * for anything else.
 */
export function decodeAddresses(list: string): string {
	const entries: string[] = [];
	const names: string[] = [];
	for (const piece of list.match(entryPattern) ?? []) {
		names.push(piece.trim());
		// Before an address, a comma belongs to the name.
		if (piece.includes('@')) entries.push(decodeEntry(names.splice(0).join(', ')));
	}
	return [...entries, ...names.map(decodeHeader)].join(', ');
}

const quotedPattern = /"((?:\\.|[^"\\])*)"/gs;
/** Matches a name whose quotes are all closed, and which has no address outside of them. */
const namePattern = /^(?:"(?:\\.|[^"\\])*"|[^"<>@])+$/s;
const specialPattern = /[",:;<>\\]/;

function decodeEntry(entry: string): string {
	const [, rawName = '', address = ''] = /^(.*)(<[^<>]*>[^<>?]*)$/s.exec(entry) ?? [];
	if (!namePattern.test(rawName)) return decodeHeader(entry);
	const unquoted = rawName.replaceAll(quotedPattern, (_quoted, text: string) =>
		text.replaceAll(/\\(.)/gs, '$1'),
	);
	const name = joinLines(decodeHeader(unquoted));
	if (!specialPattern.test(rawName + name)) return `${name} ${address}`;
	return `"${name.replaceAll(/["\\]/g, '\\$&')}" ${address}`;
}
