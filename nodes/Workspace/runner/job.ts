import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { forEditor, isTool, type NodeError, refusal, storeBinary } from '../../core/errors';
import type { Sanitizer } from '../../core/sanitizer';
import { Naming } from '../../fields/field';
import { limitsOf, NodeParameters, type Params, paramsOf, type RequestLimits } from '../../fields/params';
import { isRecord, kindOf, parsedJson } from '../../fields/values';
import {
	fieldsOf,
	type Item,
	type Made,
	type Operation,
	type OutputBinary,
	type ResourceName,
} from '../operation';
import { checkAllowed, resources } from '../resources';
import { binaryOf, binarySource, fileSource } from '../source';

/** State shared by all items of a run. */
export class RunNotes {
	private readonly answers = new Map<string, Promise<unknown>>();
	readonly hints = new Set<string>();
	readonly sanitizer: Sanitizer;

	constructor(sanitizer: Sanitizer) {
		this.sanitizer = sanitizer;
	}

	once<T>(key: string, ask: () => Promise<T>): Promise<T> {
		// A key stands for one question, whose answers have one type; the map cannot say so.
		const answer = (this.answers.get(key) as Promise<T> | undefined) ?? ask();
		this.answers.set(key, answer);
		// If a request failed, the next item may make it again.
		answer.catch(() => this.answers.delete(key));
		return answer;
	}

	show(context: IExecuteFunctions): void {
		const hints = [...this.hints].map((hint) => ({
			message: forEditor(this.sanitizer.text(hint)),
			location: 'outputPane' as const,
		}));
		context.addExecutionHints(...hints);
	}
}

/** An item as the runner sees it, beyond what operations know about it. */
export interface JobItem extends Item {
	/** Whether something was already created for this item. */
	readonly hasMade: boolean;
	/** A text for the user, with the names of fields put in. */
	text(text: string): string;
	/** The failure as the user reads it, with everything that was already created for the item. */
	told(failure: NodeError): NodeError;
}

/** An input item as operations see it. */
export class RunItem implements JobItem {
	readonly token = randomUUID();
	readonly index: number;
	readonly signal: AbortSignal | undefined;
	private readonly context: IExecuteFunctions;
	private readonly notes: RunNotes;
	private readonly naming: Naming;
	private readonly things: Made[] = [];
	private readonly readMilliseconds: number;

	constructor(
		context: IExecuteFunctions,
		index: number,
		{ notes, naming, limits }: { notes: RunNotes; naming: Naming; limits: RequestLimits },
	) {
		this.context = context;
		this.index = index;
		this.notes = notes;
		this.naming = naming;
		this.readMilliseconds = limits.timeoutSeconds * 1000;
		this.signal = context.getExecutionCancelSignal();
	}

	get json() {
		return this.context.getInputData()[this.index]?.json ?? {};
	}

	get othersGoOn() {
		return this.context.continueOnFail();
	}

	get isTool() {
		return isTool(this.context.getNode());
	}

	requireBinary(field: string) {
		binaryOf(this.context, this.index, field);
	}

	binary(field: string) {
		return binarySource(this.context, this.index, field, this.readMilliseconds);
	}

	file(path: string) {
		return fileSource(this.context, path, this.readMilliseconds);
	}

	store({ data, fileName, mimeType }: OutputBinary) {
		return storeBinary(this.context.helpers, data, fileName, mimeType);
	}

	once<T>(key: string, ask: () => Promise<T>) {
		return this.notes.once(key, ask);
	}

	made(what: Made) {
		if (!this.things.some(({ id }) => id === what.id)) this.things.push(what);
	}

	get hasMade() {
		return this.things.length > 0;
	}

	text(text: string) {
		return this.naming.text(text);
	}

	hint(text: string) {
		this.notes.hints.add(this.text(text));
	}

	log(text: string) {
		this.context.logger.info(this.notes.sanitizer.text(text));
	}

