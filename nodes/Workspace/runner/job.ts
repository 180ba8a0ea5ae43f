import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { type NodeError, forEditor, isTool, refusal, storeBinary } from '../../core/errors';
import type { Sanitizer } from '../../core/sanitizer';
import { Naming } from '../../fields/field';
import { NodeParameters, type Params, type RequestLimits, limitsOf, paramsOf } from '../../fields/params';
import { fieldsOf, type Item, type Made, type OutputBinary } from '../operation';
import { type Chosen, type Found, operationOf, readInputObject } from './inputObject';
import { binarySource, fileSource } from '../source';

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

	hint(text: string) {
		this.notes.hints.add(this.naming.text(text));
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

/** What items with the same values have in common. */
interface Checked extends Chosen, Omit<Job, 'index' | 'item'> {
	readonly mode: 'fields' | 'json';
	readonly naming: Naming;
}

/**
 * Reads and checks the parameters of item after item; nothing is sent. An item with the same values as the previous one is not
 * checked again.
 * @returns throws NodeError 400
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

/** Values are not compared inside: the order of an object's keys counts, and one may be too deep for a comparison. */
function isSame(a: Chosen, b: Chosen): boolean {
	if (a.operation !== b.operation) return false;
	if (a.given === b.given) return true;
	const names = Object.keys(a.given);
	return (
		names.length === Object.keys(b.given).length &&
		names.every((name) => Object.hasOwn(b.given, name) && a.given[name] === b.given[name])
	);
}

/** Jobs that are processed together; most are single. In the order of their first members. */
export function tasksOf<J extends { readonly value: Job }>(jobs: readonly J[]): J[][] {
	const tasks: J[][] = [];
	let groups = new Map<string | undefined, J[]>();
	let last: Job['operation'] | undefined;
	for (const job of jobs) {
		const { operation, combineKey } = job.value;
		// A job must not overtake an earlier one of another operation: in JSON mode, items may have different operations.
		if (operation !== last) groups = new Map();
		last = operation;
		const group = groups.get(combineKey) ?? [];
		if (group.length === 0) tasks.push(group);
		group.push(job);
		if (combineKey !== undefined) groups.set(combineKey, group);
	}
	return tasks;
}
