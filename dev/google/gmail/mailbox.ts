import { randomBytes } from 'node:crypto';

import { findHeader, parseMime, readText, collectParts, type MimePart } from './mime.ts';

export interface StoredMail {
	/** 16 hex digits. */
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: Set<string>;
	/** Milliseconds since 1970. */
	readonly internalDate: number;
	readonly raw: Buffer;
	readonly mime: MimePart;
	/** When lists and searches begin to show the email, in milliseconds since 1970. */
	readonly listedAt: number;
}

export interface NewMail {
	readonly raw: Buffer;
	readonly labelIds: readonly string[];
	readonly threadId?: string;
	readonly internalDate?: number;
	readonly listedAt?: number;
}

/** The emails of one user. */
export class Mailbox {
	private readonly mails = new Map<string, StoredMail>();
	private latest = 0;

	add({ raw, labelIds, threadId, internalDate, listedAt = 0 }: NewMail): StoredMail {
		const id = randomBytes(8).toString('hex').replace(/^0/, '1');
		// Each email gets another time, so that emails of the same millisecond have an order.
		this.latest = Math.max(Date.now(), this.latest + 1);
		const mail: StoredMail = {
			id,
			threadId: threadId ?? id,
			labelIds: new Set(labelIds),
			internalDate: internalDate ?? this.latest,
			raw,
			mime: parseMime(raw),
			listedAt,
		};
		this.mails.set(id, mail);
		return mail;
	}

	get(id: string): StoredMail | undefined {
		return this.mails.get(id);
	}

	remove(id: string): void {
		this.mails.delete(id);
	}

	/** Returns the emails that lists already show, the newest first. */
	listShown(): StoredMail[] {
		const now = Date.now();
		return [...this.mails.values()]
			.filter(({ listedAt }) => listedAt <= now)
			.sort((one, other) => other.internalDate - one.internalDate);
	}

	/** Returns the emails of a thread, the oldest first. */
	listThread(threadId: string): StoredMail[] {
		return [...this.mails.values()]
			.filter((mail) => mail.threadId === threadId)
			.sort((one, other) => one.internalDate - other.internalDate);
	}

	get size(): number {
		return this.mails.size;
	}
}

/** Returns the first words of an email, HTML-escaped as in Gmail. */
export function buildSnippet({ mime }: StoredMail): string {
	const parts = collectParts(mime).filter(({ filename }) => filename === '');
	const plain = parts.find(({ mimeType }) => mimeType === 'text/plain');
	const html = parts.find(({ mimeType }) => mimeType === 'text/html');
	const text = plain ? readText(plain) : html ? readText(html).replaceAll(/<[^>]*>/g, ' ') : '';
	const escapes: Readonly<Record<string, string>> = {
		'&': '&amp;',
		'<': '&lt;',
		'>': '&gt;',
		'"': '&quot;',
		"'": '&#39;',
	};
	const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
	return words.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** Removes the prefixes of replies from a subject, so that the subjects of a thread can be compared. */
export function stripSubject({ mime }: Pick<StoredMail, 'mime'>): string {
	return (findHeader(mime.headers, 'Subject') ?? '').replace(/^(?:(?:re|aw|fwd?):\s*)+/i, '');
}
