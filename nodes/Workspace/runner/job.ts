import { randomUUID } from 'node:crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { createRefusal, type NodeError } from '../../core/errors';
import { storeBinary } from '../../core/binaryStorage';
import type { Sanitizer } from '../../core/sanitizer';
import { joinSentences } from '../../core/text';
import { type Field, FieldNaming, type ReadContext } from '../../fields/field';
import { commonOptions, requestOptions, type RequestLimits } from '../../fields/commonOptions';
import { readParameters, type AnyParameters } from '../../fields/params';
import type { RawParameters } from '../../fields/rawParameters';
import type { GoogleCredential } from '../google/googleCredential';
import {
	getAllFields,
	getNodeFields,
	readingPrefix,
	type Item,
	type CreatedFile,
} from '../operation';
import { findBinaryFields, getBinarySource, getFileSource } from '../byteSource';
import {
	type ResourceOperation,
	chooseOperation,
	readInputObject,
	type UncheckedInput,
} from './inputObject';

/** The state that all items of a run share. */
export class RunState {
	readonly #results = new Map<string, Promise<unknown>>();
	readonly hints = new Set<string>();
	readonly sanitizer: Sanitizer;
	/** Known once for all items, because n8n copies the whole node each time it is asked for it. */
	readonly isTool: boolean;
	/** What requests were sent with. Undefined if no item needed it. */
	credential: GoogleCredential | undefined;

	constructor(sanitizer: Sanitizer, isTool = false) {
		this.sanitizer = sanitizer;
		this.isTool = isTool;
	}

