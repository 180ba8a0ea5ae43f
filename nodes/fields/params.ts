import type { IExecuteFunctions } from 'n8n-workflow';

import { isTool, refusal } from '../core/errors';
import type { Field, ParamsOf, Reading } from './field';
import { isRecord, labelOf, valueOf } from './values';

export type Params = ParamsOf<readonly Field[], readonly Field[]>;

/**
 * Reads the values of fields from the given input. Every node and both input modes use this.
 * @param given by field name; undefined and null for fields without a value
 * @throws NodeError 400 that names the field and what is allowed
 */
export function paramsOf<const F extends readonly Field[]>(
	fields: F,
	given: Readonly<Record<string, unknown>>,
	reading: Reading,
): ParamsOf<F, []> {
	const isForm = reading.mode === 'fields';
	// Defaults are written in the form's shape.
	const form: Reading = { ...reading, mode: 'fields' };
	const values = new Map<string, unknown>();
	const byName = new Map(fields.map((field) => [field.name, field]));
	const isOneOf = (name: string, allowed: ReadonlyArray<string | boolean>) => {
		const field = byName.get(name);
		return field !== undefined && allowed.some((choice) => choice === valueFor(field));
	};
	const valueFor = (field: Field): unknown => {
		if (!values.has(field.name)) values.set(field.name, read(field, given[field.name]));
		return values.get(field.name);
	};
	const read = (field: Field, raw: unknown): unknown => {
		const { showWhen = {}, requiredUnless, defaultWhen } = field;
		const isShown = Object.entries(showWhen).every(([name, allowed]) => isOneOf(name, allowed));
		const isOther = defaultWhen !== undefined && isOneOf(defaultWhen.field, [defaultWhen.is]);
		const formDefault = isOther ? defaultWhen.default : field.default;
		// Values left over from an earlier choice do not count, as in n8n's own form.
		if (!isShown && isForm) return valueOf(field, formDefault, form);
		// A form field that was emptied counts as not given where no text is wanted.
		const isBlank = raw === '' && isForm && ['number', 'boolean', 'options'].includes(field.type);
		const ownDefault = isForm ? formDefault : (field.jsonDefault ?? field.default);
		const value = isMissing(raw) || isBlank ? valueOf(field, ownDefault, form) : valueOf(field, raw, reading);
		const isNeeded = requiredUnless === undefined || isMissing(given[requiredUnless]);
		if (isShown && isNeeded) requireGiven(field, raw, value, reading);
		return value;
	};
	fields.forEach(valueFor);
	// Each value was read as its field's type says.
	return Object.fromEntries(values) as ParamsOf<F, []>;
}

const isMissing = (raw: unknown) => raw === undefined || raw === null;

function requireGiven(field: Field, raw: unknown, value: unknown, reading: Reading): void {
	if (!field.required) return;
	const label = labelOf(field, reading);
	if (reading.mode === 'json' && isMissing(raw)) {
		throw refusal(`'${label}' is required`, 'The input object does not have this key, or it is null.');
	}
	// Only the operation knows whether an empty value means something here.
	if (field.mayBeEmpty) return;
	// A text of several lines may be a mere line break.
	const text = typeof value === 'string' && !field.typeOptions?.rows ? value.trim() : value;
	const isNothing = text === '' || (field.format === 'list' && Array.isArray(value) && value.length === 0);
	if (!isNothing) return;
	throw refusal(
		`'${label}' is required`,
		'It is empty. If it is an expression, check that the input item contains the data.',
	);
}

/** The options that every operation has; they govern its requests. */
export const requestOptions = [
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		default: 120,
		minimum: 0,
		maximum: 3600,
		description:
			'Max total time to wait between tries of a request. If the service asks for a longer wait, the item fails at once.',
	},
	{
		displayName: 'Max Tries',
		name: 'maxTries',
		type: 'number',
		default: 5,
		minimum: 1,
		maximum: 20,
		description:
			'How often to try a request if the service is rate-limiting requests or cannot be reached. A request that may have been carried out is sent again only if repeating it changes nothing.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		default: 300,
		minimum: 1,
		maximum: 3600,
		description: 'Max time for a single request',
	},
] as const satisfies readonly Field[];

export type RequestLimits = ParamsOf<typeof requestOptions, []>;

/** @param values checked values of all fields */
export function limitsOf(values: Readonly<Record<string, unknown>>): RequestLimits {
	const { maxTries, maxRetryWaitSeconds, timeoutSeconds } = values;
	return {
		maxTries: Number(maxTries),
		maxRetryWaitSeconds: Number(maxRetryWaitSeconds),
		timeoutSeconds: Number(timeoutSeconds),
	};
}

