import type { IBinaryData, IDataObject } from 'n8n-workflow';

import type { NodeError } from '../core/errors';
import type { ModelAnswer } from '../core/modelAnswer';
import type { Field, InferParameters } from '../fields/field';
import { commonOptions } from '../fields/commonOptions';
import type { OperationAdvice } from './google/advice';
import type { Clients } from './google/clients';
import type { ByteSource } from './byteSource';

export type { ByteSource, Clients };
export type { AttachmentInput, Choice, Field, FieldFormat, InferParameters } from '../fields/field';

/**
 * What an operation may know about its input item and the run. It never gets n8n's execution
 * context.
 */
export interface Item {
	/** The position among the input items, from 0. */
	readonly index: number;
	readonly json: IDataObject;
	/**
	 * A random ID that is new for each item and try, and is no secret. Markers are made from it.
	 */
	readonly markerId: string;
	/** Is aborted when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	/** Whether n8n processes the other items if this item fails. */
	readonly continueOnFail: boolean;
	/**
	 * Whether an AI agent calls the node as a tool. The input item then holds the agent's data, not
	 * the user's.
	 */
	readonly isTool: boolean;
	/**
	 * Returns the names of existing binary fields. In `names`, * means all.
	 * @param isWanted leaves out fields by their file names
	 * @throws NodeError 400 that names `formField`
	 */
	findBinaryFields(
		names: readonly string[],
		formField: string,
		isWanted?: (fileName: string) => boolean,
	): string[];
	/** @throws NodeError 400 if the item has no such binary field */
	getBinary(field: string): Promise<ByteSource>;
	/**
	 * Returns a file on the machine that runs n8n.
	 * @throws NodeError 400 if n8n's file access rules do not allow the path
	 */
	getFile(path: string): Promise<ByteSource>;
	/** Stores bytes in n8n's binary storage. They need not stay in memory until the run ends. */
	store(bytes: Buffer, fileName?: string, mimeType?: string): Promise<StoredBinary>;
	/**
	 * Does the work once per run for each key. All items with the key get the same result. Failed
	 * work may be done again, and so may a reading (`readingPrefix`).
	 */
	doOnce<T>(key: string, work: () => Promise<T>): Promise<T>;
	/** Records a file that now exists, so that a later failure of the item names it. */
	recordCreated(file: CreatedFile): void;
	/** Whether something was already created for this item. */
	readonly hasCreated: boolean;
	/**
	 * Adds a hint that the node shows after the run, unless the item fails. Equal hints are shown
	 * once.
	 */
	addHint(text: string): void;
	/** Writes to n8n's log at info level. The text must not contain content or secrets. */
	log(text: string): void;
}

/** A key of `doOnce` that begins so is forgotten when a job may have changed something. */
export const readingPrefix = 'read ';

export interface CreatedFile {
	/** Used in error messages, such as "The document 1Qm7x was already created". */
	readonly kind: 'document' | 'spreadsheet' | 'file';
	readonly id: string;
	readonly url?: string;
}

/** A reference to bytes in n8n's storage. An operation only passes it on. */
export type StoredBinary = IBinaryData;

export interface OutputItem {
	readonly json: IDataObject;
	readonly binary?: Readonly<Record<string, StoredBinary>>;
}

export type ResourceName = 'mail' | 'spreadsheet' | 'document' | 'file';

/** Fields and options of an operation. */
type Fields = readonly Field[];

/**
 * An operation has either `send` or `combine`. `P` is what `prepare` returns, `R` the result of one
 * item, and `W` a planned write.
 */
export interface Operation<
	F extends Fields = Fields,
	O extends Fields = Fields,
	R = unknown,
	P = unknown,
	W = unknown,
