import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { escapeForEditor, isTool, type NodeError, createRefusal, storeBinary } from '../../core/errors';
import type { Sanitizer } from '../../core/sanitizer';
import { FieldNaming } from '../../fields/field';
import {
	readRequestLimits,
	NodeParameters,
	type AnyParameters,
	readParameters,
	type RequestLimits,
} from '../../fields/params';
import { isRecord, describeType, jsonAdvice, parseJson } from '../../fields/values';
import {
	getAllFields,
	type Item,
	type CreatedFile,
	type Operation,
	type OutputBinary,
	type ResourceName,
} from '../operation';
import { checkOperationAllowed, resources } from '../resources';
import { getBinaryData, getBinarySource, getFileSource } from '../byteSource';

/** State shared by all items of a run. */
export class RunState {
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

	showHints(context: IExecuteFunctions): void {
		const hints = [...this.hints].map((hint) => ({
			message: escapeForEditor(this.sanitizer.cleanText(hint)),
			location: 'outputPane' as const,
		}));
		context.addExecutionHints(...hints);
	}
}

/** An item as the runner sees it, beyond what operations know about it. */
export interface RunnerItem extends Item {
	/** Whether something was already created for this item. */
	readonly hasCreated: boolean;
	/** A text for the user, with the names of fields put in. */
	text(text: string): string;
	/** The failure as the user reads it, with everything that was already created for the item. */
	explainFailure(failure: NodeError): NodeError;
}

/** An input item as operations see it. */
export class InputItem implements RunnerItem {
	readonly token = randomUUID();
	readonly index: number;
	readonly signal: AbortSignal | undefined;
	private readonly context: IExecuteFunctions;
	private readonly notes: RunState;
	private readonly naming: FieldNaming;
	private readonly createdFiles: CreatedFile[] = [];
	private readonly readMilliseconds: number;

