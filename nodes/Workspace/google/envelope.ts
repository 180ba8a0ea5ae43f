import { shortened } from '../../core/shortened';

/** What Google said about a failed call, in one form for all families of APIs. */
export interface Envelope {
	/** Google's own message, at most 500 characters. */
	readonly message: string | undefined;
	/** Symbolic status, if the API family sends one. */
	readonly status: string | undefined;
	/** `errors[].reason` and `details[].reason`. */
	readonly reasons: readonly string[];
	/** Where to enable the API, if Google says so. */
	readonly activationUrl: string | undefined;
}

const maxMessageLength = 500;

/** Accepts bodies that are empty, HTML, or have a string as `error`. */
export function envelopeOf(body: Buffer): Envelope {
	const error = property(parsed(body), 'error');
	if (typeof error === 'string') {
		// The token endpoint uses this shape.
		const text = textOf(property(parsed(body), 'error_description')) ?? error;
		return { message: cut(text), status: undefined, reasons: [error], activationUrl: undefined };
	}
	const details = [...listOf(property(error, 'errors')), ...listOf(property(error, 'details'))];
	return {
		message: cut(textOf(property(error, 'message'))),
		status: textOf(property(error, 'status')),
		reasons: details.flatMap((detail) => textOf(property(detail, 'reason')) ?? []),
		activationUrl: details.flatMap(activationUrl)[0],
	};
}

function activationUrl(detail: unknown): string[] {
	const url = textOf(property(property(detail, 'metadata'), 'activationUrl'));
	return url?.startsWith('https://console.') ? [url] : [];
}

function parsed(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString('utf8')) as unknown;
	} catch {
		// HTML from a proxy, or nothing at all: the HTTP status is then the only information.
		return undefined;
	}
}

function property(value: unknown, key: string): unknown {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
	return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function cut(text: string | undefined): string | undefined {
	return text === undefined ? undefined : shortened(text, maxMessageLength);
}
