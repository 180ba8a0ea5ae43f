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
	const door = new Door();
	const payload = door.part(message.payload ?? {}, 0);
	return {
		message: { ...message, snippet: door.text(message.snippet), payload },
		characters: door.characters,
		only: [...door.beyond].map((limit) => sayings[limit]),
	};
}

class Door {
	readonly beyond = new Set<keyof typeof sayings>();
	characters = 0;
	private parts = 0;

	part(given: Part, level: number): Part {
		this.parts++;
		this.characters += given.body?.data?.length ?? 0;
		const { partId, mimeType, filename, headers, body } = given;
		return {
			...{ partId, body, mimeType: this.text(mimeType), filename: this.text(filename) },
			headers: this.first(headers ?? [], mostHeaders, 'headers').map(({ name, value }) => ({
				name: this.text(name),
				value: this.text(value),
			})),
			parts: this.inner(given.parts ?? [], level + 1),
		};
	}

	text(value: string | null | undefined): string {
		return this.first(value ?? '', longestHeader, 'header');
	}

	private inner(given: readonly Part[], level: number): Part[] {
		if (given.length === 0) return [];
		if (level >= mostLevels) {
			this.beyond.add('levels');
			return [];
		}
		const parts: Part[] = [];
		for (const part of given) {
			if (this.parts >= mostParts) {
				this.beyond.add('parts');
				break;
			}
			parts.push(this.part(part, level));
		}
		return parts;
	}

	private first<T extends string | readonly unknown[]>(
		values: T,
		most: number,
		limit: keyof typeof sayings,
	): T {
		if (values.length <= most) return values;
		this.beyond.add(limit);
		return values.slice(0, most) as T;
	}
}
