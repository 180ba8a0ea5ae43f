import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { escapeForEditor } from '../../core/text';
import { isTool, type NodeError, createRefusal } from '../../core/errors';
import { storeBinary } from '../../core/binaryStorage';
import type { Sanitizer } from '../../core/sanitizer';
import { FieldNaming, type ReadContext } from '../../fields/field';
import {
	type NodeParameters,
	type AnyParameters,
	readParameters,
	type RequestLimits,
	requestOptions,
} from '../../fields/params';
import { getAllFields, type Field, type Item, type CreatedFile } from '../operation';
import { findBinaryFields, getBinarySource, getFileSource } from '../byteSource';
import { type ChosenOperation, findOperation, readInputObject, type UncheckedJob } from './inputObject';

/** State shared by all items of a run. */
export class RunState {
	readonly #answers = new Map<string, Promise<unknown>>();
	readonly hints = new Set<string>();
	readonly sanitizer: Sanitizer;

	constructor(sanitizer: Sanitizer) {
		this.sanitizer = sanitizer;
	}

	once<T>(key: string, ask: () => Promise<T>): Promise<T> {
		// All answers under one key have the same type, which the type of the map cannot express.
		const answer = (this.#answers.get(key) as Promise<T> | undefined) ?? ask();
		this.#answers.set(key, answer);
		// If a request failed, the next item may make it again.
		answer.catch(() => this.#answers.delete(key));
		return answer;
	}

	showHints(context: IExecuteFunctions): void {
		const hints = [...this.hints].map((hint) => ({
			message: escapeForEditor(this.sanitizer.sanitizeText(hint)),
			location: 'outputPane' as const,
		}));
		context.addExecutionHints(...hints);
	}
}

/** An item as the runner sees it, beyond what operations know about it. */
export interface RunnerItem extends Item {
	readonly run?: RunState;
	readonly executionId?: string;
	/** Whether something was already created for this item. */
	readonly hasCreated: boolean;
	/** What is shown below the node, which a model does not see. */
	readonly hints?: readonly string[];
	/** A text for the user, with the names of fields put in. */
	insertNames(text: string): string;
	/** The failure as the user reads it, with everything that was already created for the item. */
	explainFailure(failure: NodeError): NodeError;
}

/** An input item as operations see it. */
export class InputItem implements RunnerItem {
	readonly token = randomUUID();
	readonly index: number;
	readonly run: RunState;
	readonly signal: AbortSignal | undefined;
	readonly #context: IExecuteFunctions;
	readonly #basis: ItemBasis;
	readonly #createdFiles: CreatedFile[] = [];

	constructor(context: IExecuteFunctions, index: number, run: RunState, basis: ItemBasis) {
		this.#context = context;
		this.index = index;
		this.run = run;
		this.#basis = basis;
		this.signal = context.getExecutionCancelSignal();
	}

	get json() {
		return this.#context.getInputData()[this.index]?.json ?? {};
	}

	get continueOnFail() {
		return this.#context.continueOnFail();
	}

	get executionId() {
		return this.#context.getExecutionId();
	}

	get isTool() {
		return isTool(this.#context.getNode());
	}

	findBinaryFields(names: readonly string[], parameter: string) {
		return findBinaryFields(this.#context, this.index, names, parameter);
	}

	getBinary(field: string) {
		return getBinarySource(this.#context, this.index, field, this.#basis.limits.timeoutSeconds);
	}

	getFile(path: string) {
		return getFileSource(this.#context, path, this.#basis.limits.timeoutSeconds);
	}

	store(bytes: Buffer, fileName?: string, mimeType?: string) {
		return storeBinary(this.#context.helpers, bytes, fileName, mimeType);
	}

	once<T>(key: string, ask: () => Promise<T>) {
		return this.run.once(key, ask);
	}

	recordCreated(what: CreatedFile) {
		if (!this.#createdFiles.some(({ id }) => id === what.id)) this.#createdFiles.push(what);
	}

	get hasCreated() {
		return this.#createdFiles.length > 0;
	}

	insertNames(text: string) {
		return this.#basis.naming.insertNames(text);
	}

	addHint(text: string) {
		this.run.hints.add(this.insertNames(text));
	}

	get hints() {
		return [...this.run.hints].map((hint) => this.run.sanitizer.sanitizeText(hint));
	}

	log(text: string) {
		this.#context.logger.info(this.run.sanitizer.sanitizeText(text));
	}

	explainFailure(thrown: NodeError) {
		const failure = this.#basis.naming.insertNamesIntoError(thrown);
		if (!this.hasCreated) return failure;
		const known = [failure.message, failure.description].join(' ');
		const things = this.#createdFiles.filter(({ id, url }) => !known.includes(url ?? id));
		const named = things.map(
			({ kind, id, url }) => `The ${kind} ${id}${url ? ` (${url})` : ''} was already created.`,
		);
		const { description } = failure;
		return failure.with({
			description: [description, ...named].filter(Boolean).join(' '),
			// An error item has no description.
			details: { ...failure.details, made: this.#createdFiles.map((thing) => ({ ...thing })) },
		});
	}
}

/** A choice that n8n adds to every node with such a credential, and that only its HTTP Request node can carry out. */
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
	/** Limit for an answer to a model, in characters; undefined or 0 if the job returns what a workflow gets. */
	readonly modelCharacters?: number;
}

/** The part of a job that follows from its parameters. */
interface CheckedJob extends UncheckedJob, Omit<Job, 'index' | 'item'> {
	readonly mode: 'fields' | 'json';
	readonly naming: FieldNaming;
}

/** What an item needs of its checked parameters. */
type ItemBasis = Pick<CheckedJob, 'naming' | 'limits'>;

/**
 * Reads and checks the parameters of item after item; nothing is sent. Where no parameter depends on the item, they are checked once.
 * @returns the job of an item, by its index; throws NodeError 400
 */
export function createJobReader(context: IExecuteFunctions, parameters: NodeParameters, run: RunState) {
	const isExpression = (name: string) => parameters.isOwnExpression(name);
	const isOptionOfUser = (name: string) => parameters.isOptionOfUser(name);
	let last: CheckedJob | undefined;
	return (index: number): Job => {
		const mode = parameters.readParameter('inputMode', index, 'fields') === 'json' ? 'json' : 'fields';
		const chosen = mode === 'json' ? readJson(parameters, index) : readForm(parameters, index);
		const isSame = last?.mode === mode && last.operation === chosen.operation && last.given === chosen.given;
		if (!last || !isSame)
			last = checkJob(chosen, { mode, timezone: context.getTimezone(), isExpression, isOptionOfUser });
		const { operation, naming, params } = last;
		const item = new InputItem(context, index, run, last);
		naming.runWithNames(() => operation.check?.(params, item));
		return { ...last, index, item, modelCharacters: item.isTool ? last.modelCharacters : 0 };
	};
}

function checkJob(chosen: UncheckedJob, reading: ReadContext): CheckedJob {
	const { operation, given } = chosen;
	const { mode } = reading;
	const fields = getAllFields(operation);
	const params = readParameters(fields, given, reading);
	const naming = new FieldNaming(fields, mode);
	const combineKey = naming.runWithNames(() => operation.combine?.key(params));
	const serialKey = operation.getChangedId?.(params);
	const limits = readParameters(requestOptions, given, reading);
	const modelCharacters = limitModelAnswer(fields, params, reading);
	return { ...chosen, mode, naming, params, limits, combineKey, serialKey, modelCharacters };
}

/** Reads the limit for an answer to a model: 0, so none, if the user chose an unusual output. In JSON mode, both defaults are usual. */
function limitModelAnswer(fields: readonly Field[], params: AnyParameters, { mode }: ReadContext): number {
	const output = fields.find(({ name }) => name === 'output');
	const usual = [output?.default, mode === 'json' ? output?.jsonDefault : undefined];
	const isUsual = output === undefined || usual.includes(params['output']);
	return isUsual ? Number(params['maxModelCharacters'] ?? 0) : 0;
}

function readJson(parameters: NodeParameters, index: number): UncheckedJob {
	const input = parameters.readParameter('inputObject', index, {});
	const allowed = parameters.readParameter('allowedOperations', index, []);
	const allowFilePaths = parameters.readParameter('allowFilePaths', index, false) === true;
	const chosen = readInputObject(input, allowed, allowFilePaths);
	// Takes fields that are set once for all items from the node itself, never from the input object.
	const fixed = chosen.operation.fields.filter(({ noDataExpression }) => noDataExpression);
	const values = fixed.map(({ name }) => [name, parameters.readParameter(name, index, null)] as const);
	return { ...chosen, given: { ...chosen.given, ...Object.fromEntries(values) } };
}
