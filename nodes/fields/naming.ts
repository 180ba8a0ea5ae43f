import { isNodeError, type NodeError } from '../core/errors';

import type { Field } from './field';

// Of Unicode's private use area: no text that is not ours has them around the name of a field.
const [begin, end] = ['\uE000', '\uE001'];
const place = new RegExp(`${begin}([A-Za-z]+)${end}`, 'g');

/**
 * A field in a text for the user, in quotes. Contains the field's own name until `Naming` replaces it by the name that this user sees:
 * the code that writes the text does not know the input mode.
 */
export function named(field: string): string {
	return `'${begin}${field}${end}'`;
}

/** Inserts the names that the user sees: the label in the form, the key in the input object. */
export class Naming {
	private readonly labels: ReadonlyMap<string, string>;

	constructor(fields: readonly Field[], mode: 'fields' | 'json') {
		this.labels = new Map(mode === 'json' ? [] : fields.map(({ name, displayName }) => [name, displayName]));
	}

	text(text: string): string {
		return text.replaceAll(place, (_, name: string) => this.labels.get(name) ?? name);
	}

	failure(failure: NodeError): NodeError {
		const { message, description } = failure;
		const told = { message: this.text(message), description: description && this.text(description) };
		return told.message === message && told.description === description ? failure : failure.with(told);
	}

	/** @throws whatever `act` throws, a NodeError with the names put in */
	during<T>(act: () => T): T {
		try {
			return act();
		} catch (error) {
			throw isNodeError(error) ? this.failure(error) : error;
		}
	}
}
