import type {
	INodeParameterResourceLocator,
	INodePropertyMode,
	INodePropertyTypeOptions,
	NodePropertyTypes,
} from 'n8n-workflow';

import { isNodeError, type NodeError } from '../core/errors';

/** How values reach the node. */
export interface ReadContext {
	/** `fields` is the form. `json` is the input object. */
	readonly mode: 'fields' | 'json';
	/** The IANA name of the workflow's time zone. It applies to times without an offset. */
	readonly timezone: string;
	/**
	 * Returns what the user saved for a field of the form: a value, or an expression that is not
	 * resolved. Undefined for an option that nobody has added, and for a field that a model fills
	 * in.
	 */
	readonly findSavedValue?: (field: Field) => unknown;
}

export interface Choice {
	readonly name: string;
	readonly value: string;
	readonly description?: string;
}

/**
 * The formats of a field, which say more than its n8n type. Each has one type of value, however the
 * value was given.
 */
interface FormatValues {
	/** Given as text separated by commas or new lines, or as an array. */
	readonly list: string[];
	/**
	 * Given as text, which stays whole, because an RFC 5322 list may have commas inside quotes, or
	 * as an array, which becomes lines.
	 */
	readonly addressList: string;
	/** Given as a fixedCollection with the fields `name` and `value`, or as a plain object. */
	readonly pairs: Array<{ name: string; value: string }>;
	/** Given as JSON text or an array. The elements are arrays, whose contents are not checked. */
	readonly rows: unknown[][];
	/** Given like `rows`, but an element may also be an object. */
	readonly records: unknown[];
	/**
	 * Given as a list of binary fields, in JSON mode also as `{ fileName, mimeType, content }[]`.
	 */
	readonly attachments: AttachmentInput[];
	/** The text of a resource locator whose list depends on other fields. */
	readonly tab: string;
	/**
	 * Values by column, given as n8n's column mapper or an object. Undefined if the mapper is set
	 * to map the item's own fields.
	 */
	readonly columns: Readonly<Record<string, unknown>> | undefined;
}

export type FieldFormat = keyof FormatValues;

export type AttachmentInput =
	| { readonly field: string }
	| { readonly fileName: string; readonly mimeType?: string; readonly content: string };

export interface Field {
	readonly displayName: string;
	/** Saved in workflows. It is also the key in JSON mode. */
	readonly name: string;
	/** n8n's type. A value is read as text if `values.ts` has no reader for the type. */
	readonly type: NodePropertyTypes;
	/** As in n8n. Saved workflows depend on it. */
	readonly default: unknown;
	readonly description?: string;
	readonly hint?: string;
	readonly placeholder?: string;
	/** What n8n's AI builder needs to know to fill in the field. */
	readonly builderHint?: string;
	/**
	 * Whether the field must have a value. This is checked for each item, so that Continue on Fail
	 * works.
	 */
	readonly required?: boolean;
	/**
	 * Overrides `required` in the form. False if one empty value would stop the whole node. True if
	 * only the form must ask for a value.
	 */
	readonly requiredInForm?: boolean;
	/**
	 * The field names files. If an expression names none, the item fails, because otherwise nobody
	 * would notice the missing file.
	 */
	readonly namesFiles?: true;
	/** With `required`: other fields that can be given instead. */
	readonly requiredUnless?: readonly string[];
	/**
	 * With `required`: a value must be given, but it may be empty. With `namesFiles`: an empty text
	 * in an input object means all files.
	 */
	readonly mayBeEmpty?: boolean;
	/** All choices. If the list comes from Google, only the choices that the list always has. */
	readonly options?: readonly Choice[];
	readonly typeOptions?: INodePropertyTypeOptions;
	readonly format?: FieldFormat;
	/** The ways in which a resource locator can be filled in. */
	readonly modes?: readonly INodePropertyMode[];
	/**
	 * The field is the ID of one thing at the service. An input object that has it needs no
	 * `resource`.
	 */
	readonly isId?: true;
	/** Another field that gives the value if this field is empty. */
	readonly fallbackField?: { readonly name: string; read(raw: unknown): string };
	/**
	 * For an option: the form has it in this collection, and not in Options. Parameters and the
	 * input object stay flat.
	 */
	readonly collection?: OptionCollection;
	/**
	 * For options of the same group: the form has them as one entry with several values. Parameters
	 * and the input object stay flat.
	 */
	readonly optionGroup?: OptionGroup;
	/** For an option: the form has it only where the node is a tool. */
	readonly onlyAsTool?: boolean;
	/**
	 * With `onlyAsTool`, for an option: a workflow's form has it, too, while other fields have one
	 * of these values.
	 */
	readonly inWorkflowWhen?: Field['showWhen'];
	/** Shown only while other fields of the same operation have one of these values. */
	readonly showWhen?: Readonly<Record<string, ReadonlyArray<string | boolean>>>;
	/**
	 * The only mode that has this field. The other mode has another field in its place, or none.
	 */
	readonly onlyIn?: ReadContext['mode'];
	/**
	 * An input object may leave the key out or give it null, but no empty text, or undefined from
	 * an expression that found nothing.
	 */
	readonly refusesEmptyKey?: true;
	/** The form refuses an expression that finds or inserts nothing, because that could do harm. */
	readonly mustBeFound?: true;
	/** The default in JSON mode, if it differs from the form's default. */
	readonly jsonDefault?: unknown;
	/**
	 * The default in the form while another field has this value. n8n does not know this default:
	 * it applies when the value is read.
	 */
	readonly defaultWhen?: {
		readonly field: string;
		readonly is: string;
		readonly default: unknown;
	};
	/**
	 * Reads a value for which `type` and `format` are not enough.
	 * @throws NodeError 400 that names the field
	 */
	read?(raw: unknown, field: Field, context: ReadContext): unknown;
	/** n8n's switch for a field without expressions. The value is the same for all items. */
	readonly noDataExpression?: boolean;
	/**
	 * The decimal places that the form allows. If this is set, a value may have any fraction.
	 * Otherwise, only whole numbers are accepted.
	 */
	readonly decimals?: number;
	readonly minimum?: number;
	readonly maximum?: number;
	/** For a fixedCollection: the fields of each entry. */
	readonly entries?: { readonly group: string; readonly fields: readonly Field[] };
}

