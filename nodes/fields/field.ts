import type { INodePropertyMode, INodePropertyTypeOptions, NodePropertyTypes } from 'n8n-workflow';

import { isNodeError, type NodeError } from '../core/errors';

/** How values reach the node: form values come from expressions and are converted leniently; object values must have their type. */
export interface ReadContext {
	readonly mode: 'fields' | 'json';
	/** IANA name of the workflow's time zone, for times without an offset. */
	readonly timezone: string;
	/** Whether the form gives a field by an expression of the user's own, not of a model. */
	readonly isExpression?: (name: string) => boolean;
	/** Whether the user has added an option to the form and does not leave it to a model. */
	readonly isOptionOfUser?: (name: string) => boolean;
}

export interface Choice {
	readonly name: string;
	readonly value: string;
	readonly description?: string;
}

/** The formats of a field, which say more than its n8n type, and the value in each, however it was given. */
interface FormatValues {
	/** Given as text separated by commas or new lines, or as an array. */
	readonly list: string[];
	/** The text as it stands (an RFC 5322 list has commas inside quotes), an array as lines. */
	readonly addressList: string;
	/** Given as a fixedCollection or a plain object. */
	readonly pairs: Array<{ name: string; value: string }>;
	/** Given as JSON text or an array; unchecked beyond "array of arrays". */
	readonly rows: unknown[][];
	/** The same, or an array of objects. */
	readonly records: unknown[];
	/** Given as a list of binary fields, in JSON mode also as `{ fileName, mimeType, content }[]`. */
	readonly attachments: AttachmentInput[];
	/** The text of a resource locator whose list depends on other fields. */
	readonly tab: string;
	/** By column, given as n8n's column mapper or an object; undefined where n8n is to map the item's own fields. */
	readonly columns: Readonly<Record<string, unknown>> | undefined;
}

export type FieldFormat = keyof FormatValues;

export type AttachmentInput =
	| { readonly field: string }
	| { readonly fileName: string; readonly mimeType?: string; readonly content: string };

export interface Field {
	readonly displayName: string;
	/** Saved in workflows; also the key in JSON mode. */
	readonly name: string;
	/** As in n8n. One without a reader in `values.ts` is read as text. */
	readonly type: NodePropertyTypes;
	/** As in n8n; saved workflows depend on it. */
	readonly default: unknown;
	readonly description?: string;
	readonly hint?: string;
	readonly placeholder?: string;
	/** What n8n's AI builder needs to know to fill it in. */
	readonly builderHint?: string;
	/** Must have a value. Checked per item, so that Continue on Fail works. */
	readonly required?: boolean;
	/** Overrides `required` in the form: false if one empty value would stop the whole node, true if only the form must ask for a value. */
	readonly requiredInForm?: boolean;
	/** Names files. If an expression names none, the item fails, because otherwise nobody would notice the missing file. */
	readonly namesFiles?: true;
	/** With `required`: the fields that can be given in its place. */
	readonly requiredUnless?: readonly string[];
	/** With `required`: a value must be given, but it may be empty. */
	readonly mayBeEmpty?: boolean;
	/** All choices. If the list comes from Google, only those that it always has. */
	readonly options?: readonly Choice[];
	readonly typeOptions?: INodePropertyTypeOptions;
	readonly format?: FieldFormat;
	/** The ways in which a resource locator can be filled in. */
	readonly modes?: readonly INodePropertyMode[];
	/** Names one thing at the service: an input object that has it needs no `resource`. */
	readonly isId?: true;
	/** Another field that gives the value if this one is empty. */
	readonly otherwise?: { readonly field: string; read(raw: unknown): string };
	/** Shown only while other fields of the same operation have one of these values. */
	readonly showWhen?: Readonly<Record<string, ReadonlyArray<string | boolean>>>;
	/** In one input mode only: the other one says the same with another field. */
	readonly onlyIn?: ReadContext['mode'];
	/** Default in JSON mode where it differs from the form's. */
	readonly jsonDefault?: unknown;
	/** Default in the form while another field has this value. n8n knows only `default`, so this one applies when the value is read. */
	readonly defaultWhen?: { readonly field: string; readonly is: string; readonly default: unknown };
	/** Reads a value for which `type` and `format` are not enough. @throws NodeError 400 that names the field */
	read?(raw: unknown, field: Field, reading: ReadContext): unknown;
	/** Set once for all items: no expression. */
	readonly noDataExpression?: boolean;
	/** Number of decimal places; without it, only whole numbers are accepted. */
	readonly decimals?: number;
	readonly minimum?: number;
	readonly maximum?: number;
	/** For a fixedCollection: the fields of each entry. */
	readonly entries?: { readonly group: string; readonly fields: readonly Field[] };
	/** For `pairs`: the fixedCollection's group, and its key beside `value`, e.g. `header` and `name`. */
	readonly pair?: { readonly group: string; readonly key: string };
}

interface TypeValues {
	readonly boolean: boolean;
	readonly number: number;
	readonly json: unknown;
}

type InferValue<F extends Field> = F extends { read: (...given: never[]) => infer V }
	? V
	: F extends { format: infer N extends FieldFormat }
		? FormatValues[N]
		: F extends { type: 'options'; options: ReadonlyArray<infer C extends Choice> }
			? C['value']
			: F extends { type: infer T extends keyof TypeValues }
				? TypeValues[T]
				: string;

/** Values of all fields and options by name. A field without a value has its default. */
export type InferParameters<F extends readonly Field[], O extends readonly Field[]> = {
	readonly [K in F[number] as K['name']]: InferValue<K>;
} & { readonly [K in O[number] as K['name']]: InferValue<K> };

// Characters of Unicode's private use area, because no text from outside has them around the name of a field.
const [begin, end] = ['\uE000', '\uE001'];
const namedPlace = new RegExp(`${begin}([A-Za-z]+)(?:=(\\w+))?${end}`, 'g');

/** A field in quotes, for a text for the user. `FieldNaming` replaces its name by the one that the user's input mode shows. */
export const quoteField = (field: string) => `'${begin}${field}${end}'`;

/** A choice of a field, without quotes: its name in the form, its value in the input object. */
export const printChoice = (field: string, value: string) => `${begin}${field}=${value}${end}`;

/** Inserts the names that the user sees: the label in the form, the key in the input object. */
export class FieldNaming {
	readonly #fields: readonly Field[];

	constructor(fields: readonly Field[], mode: 'fields' | 'json') {
		this.#fields = mode === 'json' ? [] : fields;
	}

	insertNames(text: string): string {
		return text.replaceAll(namedPlace, (_, name: string, value?: string) => {
			const field = this.#fields.find((one) => one.name === name);
			if (value === undefined) return field?.displayName ?? name;
			return field?.options?.find((choice) => choice.value === value)?.name ?? value;
		});
	}

	insertNamesIntoError(failure: NodeError): NodeError {
		const { message, description } = failure;
		return failure.with({
			message: this.insertNames(message),
			description: description && this.insertNames(description),
		});
	}

	/** @throws whatever `act` throws; a NodeError gets the names that the user sees */
	runWithNames<T>(act: () => T): T {
		try {
			return act();
		} catch (error) {
			throw isNodeError(error) ? this.insertNamesIntoError(error) : error;
		}
	}
}
