import type { IExecuteFunctions } from 'n8n-workflow';

import type { Field } from './field';

import { isTool } from '../core/nodeErrors';

/** How a parameter's value follows from the item: not at all, a field of its JSON, or by an expression that n8n evaluates. */
type Source =
	| { readonly kind: 'constant'; readonly value: unknown }
	| { readonly kind: 'field'; readonly path: readonly string[] }
	| { readonly kind: 'expression' };

/**
 * The node's parameters, item after item, as n8n's `getNodeParameter` gives them. n8n resolves each of them for each item, and hands
 * what an expression reads to a sandbox and back: for a thousand items, or an item with a thousand rows, that takes longer than the
 * work itself: 4,000 readings of `{{ $json.a }}` keep n8n 2.41 busy for 330 to 440 ms, and take 4 to 11 ms here. What does not depend
 * on the item is therefore asked once, and what is nothing but a field of the item is taken from it.
 */
export class NodeParameters {
	private readonly context: IExecuteFunctions;
	private readonly sources = new Map<string, Source>();
	private readonly raws = new Map<string, unknown>();
	/** What was given for fields of which none depends on the item. */
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
		if (source.kind === 'constant') return source.value;
		const value = source.kind === 'field' ? this.field(source.path, itemIndex) : undefined;
		return value ?? this.context.getNodeParameter(name, itemIndex, fallback);
	}

	/**
	 * What was given for fields and for the options in the collection; a field that is hidden is not there. The same object for
	 * every item if none depends on the item.
	 */
	given(fields: readonly Field[], itemIndex: number): Readonly<Record<string, unknown>> {
		const known = this.constants.get(fields);
		if (known) return known;
		const options = this.read('options', itemIndex, {});
		const values = fields.map(({ name }) => [name, this.read(name, itemIndex, null)] as const);
		const given = { ...(isPlain(options) ? options : {}), ...Object.fromEntries(values) };
		const isConstant = ['options', ...fields.map(({ name }) => name)].every(
			(name) => this.sources.get(name)?.kind === 'constant',
		);
		if (isConstant) this.constants.set(fields, given);
		return given;
	}

	/** Whether a parameter, or an option of a collection, is given by an expression: then it may differ from item to item. */
	isExpression(name: string, option?: string): boolean {
		return hasExpression(option === undefined ? this.raw(name, null) : this.rawOption(name, option));
	}

	/** Whether a parameter, or an option of a collection, is created again at every reading: not when it is a field of the item. */
	isComputed(name: string, option?: string): boolean {
		const raw = option === undefined ? this.raw(name, null) : this.rawOption(name, option);
		return hasExpression(raw) && !this.fieldOf(raw);
	}

	private rawOption(collection: string, option: string): unknown {
		const raw = this.raw(collection, {});
		return isPlain(raw) ? raw[option] : raw;
	}

	private raw(name: string, fallback: unknown): unknown {
		if (!this.raws.has(name)) {
			this.raws.set(name, this.context.getNodeParameter(name, 0, fallback, { rawExpressions: true }));
		}
		return this.raws.get(name);
	}

	private sourceOf(name: string, fallback: unknown): Source {
		const raw = this.raw(name, fallback);
		if (!hasExpression(raw)) {
			return { kind: 'constant', value: this.context.getNodeParameter(name, 0, fallback) };
		}
		const path = this.fieldOf(raw);
		return path ? { kind: 'field', path } : { kind: 'expression' };
	}

	private fieldOf(raw: unknown): string[] | undefined {
		return typeof raw === 'string' && !this.isTool ? fieldPath(raw) : undefined;
	}

	/** Undefined leaves it to n8n: for what is not there, and for what is not plain data. */
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
	return [...steps.matchAll(step)].map(([, name, double, single]) => name ?? double ?? single ?? '');
}

function isPlain(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}
