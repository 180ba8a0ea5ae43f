import type { IBinaryData, IDataObject } from 'n8n-workflow';

import type { NodeError } from '../core/errors';
import type { ModelAnswer } from '../core/modelAnswer';
import type { Field, InferParameters } from '../fields/field';
import { commonOptions } from '../fields/params';
import type { Clients } from './google/clients';
import type { ByteSource } from './byteSource';

export type { Clients } from './google/clients';
export type { ByteSource } from './byteSource';
export type { AttachmentInput, Choice, Field, FieldFormat, InferParameters } from '../fields/field';

/** What an operation may know of its input item and of the run around it. Never n8n's execution context. */
export interface Item {
	/** Identifies the run of the item, because items of several runs may be sent together. */
	readonly run?: object;
	/** Position among the input items, from 0. */
	readonly index: number;
	/** The input item's JSON. */
	readonly json: IDataObject;
	/** Unguessable, new for each item and try: markers and private properties are made from it. */
	readonly token: string;
	/** Aborts when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	/** True if the node continues on an error: when this item fails, the others are still processed. */
	readonly continueOnFail?: boolean;
	/** Whether an AI agent calls the node as a tool: its input then holds the agent's data, not the user's. */
	readonly isTool?: boolean;
	/** Binary fields by name, where * means all. @param parameter where the names were entered @throws NodeError 400 for a missing one */
	findBinaryFields(names: readonly string[], parameter: string): string[];
	/** @throws NodeError 400 that names the missing field and those that exist. */
	getBinary(field: string): Promise<ByteSource>;
	/** A file on the machine that runs n8n, under the instance's own file-access rules. */
	getFile(path: string): Promise<ByteSource>;
	/** Hands bytes to n8n's binary storage, so that not all of a long result has to be in memory at once. */
	store(bytes: Buffer, fileName?: string, mimeType?: string): Promise<StoredBinary>;
	/** Asks once per run for each key: items with the same key share the answer. */
	once<T>(key: string, ask: () => Promise<T>): Promise<T>;
	/** Records something that now exists, so that a later failure of the same item names it. */
	recordCreated(what: CreatedFile): void;
	/** A hint shown on the node after the run. */
	addHint(text: string): void;
	/** n8n's log at info level; never content, never a secret. */
	log(text: string): void;
}

export interface CreatedFile {
	/** As in "The document … was already created". */
	readonly kind: 'document' | 'spreadsheet' | 'file';
	readonly id: string;
	readonly url?: string;
}

/** A reference to bytes in n8n's storage, which an operation only passes on. */
export type StoredBinary = IBinaryData;

export interface OutputItem {
	readonly json: IDataObject;
	readonly binary?: Readonly<Record<string, StoredBinary>>;
}

export type ResourceName = 'mail' | 'spreadsheet' | 'document' | 'file';

/** One of the items that a combined request serves. */
export interface CombinedItem<P> {
	readonly params: P;
	readonly item: Item;
}

export interface Operation<
	F extends readonly Field[] = readonly Field[],
	O extends readonly Field[] = readonly Field[],
	R = unknown,
> {
	/** Saved in workflows; the file is named after it. */
	readonly value: string;
	readonly name: string;
	/** Without an article: "Send message". */
	readonly action: string;
	readonly description: string;
	/** What cannot be undone. */
	readonly caution?: string;
	/** What a model reads of the operation, before the caution. Names no parameter: the user decides which ones the model fills in. */
	readonly modelDescription: string;
	/** What a model reads in place of the caution, by the value of a field that the user sets. */
	readonly modelCautions?: { readonly field: string; readonly byValue: Readonly<Record<string, string>> };
	/** A separate choice in Allowed Operations, which allows the operation only if this key of the input object is true. */
	readonly narrowed?: Readonly<Record<'value' | 'name' | 'description' | 'key', string>>;
	readonly fields: F;
	readonly options: O;
	/** True if the operation changes nothing at Google: neighboring items may then run in parallel. */
	readonly isReadOnly?: boolean;
	/** Whether a read also changes something with these parameters. Doing that twice must have the same effect as once. */
	mayChange?(params: InferParameters<F, O>): boolean;
	/** Whether doing it twice has the same effect as once: Retry On Fail may then start it again, whatever the outcome. */
	isIdempotent?(params: InferParameters<F, O>): boolean;
	/** Identifies the only thing that the operation changes: items that change different things may then run in parallel. */
	getChangedId?(params: InferParameters<F, O>): string;
	/** Refuses values that are wrong only together. It is called for all items before anything is sent. */
	check?(params: InferParameters<F, O>, item: Item): void;
	execute(client: Clients, params: InferParameters<F, O>, item: Item): Promise<R>;
	/** Output items of one result; one item with the result as its JSON when absent or undefined. */
	toItems?(result: R, params: InferParameters<F, O>): OutputItem[] | undefined;
	/** Shortens one result for a model, whose answers must fit into this many characters. */
	toModel?(result: R, params: InferParameters<F, O>, characters: number): ModelAnswer;
	/** Names what a result left at Google, as in "file a.pdf (ID …)", for the user who runs the node again after another item stopped it. */
	nameResult?(result: R): string;
	/** A sentence: how the user can run the node again without repeating finished items. */
	readonly rerunAdvice?: string;
	/** The failure that cut a result short: with Continue on Fail, the node outputs the result, then the error. */
	getFailure?(result: R): NodeError | undefined;
	/**
	 * Finds out what happened after an unknown outcome of `execute`. Returns a result if the work was certainly done, a
	 * NodeError if it certainly was not, undefined if nothing is known (the failure then stands), or throws a NodeError with a clearer
	 * text. Must never repeat the work.
	 */
	recover?(
		client: Clients,
		params: InferParameters<F, O>,
		failure: NodeError,
		item: Item,
	): Promise<R | NodeError | undefined>;
	/** Serves items with the same key together, with results in the order of the members. Without a key, `execute` serves the item. */
	readonly combine?: {
		key(params: InferParameters<F, O>): string | undefined;
		/** A member that failed has its NodeError in its place; the others keep their results. */
		execute(
			client: Clients,
			members: ReadonlyArray<CombinedItem<InferParameters<F, O>>>,
		): Promise<ReadonlyArray<R | NodeError>>;
	};
	/** Lets only one run of this process at a time change a thing, because inserted rows move the rows that another run is about to write. */
	readonly lock?: {
		/** The ID of what is changed; undefined if it needs no lock. */
		key(params: InferParameters<F, O>): string | undefined;
		/**
		 * The share of a request that an item takes, where 1 is a full request. Runs that wait for the lock with the same key of
		 * `combine` go together while they fit. Undefined if they must not.
		 */
		weigh(params: InferParameters<F, O>, item: Item): number | undefined;
	};
	/** What the user can do, by HTTP status. Applies to errors of Gmail for a mail operation, and of the other services for any other. */
	readonly adviceByStatus?: Readonly<Record<number, string>>;
}

/** An operation whose parameter types follow from its fields. */
export function defineOperation<const F extends readonly Field[], const O extends readonly Field[], R>(
	operation: Operation<F, O, R>,
): Operation<F, O, R> {
	return operation;
}

/** All fields of an operation, with the options of every operation. */
export function getAllFields({ fields, options }: Operation): readonly Field[] {
	return [...fields, ...options, ...commonOptions];
}