/** Where a parameter's value comes from. */
interface Source {
	/** Whether the value is the same for every item. */
	readonly isConstant: boolean;
	readonly value?: unknown;
	/** The keys that lead to a field of the item's JSON; absent for an expression that n8n evaluates. */
	readonly path?: readonly string[];
}

/**
 * The node's parameters, item after item, as n8n's `getNodeParameter` gives them. n8n resolves each of them for each item, and hands
 * what an expression reads to a sandbox and back: 4,000 readings of `{{ $json.a }}` keep n8n 2.41 busy for 330 to 440 ms, and take 4 to
 * 11 ms here. This class asks n8n once for what does not depend on the item, and takes a mere field of the item from the item.
 */
export class NodeParameters {
	private readonly context: IExecuteFunctions;
	private readonly sources = new Map<string, Source>();
	private readonly raws = new Map<string, unknown>();
	/** Given values by list of fields, if none of them depends on the item. */
	private readonly constants = new Map<readonly Field[], Readonly<Record<string, unknown>>>();
	/** A tool's expressions see other items than its input. */
	private readonly isTool: boolean;

	constructor(context: IExecuteFunctions) {
		this.context = context;
		this.isTool = isTool(context.getNode());
	}

	/** @param fallback for a parameter that is not there, because it is hidden */
	read(name: string, itemIndex: number, fallback: unknown): unknown {
		const source = this.sources.get(name) ?? this.sourceOf(name, fallback);
		this.sources.set(name, source);
		if (source.isConstant) return source.value;
		const value = source.path && this.field(source.path, itemIndex);
		return value ?? this.context.getNodeParameter(name, itemIndex, fallback);
	}

	/** What was given for visible fields and options. The same object for every item if none depends on the item. */
	given(fields: readonly Field[], itemIndex: number): Readonly<Record<string, unknown>> {
		const known = this.constants.get(fields);
		if (known) return known;
		const options = this.read('options', itemIndex, {});
		const values = fields.map(({ name }) => [name, this.read(name, itemIndex, null)] as const);
		const given = { ...(isPlain(options) ? options : {}), ...Object.fromEntries(values) };
		const names = ['options', ...fields.map(({ name }) => name)];
		if (names.every((name) => this.sources.get(name)?.isConstant)) this.constants.set(fields, given);
		return given;
	}

	/** Whether a parameter, or an option of a collection, is given by an expression: then it may differ from item to item. */
	isExpression(name: string, option?: string): boolean {
		return hasExpression(this.raw(name, option));
	}

	/** Whether n8n evaluates an option at every reading, which creates its value again. A mere field of the item is only read. */
	isComputed(name: string, option: string): boolean {
		const raw = this.raw(name, option);
		return hasExpression(raw) && !this.fieldOf(raw);
	}

	private raw(name: string, option?: string): unknown {
		if (!this.raws.has(name)) {
			this.raws.set(name, this.context.getNodeParameter(name, 0, null, { rawExpressions: true }));
		}
		const raw = this.raws.get(name);
		return option !== undefined && isPlain(raw) ? raw[option] : raw;
	}

	private sourceOf(name: string, fallback: unknown): Source {
		const raw = this.raw(name);
		if (hasExpression(raw)) return { isConstant: false, path: this.fieldOf(raw) };
		return { isConstant: true, value: this.context.getNodeParameter(name, 0, fallback) };
	}

	private fieldOf(raw: unknown): string[] | undefined {
		return typeof raw === 'string' && !this.isTool ? fieldPath(raw) : undefined;
	}

	/** The value of a field of the item. What is missing or no plain data gives undefined, which leaves it to n8n. */
	private field(path: readonly string[], itemIndex: number): unknown {
		let value: unknown = this.context.getInputData()[itemIndex]?.json;
		for (const key of path) {
			if (!isPlain(value) || !Object.hasOwn(value, key)) return undefined;
			value = value[key];
		}
		const isData = typeof value !== 'object' || Array.isArray(value) || isPlain(value);
		return isData ? value : undefined;
	}
}

function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	return typeof raw === 'object' && raw !== null && Object.values(raw).some(hasExpression);
}

const step = /\.([A-Za-z_$][\w$]*)|\["([^"\\]*)"\]|\['([^'\\]*)'\]/g;
const fieldOnly = new RegExp(String.raw`^=\{\{\s*\$json((?:${step.source})*)\s*\}\}$`);

/** The keys of `{{ $json.a["b c"] }}`; undefined for every other expression. */
function fieldPath(expression: string): string[] | undefined {
	const steps = fieldOnly.exec(expression)?.[1];
	if (steps === undefined) return undefined;
	return [...steps.matchAll(step)].map(([, name, double, single = '']) => name ?? double ?? single);
}

function isPlain(value: unknown): value is Record<string, unknown> {
	if (!isRecord(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}