/** A collection of the form, such as *After Reading*. */
export interface OptionCollection {
	readonly name: string;
	readonly displayName: string;
	/** As in `Field`, for the whole collection. */
	readonly showWhen?: Field['showWhen'];
}

/**
 * An entry of a collection: a fixedCollection with a single row, such as
 * `timeLimits: { limits: { timeoutSeconds } }`.
 */
export interface OptionGroup {
	readonly name: string;
	readonly displayName: string;
	/** The key of the row. */
	readonly key: string;
}

/** Returns the name of the form's collection that has an option. */
export const getCollectionName = ({ collection }: Field) => collection?.name ?? 'options';

export const textType = { type: 'string', default: '' } as const;
export const listType = { type: 'string', format: 'list', default: '' } as const;

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

/** The values of all fields and options by name. A field without a value has its default. */
export type InferParameters<F extends readonly Field[], O extends readonly Field[]> = {
	readonly [K in F[number] as K['name']]: InferValue<K>;
} & { readonly [K in O[number] as K['name']]: InferValue<K> };

// Characters of Unicode's private use area. No text from outside has them around the name of a
// field.
const [nameStart, nameEnd] = ['\uE000', '\uE001'];
const namePlaceholderPattern = new RegExp(`${nameStart}([A-Za-z]+)(?:=(\\w+))?${nameEnd}`, 'g');

/**
 * Builds a placeholder, in quotes, for a field's name in a text for the user. `FieldNaming` then
 * inserts the name that the user sees.
 */
export const quoteField = (field: string) => `'${nameStart}${field}${nameEnd}'`;

/**
 * Builds a placeholder, without quotes, for a choice of a field. The user sees its name in the
 * form, or its value in the input object.
 */
export const mentionChoice = (field: string, value: string) =>
	`${nameStart}${field}=${value}${nameEnd}`;

/** Begins with the label of an option's group, because "Add option" lists only the group. */
const getFormLabel = ({ optionGroup, displayName }: Field) =>
	optionGroup ? `${optionGroup.displayName}: ${displayName}` : displayName;

/** Inserts the names that the user sees: the label in the form, the key in the input object. */
export class FieldNaming {
	readonly #fields: readonly Field[];
	readonly #findSavedValue: ReadContext['findSavedValue'];

	constructor(
		fields: readonly Field[],
		{ mode, findSavedValue }: Pick<ReadContext, 'mode' | 'findSavedValue'>,
	) {
		this.#fields = mode === 'json' ? [] : fields;
		this.#findSavedValue = findSavedValue;
	}

	insertNames(text: string): string {
		return text.replaceAll(namePlaceholderPattern, (_, name: string, value?: string) => {
			const field = this.#fields.find((candidate) => candidate.name === name);
			if (value === undefined) return field ? getFormLabel(field) : name;
			return field?.options?.find((choice) => choice.value === value)?.name ?? value;
		});
	}

	/**
	 * Adds to the ID of a file its name, if the user chose it from a list, which saved the name. If
	 * the file is deleted, Google no longer knows its name.
	 */
	#insertChosenNames(text: string): string {
		let named = text;
		for (const field of this.#fields) {
			if (field.type !== 'resourceLocator') continue;
			const saved = this.#findSavedValue?.(field) as
				INodeParameterResourceLocator | undefined;
			const { value, cachedResultName: name } = saved ?? {};
			if (value && name && name !== value)
				named = named.replaceAll(`'${value}'`, () => `'${name}' (${value})`);
		}
		return named;
	}

	insertNamesIntoError(failure: NodeError): NodeError {
		const { message, description } = failure;
		return failure.with({
			message: this.#insertChosenNames(this.insertNames(message)),
			description: description && this.insertNames(description),
		});
	}

	/** Calls a function. @throws its error; a NodeError gets the names that the user sees */
	callWithNames<T>(callback: () => T): T {
		try {
			return callback();
		} catch (error) {
			throw isNodeError(error) ? this.insertNamesIntoError(error) : error;
		}
	}
}
