import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { NodeError } from '../../core/errors';
import { forEditor } from '../../core/text';
import { isTool } from '../../core/nodeErrors';
import { storeBinary } from '../../core/binary';

import { cleanLog, Sanitizer } from '../../core/sanitizer';
import type { Naming } from '../../fields/naming';
import type { Item, Made, OutputBinary, StoredBinary } from '../operation';
import type { RequestLimits } from '../../fields/params';
import { binarySource, fileSource } from './sources';

/** State shared by all items of a run. */
export class RunNotes {
	private readonly answers = new Map<string, Promise<unknown>>();
	private readonly hints = new Set<string>();

	once<T>(key: string, ask: () => Promise<T>): Promise<T> {
		// A key stands for one question, whose answers have one type; the map cannot say so.
		const answer = (this.answers.get(key) as Promise<T> | undefined) ?? ask();
		this.answers.set(key, answer);
		// If a request failed, the next item may make it again.
		answer.catch(() => this.answers.delete(key));
		return answer;
	}

	hint(text: string): void {
		this.hints.add(text);
	}

	show(context: IExecuteFunctions, sanitizer: Sanitizer): void {
		const hints = [...this.hints].map((hint) => ({
			message: forEditor(sanitizer.text(hint)),
			location: 'outputPane' as const,
		}));
		if (hints.length > 0) context.addExecutionHints(...hints);
	}
}

/** An item as the runner sees it, beyond what operations know about it. */
export interface JobItem extends Item {
	/** Whether something was already created for this item. */
	readonly hasMade: boolean;
	/** The failure for the user, with everything that was created for the item by then. */
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
		return this.input?.json ?? {};
	}

	get othersGoOn() {
		return this.context.continueOnFail();
	}

	get isTool() {
		return isTool(this.context.getNode());
	}

	get binaryFields() {
		return Object.keys(this.input?.binary ?? {});
	}

	private get input() {
		return this.context.getInputData()[this.index];
	}

	binary(field: string) {
		const { binaryFields: existing, readMilliseconds: milliseconds } = this;
		return binarySource(this.context, this.index, field, { existing, milliseconds });
	}

	file(path: string) {
		return fileSource(this.context, path, this.readMilliseconds);
	}

	async store({ data, fileName, mimeType }: OutputBinary): Promise<StoredBinary> {
		return { stored: await storeBinary(this.context.helpers, data, fileName, mimeType) };
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

	hint(text: string) {
		this.notes.hint(this.naming.text(text));
	}

	log(text: string) {
		cleanLog(this.context.logger, new Sanitizer()).info(text);
	}

	told(thrown: NodeError) {
		const failure = this.naming.failure(thrown);
		const known = `${failure.message} ${failure.description ?? ''}`;
		if (!this.hasMade) return failure;
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