	told(thrown: NodeError) {
		const failure = this.naming.failure(thrown);
		if (!this.hasMade) return failure;
		const known = [failure.message, failure.description].join(' ');
		const things = this.things.filter(({ id, url }) => !known.includes(url ?? id));
		const named = things.map(
			({ kind, id, url }) => `The ${kind} ${id}${url ? ` (${url})` : ''} was already created.`,
		);
		const { description } = failure;
		return failure.with({
			description: [description, ...named].filter(Boolean).join(' '),
			// An error item has no description.
			details: { ...failure.details, made: this.things.map((thing) => ({ ...thing })) },
		});
	}
}

/** The operation that an item asks for. */
interface Found {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

interface Chosen extends Found {
	/** The given values of the operation's fields and options, unchecked. */
	readonly given: Readonly<Record<string, unknown>>;
}

/** What the owner of the node allows an input object to do. */
interface Allowed {
	readonly allowFilePaths: boolean;
	/** The value of Allowed Operations. */
	readonly allowedOperations: unknown;
}

/** The operation and parameters of an input object or its JSON text. @throws NodeError 400 that names the key and what is allowed */
export function readInputObject(input: unknown, { allowFilePaths, allowedOperations }: Allowed): Chosen {
	const { resource, operation, ...given } = objectOf(input);
	const chosen = { ...operationOf(resource, operation, given), given };
	checkAllowed(allowedOperations, chosen.resource, chosen.operation);
	refuseUnknownKeys(chosen);
	if (given['contentSource'] === 'filePath' && !allowFilePaths) {
		throw refusal(
			"'contentSource' must not be filePath here",
			"Turn on 'Allow File Paths' in the node, or provide the content as base64 or in a binary field.",
		);
	}
	return chosen;
}

function objectOf(input: unknown): Record<string, unknown> {
	const value = typeof input === 'string' ? parsedJson(input, 'The input object', jsonAdvice) : input;
	if (isRecord(value)) return value;
	throw refusal(
		`The input object must be an object, not ${kindOf(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const jsonAdvice =
	'Strings and keys must be in double quotes, with no comma after the last one. To use data of the item, enter an expression that returns an object.';

const every: readonly Found[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({ resource, operation })),
);

/** @param given its keys tell the resource where it is not named @throws NodeError 400 that names what there is */
function operationOf(resource: unknown, operation: unknown, given: Chosen['given'] = {}): Found {
	const own = every.filter((one) => one.resource === resource);
	const choices = own.length > 0 ? own : every;
	const names = [...new Set(choices.map((one) => one.operation.value))].join(', ');
	if (operation === undefined || operation === '') {
		throw refusal("'operation' is required", `Choose one of: ${names}.`);
	}
	const all = choices.filter((one) => one.operation.value === operation);
	const [first, ...others] = all;
	if (!first) {
		throw refusal(`'operation' must be one of: ${names}${own[0] ? `, for '${own[0].resource}'` : ''}`);
	}
	const isOnly = others.length === 0;
	if ((resource ?? '') === '') return isOnly ? first : byIdKey(first.operation.value, all, given);
	if (own.length > 0) return first;
	const allowed = all.map((one) => one.resource).join(', ');
	throw refusal(`'resource' must be one of: ${allowed}, for '${first.operation.value}'`);
}

function byIdKey(name: string, all: readonly Found[], given: Chosen['given']): Found {
	const [only, ...more] = all.filter(({ operation }) =>
		idKeys(operation).some((key) => Object.hasOwn(given, key)),
	);
	if (only && more.length === 0) return only;
	const names = all.map(({ resource }) => resource).join(', ');
	const keys = all.flatMap(({ operation }) => idKeys(operation)).join(', ');
	const shorter = keys && ` You can leave it out if you set one of these keys: ${keys}.`;
	throw refusal(`'resource' is required for '${name}'`, `Choose one of: ${names}.${shorter}`);
}

function idKeys({ fields }: Operation): string[] {
	return fields.flatMap(({ name, required, format }) =>
		required && (format === 'id' || format === 'fileId') ? [name] : [],
	);
}

function refuseUnknownKeys({ given, operation, resource }: Chosen): void {
	const known = fieldsOf(operation).flatMap(({ name, onlyIn }) => (onlyIn === 'fields' ? [] : [name]));
	const unknown = Object.keys(given).filter((key) => !known.includes(key));
	if (unknown.length === 0) return;
	throw refusal(
		`Unknown key ${unknown.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${known.join(', ')}.`,
	);
}

/** n8n adds this choice to every node with such a credential; it is for its HTTP Request node. */
const customApiCall = '__CUSTOM_API_CALL__';

/** The operation that the form's dropdowns name, and what was given for its fields. @throws NodeError 400 */
function readForm(parameters: NodeParameters, itemIndex: number): Chosen {
	const resourceName = parameters.read('resource', itemIndex, '');
	const operationName = parameters.read('operation', itemIndex, '');
	if (resourceName === customApiCall || operationName === customApiCall) {
		throw refusal(
			"This node has no 'Custom API Call'",
			"Choose one of its operations, or use n8n's HTTP Request node with its own Google credential.",
		);
	}
	const chosen = operationOf(resourceName, operationName);
	return { ...chosen, given: parameters.given(chosen.operation.fields, itemIndex) };
}

/** The work for one input item. */
export interface Job extends Found {
	readonly index: number;
	readonly params: Params;
	readonly limits: RequestLimits;
	readonly item: JobItem;
	/** Jobs of the same operation with the same key are processed together. */
	readonly combineKey: string | undefined;
	/** What the job changes: jobs that change the same thing run one after another. Undefined if the job must run alone. */
	readonly serialKey: string | undefined;
}

/** The part of a job that items with the same values share. */
interface Checked extends Chosen, Omit<Job, 'index' | 'item'> {
	readonly mode: 'fields' | 'json';
	readonly naming: Naming;
}

/**
 * Reads and checks the parameters of item after item; nothing is sent. An item with the same values as the previous one is not
 * checked again.
 * @returns the job of an item, by its index; throws NodeError 400
 */
export function jobReader(context: IExecuteFunctions, notes: RunNotes): (index: number) => Job {
	const parameters = new NodeParameters(context);
	let last: Checked | undefined;
	return (index) => {
		const mode = parameters.read('inputMode', index, 'fields') === 'json' ? 'json' : 'fields';
		const chosen = mode === 'json' ? readJson(parameters, index) : readForm(parameters, index);
		if (last?.mode !== mode || !isSame(last, chosen)) last = checked(mode, chosen, context.getTimezone());
		const { resource, operation, naming, params, limits, combineKey, serialKey } = last;
		const item = new RunItem(context, index, { notes, naming, limits });
		naming.during(() => operation.check?.(params, item));
		return { index, resource, operation, params, limits, item, combineKey, serialKey };
	};
}

function checked(mode: Checked['mode'], chosen: Chosen, timezone: string): Checked {
	const { operation, given } = chosen;
	const fields = fieldsOf(operation);
	const params = paramsOf(fields, given, { mode, timezone });
	const naming = new Naming(fields, mode);
	const combineKey = naming.during(() => operation.combine?.key(params));
	const serialKey = operation.changes?.(params);
	return { ...chosen, mode, naming, params, limits: limitsOf(params), combineKey, serialKey };
}

function readJson(parameters: NodeParameters, index: number): Chosen {
	return readInputObject(parameters.read('inputObject', index, {}), {
		allowFilePaths: parameters.read('allowFilePaths', index, false) === true,
		allowedOperations: parameters.read('allowedOperations', index, []),
	});
}

/** Compares values by identity only, because the order of an object's keys counts and an object may be too deep to compare. */
function isSame(a: Chosen, b: Chosen): boolean {
	if (a.operation !== b.operation) return false;
	if (a.given === b.given) return true;
	const names = Object.keys(a.given);
	return (
		names.length === Object.keys(b.given).length &&
		names.every((name) => Object.hasOwn(b.given, name) && a.given[name] === b.given[name])
	);
}
