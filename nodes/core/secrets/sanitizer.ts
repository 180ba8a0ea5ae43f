import type { IDataObject } from 'n8n-workflow';

import type { Failure } from '../failure';
import { shortened } from '../shortened';
import { statusName } from '../status';
import { lowerCase, needlesOf, placesOf, type Needle } from './forms';
import { onOneLine } from './oneLine';
import { mask, withoutTokens } from './tokenShapes';
import { viewsOf, type Range } from './unescaped';

/** Limit for every text shown to people. Untrusted text is truncated before it is searched. */
const maxTextLength = 4000;
const maxMessageLength = 1000;

/**
 * Makes a text safe to show, store and log: truncates it, puts it on one line, and removes known secrets and anything that looks like
 * one. Every text that may contain untrusted content passes through here.
 */
export class Sanitizer {
	readonly #needles: Needle[] = [];
	readonly #known = new Set<string>();

	/** @param secrets of the credentials in use */
	constructor(secrets: Iterable<string> = []) {
		this.learn(secrets);
	}

	/** Adds secrets, because a token changes when it is refreshed. */
	learn(secrets: Iterable<string>): void {
		for (const secret of secrets) {
			if (this.#known.has(secret)) continue;
			this.#known.add(secret);
			this.#needles.push(...needlesOf(secret));
		}
	}

	text(text: string, maxLength = maxTextLength): string {
		return withoutTokens(this.#withoutKnown(onOneLine(shortened(text, maxLength))));
	}

	/** The failure without its cause, which is not sanitized. */
	failure(failure: Failure): Failure {
		const { code, status, message, description, details } = failure;
		return failure.with({
			message: this.text(message, maxMessageLength),
			description: description === undefined ? undefined : this.text(description),
			status: /^[A-Z][A-Z0-9_]{0,49}$/.test(status) ? status : statusName(code),
			details: details && (this.#value(details) as IDataObject),
			cause: undefined,
		});
	}

	/** Data keeps its line breaks. */
	#value(value: unknown): unknown {
		if (typeof value === 'string') return withoutTokens(this.#withoutKnown(value));
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return value.map((entry) => this.#value(entry));
		const entries = Object.entries(value).map(([key, entry]) => [this.#value(key), this.#value(entry)]);
		return Object.fromEntries(entries) as unknown;
	}

	#withoutKnown(text: string): string {
		const ranges = viewsOf(text).flatMap((view) => {
			const lower = lowerCase(view.text);
			const base64 = view.text.replaceAll('-', '+').replaceAll('_', '/');
			return this.#needles.flatMap((needle) => placesOf(needle, view, needle.isBase64 ? base64 : lower));
		});
		return masked(text, ranges);
	}
}

function masked(text: string, ranges: Range[]): string {
	const pieces: string[] = [];
	let done = 0;
	for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
		if (end <= done) continue;
		if (start >= done) pieces.push(text.slice(done, start), mask);
		done = end;
	}
	pieces.push(text.slice(done));
	return pieces.join('');
}