> {
	/** Saved in workflows. The file is named after it. */
	readonly value: string;
	readonly name: string;
	/** What n8n's list of actions shows. It has no article, as in "Send message". */
	readonly action: string;
	readonly description: string;
	/** Says what cannot be undone. */
	readonly caution?: string;
	/**
	 * What a model reads before the caution. It names no parameter, because the user decides which
	 * parameters the model fills in.
	 */
	readonly modelDescription: string;
	/**
	 * A second choice in Allowed Operations, such as "Mail: Send, Drafts Only". It requires that
	 * the input object sets `requiredKey` to true.
	 */
	readonly narrowedChoice?: Readonly<
		Record<'value' | 'name' | 'description' | 'requiredKey', string>
	>;
	readonly fields: F;
	readonly options: O;
	/**
	 * Only an operation that reads has it: whether it also changes something with these parameters,
	 * such as marking emails as read. Doing so twice must have no further effect. If it changes
	 * nothing, neighboring items may be performed in parallel.
	 */
	mayChange?(params: InferParameters<F, O>): boolean;
	/**
	 * Whether a second execution has no further effect. Retry On Fail may then start it again,
	 * whatever the outcome.
	 */
	isIdempotent?(params: InferParameters<F, O>): boolean;
	/**
	 * Returns the ID of the only thing that is changed. It orders the changes of one run: those
	 * with different IDs may be performed in parallel.
	 */
	getChangedId?(params: InferParameters<F, O>): string;
	/**
	 * Reads, checks and converts the parameters, and sends nothing. It is called once for each
	 * item, for all items before anything is sent, so that a mistake in the last item does not
	 * leave half of them sent. Without it, the parameters are sent as they are.
	 * @throws NodeError 400
	 */
	prepare?(params: InferParameters<F, O>, item: Item): P;
	/** Sends one item. */
	send?(clients: Clients, prepared: P, item: Item): Promise<R>;
	/** Sends items together. */
	readonly combine?: Combination<InferParameters<F, O>, P, W, R>;
	/**
	 * Turns a result into output items. Without it, or if it returns undefined, the result is the
	 * JSON of a single item.
	 */
	toItems?(result: R, params: InferParameters<F, O>): OutputItem[] | undefined;
	/**
	 * Turns a result into the answer to a model, with `buildModelAnswer`. Without it, a model gets
	 * the output items, shortened.
	 */
	toModel?(result: R, params: InferParameters<F, O>): ModelAnswer;
	/**
	 * Names what now exists at Google, such as "file a.pdf (ID 1Qm7x)", if anything does. Needed if
	 * another item stops the node and the user runs it again.
	 */
	nameResult?(result: R): string | undefined;
	/**
	 * Finds out what happened after an unknown outcome of sending, without repeating the work.
	 * Returns a result if the work was certainly done, and a NodeError if it certainly was not.
	 * Returns undefined if nothing is known, so that the failure stands.
	 * @param prepared the same object that was sent, so that sending can leave in it what the
	 * search needs
	 * @throws NodeError if it has a clearer text for the user
	 */
	recover?(
		clients: Clients,
		prepared: P,
		failure: NodeError,
		item: Item,
	): Promise<R | NodeError | undefined>;
	readonly advice?: OperationAdvice;
}

/** One item among those that are sent together. */
export interface Prepared<P> {
	readonly prepared: P;
	readonly item: Item;
}

/**
 * How items are sent together. The runner decides which: it forms batches and groups, leaves out
 * what is refused, and splits what is too large.
 */
export interface Combination<A, P, W, R> {
	/** Items with the same key may be sent together. An item without a key is sent alone. */
	getKey(params: A): string | undefined;
	/**
	 * Returns what an item may change. It does not join a batch that began before an item with
	 * another key and the same place.
	 * @throws NodeError 400 if the parameters name no place
	 */
	getPlace?(params: A): string;
	/**
	 * Returns the ID of what is changed, to order the runs of this process: one could insert rows
	 * above those that another is about to write. Runs that wait for the same ID and have the same
	 * key are sent together. Without an ID, a run waits for no other.
	 */
	getLockId?(prepared: P): string | undefined;
	/**
	 * Returns the share of one request that an item needs, where 1 is a full request. Undefined if
	 * its run must be sent alone and whole.
	 */
	weigh(prepared: P): number | undefined;
	/**
	 * Reads what it must know, and plans one write for each item, as if they came one after
	 * another. Returns a NodeError in place of the write if an item is refused. The runner then
	 * plans the others again.
	 */
	plan(clients: Clients, all: ReadonlyArray<Prepared<P>>): Promise<ReadonlyArray<W | NodeError>>;
	/** Sends writes of one plan in one request, in their order. @returns the result of each */
	send(clients: Clients, writes: readonly W[]): Promise<readonly R[]>;
}

/**
 * Returns the ID of what a request has made.
 * @throws TypeError if Google's response has none, and so is not Google's
 */
export function requireId(id: string | null | undefined): string {
	if (id) return id;
	throw new TypeError('The response has no ID');
}

/** Defines an operation. TypeScript infers the types of its parameters from its fields. */
export function defineOperation<
	const F extends Fields,
	const O extends Fields,
	R,
	P = InferParameters<F, O>,
	W = never,
>(operation: Operation<F, O, R, P, W>): Operation<F, O, R, P, W> {
	return operation;
}

/** Returns all fields and options of an operation, with the options that every operation has. */
export function getAllFields({ fields, options }: Operation): readonly Field[] {
	return [...fields, ...options, ...commonOptions];
}

/**
 * Returns the fields that only the node itself sets, also in JSON mode, because an input object may
 * come from outside.
 */
export const getNodeFields = ({ fields, options }: Operation): readonly Field[] =>
	[...fields, ...options].filter((field) => field.noDataExpression && !isInputKey(field));

/** Whether a field is a key of an input object, and not only in the form. */
export const isInputKey = ({ onlyIn }: Field) => onlyIn !== 'fields';
