import type { IExecuteFunctions, IGetNodeParameterOptions as ReadOptions } from 'n8n-workflow';

import { getOrAdd } from '../core/maps';
import { isTool } from '../core/modelAnswer';
import { type Field, getCollectionName } from './field';
import { isRecord, hasExpression, TypedText } from './values';

export type RawValues = Readonly<Record<string, unknown>>;

/** A parameter as it is saved in the workflow: expressions are not resolved. */
interface SavedParameter {
	/** Whether the value is the same for every item. */
	readonly isConstant: boolean;
	readonly value: unknown;
}

/** The part of n8n's context that gives parameters. */
export interface ParameterContext extends Pick<IExecuteFunctions, 'getNode' | 'getInputData'> {
	getNodeParameter(
		name: string,
		itemIndex: number,
		fallback: unknown,
		options?: ReadOptions,
	): unknown;
}

/**
 * Reads the node's parameters as n8n's `getNodeParameter` returns them, before they are checked.
 * n8n resolves each parameter for each item in a sandbox: 4,000 readings of `{{ $json.a }}` keep
 * n8n 2.41 busy for 330 to 440 ms, and take 4 to 11 ms here. This class asks n8n only once for a
 * parameter that does not depend on the item. Expressions that only insert fields of the item are
 * resolved here.
 */
export class RawParameters {
	readonly #n8nContext: ParameterContext;
	readonly #savedParameters = new Map<string, SavedParameter>();
	/** The raw values by list of fields, for lists in which no value depends on the item. */
	readonly #constantValues = new Map<readonly Field[], RawValues>();
	/** A tool's expressions see other items than its input. */
	readonly #isTool: boolean;

	constructor(n8nContext: ParameterContext) {
		this.#n8nContext = n8nContext;
		this.#isTool = isTool(n8nContext.getNode());
	}

	/**
	 * Reads a parameter.
	 * @param fallback the result if the parameter is hidden and so has no value
	 */
	read(name: string, itemIndex: number, fallback: unknown): unknown {
		const { isConstant, value } = getOrAdd(this.#savedParameters, name, () =>
			this.#readSavedParameter(name, fallback),
		);
		if (isConstant) return value;
		const context = this.#n8nContext;
		const json = context.getInputData()[itemIndex]?.json;
		const resolved = this.#isTool ? undefined : resolveFields(value, json);
		return resolved ?? context.getNodeParameter(name, itemIndex, fallback);
	}

	/**
	 * Reads the raw values of visible fields and options. Returns the same object for every item if
	 * no value depends on the item.
	 */
	readFields(fields: readonly Field[], options: readonly Field[], itemIndex: number): RawValues {
		const constantValues = this.#constantValues.get(fields);
		if (constantValues) return constantValues;
		const rawValues: Record<string, unknown> = {};
		const collections = new Map<string, unknown>();
		for (const option of options) {
			const { name } = option;
			const collectionName = getCollectionName(option);
			const readCollection = () => this.read(collectionName, itemIndex, {});
			const collection = getOrAdd(collections, collectionName, readCollection);
			const values = findValues(collection, option);
			if (values && Object.hasOwn(values, name)) rawValues[name] = values[name];
		}
		for (const { name, format } of fields) {
			const value = this.read(name, itemIndex, null);
			rawValues[name] = format === 'columns' ? this.#markTypedValues(name, value) : value;
		}
		const names = [...collections.keys(), ...fields.map(({ name }) => name)];
		if (names.every((name) => this.#savedParameters.get(name)?.isConstant))
			this.#constantValues.set(fields, rawValues);
		return rawValues;
	}

	/**
	 * Marks values that a person typed into a column mapper, or that a model filled in. They are
	 * text, whatever type the column has.
	 */
	#markTypedValues(name: string, mapper: unknown): unknown {
		const values = getField(mapper, ['value']);
		const savedValues = getField(this.getSaved(name), ['value']);
		if (!isPlainObject(values) || !isPlainObject(savedValues)) return mapper;
		const pairs: Array<[string, unknown]> = [];
		for (const [column, text] of Object.entries(values)) {
			const savedText = savedValues[column];
			const isTyped = !hasExpression(savedText) || isFromModel(savedText);
			if (!isTyped || typeof text !== 'string') pairs.push([column, text]);
			// As in n8n's form, an empty column has no value.
			else pairs.push([column, text === '' ? undefined : new TypedText(text)]);
		}
		return { ...(mapper as object), value: Object.fromEntries(pairs) };
	}

	/** As in `ReadContext`. A model may leave a field empty, so its fields do not count. */
	findSavedValue(field: Field): unknown {
		const { name } = field;
		const saved =
			this.getSaved(name) ??
			findValues(this.getSaved(getCollectionName(field)), field)?.[name];
		return saved === undefined || isFromModel(saved) ? undefined : saved;
	}

	/** Returns a parameter as it is saved in the workflow: an expression is not resolved. */
	getSaved(name: string, fallback: unknown = null): unknown {
		return this.#n8nContext.getNodeParameter(name, 0, fallback, { rawExpressions: true });
	}

	#readSavedParameter(name: string, fallback: unknown): SavedParameter {
		const value = this.getSaved(name, fallback);
		return { isConstant: !hasExpression(value), value };
	}
}