	doOnce<T>(key: string, work: () => Promise<T>): Promise<T> {
		// All results under one key have the same type, which the type of the map cannot express.
		const result = (this.#results.get(key) as Promise<T> | undefined) ?? work();
		this.#results.set(key, result);
		// If the work failed, the next item may do it again.
		result.catch(() => this.#results.delete(key));
		return result;
	}

	/** Forgets what was read, because a job may have changed it. */
	forgetReadings() {
		for (const key of this.#results.keys())
			if (key.startsWith(readingPrefix)) this.#results.delete(key);
	}
}

/**
 * What the runner may know of an input item: all that is public, so that a test can provide an item
 * of its own.
 */
export type RunnerItem = Pick<InputItem, keyof InputItem>;

export class InputItem implements Item {
	readonly markerId = randomUUID();
	readonly index: number;
	readonly run: RunState;
	readonly json: IDataObject;
	readonly executionId: string;
	readonly signal: AbortSignal | undefined;
	readonly continueOnFail: boolean;
	readonly isTool: boolean;
	readonly #context: IExecuteFunctions;
	readonly #naming: FieldNaming;
	readonly #createdFiles: CreatedFile[] = [];
	readonly #hints = new Set<string>();

	constructor(context: IExecuteFunctions, index: number, run: RunState, naming: FieldNaming) {
		this.#context = context;
		this.index = index;
		this.run = run;
		this.#naming = naming;
		this.json = context.getInputData()[index]?.json ?? {};
		this.executionId = context.getExecutionId();
		this.signal = context.getExecutionCancelSignal();
		this.continueOnFail = context.continueOnFail();
		this.isTool = run.isTool;
	}

	findBinaryFields(
		names: readonly string[],
		formField: string,
		isWanted?: (fileName: string) => boolean,
	) {
		return findBinaryFields(this.#context, this.index, names, formField, isWanted);
	}

	getBinary(field: string) {
		return getBinarySource(this.#context, this.index, field);
	}

	getFile(path: string) {
		return getFileSource(this.#context, path);
	}

	store(bytes: Buffer, fileName?: string, mimeType?: string) {
		return storeBinary(this.#context.helpers, bytes, fileName, mimeType);
	}

	doOnce<T>(key: string, work: () => Promise<T>) {
		return this.run.doOnce(key, work);
	}

	recordCreated(file: CreatedFile) {
		if (!this.#createdFiles.some(({ id }) => id === file.id)) this.#createdFiles.push(file);
	}

	get hasCreated() {
		return this.#createdFiles.length > 0;
	}

	/** Puts the names of the fields into a text, where `quoteField` has left marks for them. */
	insertNames(text: string) {
		return this.#naming.insertNames(text);
	}

	addHint(text: string) {
		this.#hints.add(this.insertNames(text));
	}

	/** Adds the hints to those of the run, which n8n shows, once the item has succeeded. */
	releaseHints() {
		for (const hint of this.#hints) this.run.hints.add(hint);
	}

	/** A model does not see what n8n shows below the node, so its answer contains the hints. */
	get hints(): readonly string[] {
		return [...this.#hints].map((hint) => this.run.sanitizer.sanitizeText(hint));
	}

	log(text: string) {
		this.#context.logger.info(this.run.sanitizer.sanitizeText(text));
	}

	/**
	 * Returns the failure as the user reads it. It names all files that were already created for
	 * the item.
	 */
	explainFailure(error: NodeError) {
		const failure = this.#naming.insertNamesIntoError(error);
		if (!this.hasCreated) return failure;
		const createdTexts = this.#createdFiles.map(
			({ kind, id, url = id }) => `The ${kind} ${url} was already created.`,
		);
		return failure.with({
			description: joinSentences(failure.description, ...createdTexts),
			// With Continue on Fail, n8n drops the description, so the output lists the files, too,
			// under `made`.
			details: { ...failure.details, made: this.#createdFiles.map((file) => ({ ...file })) },
		});
	}
}

/**
 * n8n adds this choice to the dropdowns of every node with an OAuth2 credential. Only its HTTP
 * Request node can do what the choice says.
 */
const customApiCall = '__CUSTOM_API_CALL__';

/**
 * Reads the operation from the form's dropdowns, with the values of its fields.
 * @throws NodeError 400 if no operation has the name
 */
function readForm(rawParameters: RawParameters, itemIndex: number): UncheckedInput {
	const resourceName = rawParameters.read('resource', itemIndex, '');
	const operationName = rawParameters.read('operation', itemIndex, '');
	if (resourceName === customApiCall || operationName === customApiCall)
		throw createRefusal(
			"This node does not support 'Custom API Call'",
			"Choose one of its operations, or use n8n's HTTP Request node with its own Google credential.",
		);
	const choice = chooseOperation(resourceName, operationName);
	const { fields, options } = choice.operation;
	const values = rawParameters.readFields(fields, [...options, ...commonOptions], itemIndex);
	return { ...choice, values };
}

/** What one input item asks the node to do. */
export interface Job extends ResourceOperation {
	readonly index: number;
	readonly params: AnyParameters;
	/** What the operation's `prepare` made of the parameters. */
	readonly prepared: unknown;
	readonly limits: RequestLimits;
	readonly item: RunnerItem;
	/**
	 * The key of `combine`. Jobs of one operation with the same key share a batch. Without a key, a
	 * job has a batch of its own.
	 */
	readonly combineKey: string | undefined;
	/** The place of `combine`. */
	readonly place: string | undefined;
	/**
	 * The result of `getChangedId`: the `key` of the job's batch. Jobs with the same ID go one
	 * after another. A change without an ID goes alone.
	 */
	readonly changedId: string | undefined;
}

type CheckedInput = ReturnType<typeof checkInput>;

/**
 * Creates a function that reads and checks the parameters of the item with an index. It sends
 * nothing, and throws NodeError 400 for wrong parameters.
 */
export function createJobReader(
	context: IExecuteFunctions,
	rawParameters: RawParameters,
	run: RunState,
) {
	const sharedReadContext = {
		timezone: context.getTimezone(),
		findSavedValue: (field: Field) => rawParameters.findSavedValue(field),
	};
	let lastInput: CheckedInput | undefined;
	return (index: number): Job => {
		const isJson = rawParameters.read('inputMode', index, 'fields') === 'json';
		const mode = isJson ? 'json' : 'fields';
		const input = (isJson ? readJson : readForm)(rawParameters, index);
		// The form's values are the same object again if none depends on the item. Thousands of
		// items are then checked only once.
		if (lastInput?.values !== input.values)
			lastInput = checkInput(input, { ...sharedReadContext, mode });
		const { operation, params, naming } = lastInput;
		const item = new InputItem(context, index, run, naming);
		const prepared = operation.prepare
			? naming.callWithNames(() => operation.prepare?.(params, item))
			: params;
		return { ...lastInput, index, item, prepared };
	};
}

function checkInput(input: UncheckedInput, readContext: ReadContext) {
	const { operation, values } = input;
	const fields = getAllFields(operation);
	const naming = new FieldNaming(fields, readContext);
	return naming.callWithNames(() => {
		const params = readParameters(fields, values, readContext);
		const limits = readParameters(requestOptions, values, readContext);
		const combineKey = operation.combine?.getKey(params);
		const place = operation.combine?.getPlace?.(params);
		const changedId = operation.getChangedId?.(params);
		return { ...input, naming, params, limits, combineKey, place, changedId };
	});
}

function readJson(rawParameters: RawParameters, index: number): UncheckedInput {
	const inputObject = rawParameters.read('inputObject', index, {});
	const allowedOperations = rawParameters.read('allowedOperations', index, []);
	const allowFilePaths = rawParameters.read('allowFilePaths', index, false) === true;
	const uncheckedInput = readInputObject(inputObject, allowedOperations, allowFilePaths);
	// Fields that have one value for all items come from the node itself, never from the input
	// object.
	const nodeFields = getNodeFields(uncheckedInput.operation);
	const values = { ...uncheckedInput.values };
	for (const { name } of nodeFields) values[name] = rawParameters.read(name, index, null);
	return { ...uncheckedInput, values };
}