	constructor(
		context: IExecuteFunctions,
		index: number,
		{ notes, naming, limits }: { notes: RunState; naming: FieldNaming; limits: RequestLimits },
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

	get continueOnFail() {
		return this.context.continueOnFail();
	}

	get isTool() {
		return isTool(this.context.getNode());
	}

	requireBinary(field: string) {
		getBinaryData(this.context, this.index, field);
	}

	getBinary(field: string) {
		return getBinarySource(this.context, this.index, field, this.readMilliseconds);
	}

	getFile(path: string) {
		return getFileSource(this.context, path, this.readMilliseconds);
	}

	store({ data, fileName, mimeType }: OutputBinary) {
		return storeBinary(this.context.helpers, data, fileName, mimeType);
	}

	once<T>(key: string, ask: () => Promise<T>) {
		return this.notes.once(key, ask);
	}

	recordCreated(what: CreatedFile) {
		if (!this.createdFiles.some(({ id }) => id === what.id)) this.createdFiles.push(what);
	}

	get hasCreated() {
		return this.createdFiles.length > 0;
	}

	text(text: string) {
		return this.naming.insertNames(text);
	}

	addHint(text: string) {
		this.notes.hints.add(this.text(text));
	}

	log(text: string) {
		this.context.logger.info(this.notes.sanitizer.cleanText(text));
	}

	explainFailure(thrown: NodeError) {
		const failure = this.naming.insertNamesIntoError(thrown);
		if (!this.hasCreated) return failure;
		const known = [failure.message, failure.description].join(' ');
		const things = this.createdFiles.filter(({ id, url }) => !known.includes(url ?? id));
		const named = things.map(
			({ kind, id, url }) => `The ${kind} ${id}${url ? ` (${url})` : ''} was already created.`,
		);
		const { description } = failure;
		return failure.with({
			description: [description, ...named].filter(Boolean).join(' '),
			// An error item has no description.
			details: { ...failure.details, made: this.createdFiles.map((thing) => ({ ...thing })) },
		});
	}
}

/** The operation that an item asks for. */
interface ChosenOperation {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

interface UncheckedJob extends ChosenOperation {
	/** The given values of the operation's fields and options, unchecked. */
	readonly given: Readonly<Record<string, unknown>>;
}

/** What the owner of the node allows an input object to do. */
interface InputObjectRules {
	readonly allowFilePaths: boolean;
	/** The value of Allowed Operations. */
	readonly allowedOperations: unknown;
}

/** The operation and parameters of an input object or its JSON text. @throws NodeError 400 that names the key and what is allowed */
export function readInputObject(
	input: unknown,
	{ allowFilePaths, allowedOperations }: InputObjectRules,
): UncheckedJob {
	const { resource, operation, ...given } = parseInputObject(input);
	const chosen = { ...findOperation(resource, operation, given), given };
	checkOperationAllowed(allowedOperations, chosen.resource, chosen.operation);
	refuseUnknownKeys(chosen);
	if (given['contentSource'] === 'filePath' && !allowFilePaths) {
		throw createRefusal(
			"'contentSource' cannot be filePath: this node does not allow file paths",
			"Turn on 'Allow File Paths' in the node, or provide the content as base64 or in a binary field.",
		);
	}
	return chosen;
}

function parseInputObject(input: unknown): Record<string, unknown> {
	const value = typeof input === 'string' ? parseJson(input, 'The input object', jsonAdvice) : input;
	if (isRecord(value)) return value;
	throw createRefusal(
		`The input object must be an object, not ${describeType(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const allOperations: readonly ChosenOperation[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({ resource, operation })),
);

/** @param given its keys tell the resource where it is not named @throws NodeError 400 that names what there is */
function findOperation(
	resource: unknown,
	operation: unknown,
	given: UncheckedJob['given'] = {},
): ChosenOperation {
	const ofResource = allOperations.filter((one) => one.resource === resource);
	const choices = ofResource.length > 0 ? ofResource : allOperations;
	const names = [...new Set(choices.map((one) => one.operation.value))].join(', ');
	if (operation === undefined || operation === '') {
		throw createRefusal("'operation' is required", `Choose one of: ${names}.`);
	}
	const matches = choices.filter((one) => one.operation.value === operation);
	const [first, ...others] = matches;
	if (!first) {
		throw createRefusal(
			`'operation' must be one of: ${names}${ofResource[0] ? `, for '${ofResource[0].resource}'` : ''}`,
		);
	}
	const isOnly = others.length === 0;
	if ((resource ?? '') === '') return isOnly ? first : findByIdKey(first.operation.value, matches, given);
	if (ofResource.length > 0) return first;
	const allowed = matches.map((one) => one.resource).join(', ');
	throw createRefusal(`'resource' must be one of: ${allowed}, for '${first.operation.value}'`);
}

function findByIdKey(
	name: string,
	all: readonly ChosenOperation[],
	given: UncheckedJob['given'],
): ChosenOperation {
	const [only, ...more] = all.filter(({ operation }) =>
		getIdKeys(operation).some((key) => Object.hasOwn(given, key)),
	);
	if (only && more.length === 0) return only;
	const names = all.map(({ resource }) => resource).join(', ');
	const keys = all.flatMap(({ operation }) => getIdKeys(operation)).join(', ');
	const shortcut = keys && ` You can leave it out if you set one of these keys: ${keys}.`;
	throw createRefusal(`'resource' is required for '${name}'`, `Choose one of: ${names}.${shortcut}`);
}

function getIdKeys({ fields }: Operation): string[] {
	return fields.flatMap(({ name, required, format }) =>
		required && (format === 'id' || format === 'fileId') ? [name] : [],
	);
}

function refuseUnknownKeys({ given, operation, resource }: UncheckedJob): void {
	const known = getAllFields(operation).flatMap(({ name, onlyIn }) => (onlyIn === 'fields' ? [] : [name]));
	const unknown = Object.keys(given).filter((key) => !known.includes(key));
	if (unknown.length === 0) return;
	throw createRefusal(
		`Unknown key ${unknown.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${known.join(', ')}.`,
	);
}

/** n8n adds this choice to every node with such a credential; it is for its HTTP Request node. */
const customApiCall = '__CUSTOM_API_CALL__';

/** The operation that the form's dropdowns name, and what was given for its fields. @throws NodeError 400 */
function readForm(parameters: NodeParameters, itemIndex: number): UncheckedJob {
	const resourceName = parameters.readParameter('resource', itemIndex, '');
	const operationName = parameters.readParameter('operation', itemIndex, '');
	if (resourceName === customApiCall || operationName === customApiCall) {
		throw createRefusal(
			"This node does not support 'Custom API Call'",
			"Choose one of its operations, or use n8n's HTTP Request node with its own Google credential.",
		);
	}
	const chosen = findOperation(resourceName, operationName);
	return { ...chosen, given: parameters.readFields(chosen.operation.fields, itemIndex) };
}

/** The work for one input item. */
export interface Job extends ChosenOperation {
	readonly index: number;
	readonly params: AnyParameters;
	readonly limits: RequestLimits;
	readonly item: RunnerItem;
	/** Jobs of the same operation with the same key are processed together. */
	readonly combineKey: string | undefined;
	/** What the job changes: jobs that change the same thing run one after another. Undefined if the job must run alone. */
	readonly serialKey: string | undefined;
}

/** The part of a job that items with the same values share. */
interface CheckedJob extends UncheckedJob, Omit<Job, 'index' | 'item'> {
	readonly mode: 'fields' | 'json';
	readonly naming: FieldNaming;
}

/**
 * Reads and checks the parameters of item after item; nothing is sent. An item with the same values as the previous one is not
 * checked again.
 * @returns the job of an item, by its index; throws NodeError 400
 */
export function createJobReader(context: IExecuteFunctions, notes: RunState): (index: number) => Job {
	const parameters = new NodeParameters(context);
	let last: CheckedJob | undefined;
	return (index) => {
		const mode = parameters.readParameter('inputMode', index, 'fields') === 'json' ? 'json' : 'fields';
		const chosen = mode === 'json' ? readJson(parameters, index) : readForm(parameters, index);
		if (last?.mode !== mode || !hasSameInput(last, chosen))
			last = checkJob(mode, chosen, context.getTimezone());
		const { resource, operation, naming, params, limits, combineKey, serialKey } = last;
		const item = new InputItem(context, index, { notes, naming, limits });
		naming.runWithNames(() => operation.check?.(params, item));
		return { index, resource, operation, params, limits, item, combineKey, serialKey };
	};
}

function checkJob(mode: CheckedJob['mode'], chosen: UncheckedJob, timezone: string): CheckedJob {
	const { operation, given } = chosen;
	const fields = getAllFields(operation);
	const params = readParameters(fields, given, { mode, timezone });
	const naming = new FieldNaming(fields, mode);
	const combineKey = naming.runWithNames(() => operation.combine?.key(params));
	const serialKey = operation.getChangedId?.(params);
	return { ...chosen, mode, naming, params, limits: readRequestLimits(params), combineKey, serialKey };
}

function readJson(parameters: NodeParameters, index: number): UncheckedJob {
	return readInputObject(parameters.readParameter('inputObject', index, {}), {
		allowFilePaths: parameters.readParameter('allowFilePaths', index, false) === true,
		allowedOperations: parameters.readParameter('allowedOperations', index, []),
	});
}

/** Compares values by identity only, because the order of an object's keys counts and an object may be too deep to compare. */
function hasSameInput(a: UncheckedJob, b: UncheckedJob): boolean {
	if (a.operation !== b.operation) return false;
	if (a.given === b.given) return true;
	const names = Object.keys(a.given);
	return (
		names.length === Object.keys(b.given).length &&
		names.every((name) => Object.hasOwn(b.given, name) && a.given[name] === b.given[name])
	);
}
