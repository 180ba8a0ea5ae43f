import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { longestHeader } from './headers';
import type { Part } from './mimeStructure';

type Message = gmail_v1.Schema$Message;

/** Far beyond any email that a person or a program writes. */
const mostParts = 2_000;
const mostLevels = 50;
const mostHeaders = 1_000;

const sayings = {
	headers: `the first ${mostHeaders.toLocaleString('en-US')} header fields`,
	header: `${longestHeader.toLocaleString('en-US')} characters of each header field`,
	levels: `${mostLevels} levels of parts`,
	parts: `the first ${mostParts.toLocaleString('en-US')} parts`,
};

interface Bounded {
	/** A copy; the content of the parts is whole. */
	readonly message: Message;
	/** Characters of content. */
	readonly characters: number;
	/** What was read instead of all, such as `50 levels of parts`; empty for almost all emails. */
	readonly only: readonly string[];
}

/**
 * An email of limited structure, so that whatever reads it needs no limits of its own. Gmail has limits, too, but a
 * gateway in front of it may not.
 */
export function bounded(message: Message): Bounded {
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
	const text = (value: string | null | undefined) => first(value ?? '', longestHeader, 'header');
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
			...{ partId, body, mimeType: text(mimeType), filename: text(filename) },
			headers: first(headers ?? [], mostHeaders, 'headers').map(({ name, value }) => ({
				name: text(name),
				value: text(value),
			})),
			parts: inner(parts ?? [], level + 1),
		};
	};
	const copied = { ...message, snippet: text(message.snippet), payload: copy(message.payload ?? {}, 0) };
	return { message: copied, characters, only: [...beyond].map((limit) => sayings[limit]) };
}
