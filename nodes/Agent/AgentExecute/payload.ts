import { refusal } from '../../core/failure';

export interface PayloadParameters {
	readonly payloadMode: 'taskAndInput' | 'json';
	readonly task: string;
	readonly input: string;
	readonly payloadJson: unknown;
}

/**
 * Checks the payload. A JSON text is sent unchanged, an object as its JSON.
 * @returns makes the text that is sent as `initialPayload`: only then, because all items are checked before the first is sent
 * @throws Failure 400 when the payload is no JSON object
 */
export function initialPayload(parameters: PayloadParameters): () => string {
	if (parameters.payloadMode === 'taskAndInput') {
		const { task, input } = parameters;
		return () => JSON.stringify({ task, input });
	}
	const { payloadJson } = parameters;
	if (typeof payloadJson === 'string') {
		checked(parse(payloadJson));
		return () => payloadJson;
	}
	const object = checked(payloadJson);
	return () => JSON.stringify(object);
}

/** In all: some 30 MB at most. */
const keptCharacters = 16 * 1024 * 1024;

/**
 * The texts that expressions made for the check are kept until they are sent, up to a limit: thousands of large ones would take the
 * memory of all at once. Beyond it the expression is evaluated a second time.
 */
export class KeptTexts {
	private left = keptCharacters;

	/** @returns the text from now on */
	keep(text: string, again: () => string): () => string {
		if (text.length > this.left) return again;
		this.left -= text.length;
		return () => text;
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		// The parser's message quotes the payload.
		const position = /position (\d+)/.exec(String(error))?.[1];
		return refuse(
			"'Payload' is not valid JSON",
			`${position ? `Parsing failed at character ${position}. ` : ''}Write an object such as {"task": "…"}, or use an expression.`,
		);
	}
}

function checked(value: unknown): object {
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
	return refuse(
		`'Payload' must be a JSON object, not ${nameOf(value)}`,
		'Wrap the value in an object, such as {"items": …}.',
	);
}

function nameOf(value: unknown): string {
	if (value === null || value === undefined) return 'an empty value';
	return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function refuse(message: string, description: string): never {
	throw refusal(message, description);
}
