import { createRefusal } from '../core/errors';
import {
	type Field,
	FieldNaming,
	type InferParameters,
	quoteField,
	type ReadContext,
} from './field';
import { type RawValues } from './rawParameters';
import {
	missingDataAdvice,
	unwrapLocator,
	hasExpression,
	insertsNothing,
	isBlank,
	readValue,
	refuseUnnamedFiles,
} from './values';

export type AnyParameters = InferParameters<readonly Field[], readonly Field[]>;

/**
 * Reads the values of fields from the given input. Every node and both input modes use this.
 * @param rawValues the input by field name; undefined or null for a field without a value
 * @throws NodeError 400 that names the field and what is allowed
 */
export function readParameters<const F extends readonly Field[]>(
	fields: F,
	rawValues: RawValues,
	context: ReadContext,
): InferParameters<F, []> {
	const reader = new ParameterReader(fields, rawValues, context);
	const values = new FieldNaming(fields, context).callWithNames(() =>
		fields.map((field) => [field.name, reader.read(field)] as const),
	);
	// Each value was read as its field's type says.
	return Object.fromEntries(values) as InferParameters<F, []>;
}

class ParameterReader {
	readonly #fields: readonly Field[];
	readonly #rawValues: RawValues;
	readonly #context: ReadContext;

	constructor(fields: readonly Field[], rawValues: RawValues, context: ReadContext) {
		this.#fields = fields;
		this.#rawValues = rawValues;
		this.#context = context;
	}

	read(field: Field): unknown {
		const { name, showWhen = {}, requiredUnless = [], fallbackField } = field;
		const raw = this.#rawValues[name];
		if (field.refusesEmptyKey && Object.hasOwn(this.#rawValues, name))
			refuseEmptyKey(raw, field, this.#context);
		const isShown = Object.entries(showWhen).every((condition) => this.#meets(...condition));
		if (isShown) refuseEmptyExpression(raw, field, this.#context);
		if (isShown && field.namesFiles && Object.hasOwn(this.#rawValues, name))
			refuseUnnamedFiles(raw, field, this.#context);
		const value = this.#isGiven(field, isShown)
			? readValue(raw, field, this.#context)
			: this.#readDefault(field);
		if (fallbackField && value === '')
			return fallbackField.read(this.#rawValues[fallbackField.name]);
		const isNeeded = requiredUnless.every((other) => this.#rawValues[other] == null);
		if (isShown && isNeeded) requireValue(raw, field, value, this.#context);
		return value;
	}

	#isGiven({ name, type }: Field, isShown: boolean): boolean {
		const raw = this.#rawValues[name];
		if (raw == null || this.#context.mode === 'json') return raw != null;
		// An empty field of the form has no value if its value is not a text.
		const isCleared = raw === '' && ['number', 'boolean', 'options'].includes(type);
		// Values that remain from an earlier choice do not count, as in n8n's own form.
		return isShown && !isCleared;
	}

	#readDefault(field: Field): unknown {
		const { defaultWhen, jsonDefault } = field;
		let value = field.default;
		if (this.#context.mode === 'json') value = jsonDefault ?? value;
		else if (defaultWhen && this.#meets(defaultWhen.field, [defaultWhen.is]))
			value = defaultWhen.default;
		// Defaults are written in the form's shape.
		return readValue(value, field, { ...this.#context, mode: 'fields' });
	}

	#meets(name: string, allowedValues: ReadonlyArray<string | boolean>): boolean {
		const field = this.#fields.find((candidate) => candidate.name === name);
		const value = field && this.read(field);
		return allowedValues.some((allowed) => allowed === value);
	}
}

function refuseEmptyKey(raw: unknown, field: Field, context: ReadContext): void {
	if (context.mode === 'fields' || (raw !== undefined && !isBlank(raw))) return;
	throw createRefusal(
		`${quoteField(field.name)} is empty`,
		`${missingDataAdvice} To go without it, leave the key out.`,
	);
}

function refuseEmptyExpression(raw: unknown, field: Field, context: ReadContext): void {
	if (context.mode === 'json' || !field.mustBeFound) return;
	const value = unwrapLocator(raw);
	const saved = unwrapLocator(context.findSavedValue?.(field));
	const isEmpty = value == null || (field.type === 'options' && value === '');
	// A list or a text of several lines has other parts, which may be given.
	const isList = field.format === 'list' || field.format === 'addressList';
	const hasOtherParts = isList || field.typeOptions?.rows !== undefined;
	const foundNothing = isEmpty || (!hasOtherParts && insertsNothing(saved, value));
	if (!foundNothing || !hasExpression(saved)) return;
	throw createRefusal(
		`The expression in ${quoteField(field.name)} is empty for this item`,
		missingDataAdvice,
	);
}

function requireValue(raw: unknown, field: Field, value: unknown, context: ReadContext): void {
	if (!field.required) return;
	const message = `${quoteField(field.name)} is required`;
	if (context.mode === 'json' && raw == null)
		throw createRefusal(
			message,
			'The input object does not have this key, or its value is null. Add it.',
		);
	// Only the operation knows whether an empty value means something here.
	if (field.mayBeEmpty) return;
	// A field of several lines may hold a mere line break.
	const text = typeof value === 'string' && !field.typeOptions?.rows ? value.trim() : value;
	const isEmpty =
		text === '' || (field.format === 'list' && Array.isArray(value) && value.length === 0);
	if (isEmpty) throw createRefusal(message, `It is empty. ${missingDataAdvice}`);
}