const isFromModel = (value: unknown) => /\$fromAI\b/i.test(JSON.stringify(value));

/**
 * Returns the object in a collection of the form that holds the value of an option: the collection
 * itself, or the values of its group.
 */
function findValues(
	collection: unknown,
	{ optionGroup }: Field,
): Record<string, unknown> | undefined {
	if (!isPlainObject(collection)) return undefined;
	if (!optionGroup) return collection;
	const entry = collection[optionGroup.name];
	const values = isPlainObject(entry) ? entry[optionGroup.key] : undefined;
	return isPlainObject(values) ? values : undefined;
}

const pathStepPattern = /\.([A-Za-z_$][\w$]*)|\["([^"\\]*)"\]|\['([^'\\]*)'\]/g;
const insertedFieldPattern = new RegExp(
	String.raw`\{\{\s*\$json((?:${pathStepPattern.source})*)\s*\}\}`,
	'g',
);
const singleFieldPattern = new RegExp(`^=${insertedFieldPattern.source}$`);

/**
 * Resolves the expressions of a saved value that insert fields of the item's JSON, such as `{{
 * $json.a["b c"] }}`. Returns undefined if n8n has to evaluate one: it does something else, or its
 * field is missing or no plain data.
 */
function resolveFields(saved: unknown, json: unknown): unknown {
	if (!hasExpression(saved)) return saved;
	if (typeof saved === 'string') return resolveText(saved, json);
	if (!isPlainObject(saved)) return undefined;
	const pairs: Array<[string, unknown]> = [];
	for (const [key, value] of Object.entries(saved)) {
		const resolved = resolveFields(value, json);
		if (resolved === undefined) return undefined;
		pairs.push([key, resolved]);
	}
	return Object.fromEntries(pairs);
}

function resolveText(expression: string, json: unknown): unknown {
	const steps = singleFieldPattern.exec(expression)?.[1];
	if (steps === undefined) return insertFields(expression.slice(1), json);
	const value = getField(json, parseSteps(steps));
	return isRecord(value) && !isPlainObject(value) ? undefined : value;
}

function insertFields(text: string, json: unknown): string | undefined {
	// Other braces and backslashes have a meaning for n8n.
	if (/[{}\\]/.test(text.replace(insertedFieldPattern, ''))) return undefined;
	const fields = [...text.matchAll(insertedFieldPattern)];
	const values = fields.map(([, steps = '']) => getField(json, parseSteps(steps)));
	const isPlain = (value: unknown) =>
		['string', 'number', 'boolean'].includes(typeof value) && !Number.isNaN(value);
	if (!values.every(isPlain)) return undefined;
	return text.replace(insertedFieldPattern, () => String(values.shift()));
}

function parseSteps(steps: string): string[] {
	const matches = [...steps.matchAll(pathStepPattern)];
	return matches.map(
		([, name, doubleQuoted, singleQuoted = '']) => name ?? doubleQuoted ?? singleQuoted,
	);
}

function getField(json: unknown, path: readonly string[]): unknown {
	let value = json;
	for (const key of path) {
		if (!isPlainObject(value) || !Object.hasOwn(value, key)) return undefined;
		value = value[key];
	}
	return value;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
	if (!isRecord(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}
