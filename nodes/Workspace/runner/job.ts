import type { IExecuteFunctions } from 'n8n-workflow';

import { refusal } from '../../core/errors';
import { Naming } from '../../fields/naming';
import { NodeParameters } from '../../fields/nodeParameters';
import { limitsOf, type Params, paramsOf, type RequestLimits } from '../../fields/params';
import { fieldsOf, type Operation, type ResourceName } from '../operation';
import { resources } from '../resources';
import { type Chosen, readInputObject } from './inputObject';
import { type JobItem, RunItem, type RunNotes } from './item';

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
	const resource = oneOf('Resource', resources, resourceName);
	const operation = oneOf('Operation', resource.operations, operationName);
	return { resource: resource.value, operation, given: parameters.given(operation.fields, itemIndex) };
}

function oneOf<T extends { readonly value: string }>(
	label: string,
	choices: readonly T[],
	value: unknown,
): T {
	const choice = choices.find((candidate) => candidate.value === value);
	if (choice) return choice;
	throw refusal(`'${label}' must be one of: ${choices.map((candidate) => candidate.value).join(', ')}`);
}

/** The work for one input item. */
export interface Job {
	readonly index: number;
	readonly resource: ResourceName;
	readonly operation: Operation;
	readonly params: Params;
	readonly limits: RequestLimits;
	readonly item: JobItem;
	/** Jobs of the same operation with the same key are processed together. */
	readonly combineKey: string | undefined;
	/** What the job changes: jobs that change the same thing run one after another. Undefined if the job must run alone. */
	readonly serialKey: string | undefined;
	/** Everything that tells this job from another, for the memory of finished items. */
	readonly sent: unknown;
}

/** Parameters of an operation that passed its checks. */
interface Checked {
	readonly mode: 'fields' | 'json';
	readonly chosen: Chosen;
	readonly naming: Naming;
	readonly params: Params;
	readonly limits: RequestLimits;
	readonly combineKey: string | undefined;
}

/** Reads and checks the parameters of item after item; nothing is sent. */
export class Jobs {
	private readonly context: IExecuteFunctions;
	private readonly notes: RunNotes;
	private readonly parameters: NodeParameters;
	private last: Checked | undefined;

	constructor(context: IExecuteFunctions, notes: RunNotes) {
		this.context = context;
		this.notes = notes;
		this.parameters = new NodeParameters(context);
	}

	/** @throws NodeError 400 */
	read(index: number): Job {
		this.last = this.checked(index);
		const { chosen, naming, params, limits, combineKey } = this.last;
		const { resource, operation } = chosen;
		const item = new RunItem(this.context, index, { notes: this.notes, naming, limits });
		naming.during(() => operation.check?.(params, item));
		const sent = [resource, operation.value, params, item.json];
		const serialKey = operation.changes?.(params);
		return { index, resource, operation, params, limits, item, combineKey, serialKey, sent };
	}

	/** An item with the same values as the previous one is not checked again. */
	private checked(index: number): Checked {
		const { last } = this;
		const mode = this.parameters.read('inputMode', index, 'fields') === 'json' ? 'json' : 'fields';
		const chosen = this.chosen(index, mode);
		if (last?.mode === mode && isSame(last.chosen, chosen)) return last;
		const { operation, given } = chosen;
		const fields = fieldsOf(operation);
		const params = paramsOf(fields, given, { mode, timezone: this.context.getTimezone() });
		const limits = limitsOf(params);
		const naming = new Naming(fields, mode);
		const combineKey = naming.during(() => operation.combine?.key(params));
		return { mode, chosen, naming, params, limits, combineKey };
	}

	private chosen(index: number, mode: Checked['mode']): Chosen {
		const { parameters } = this;
		if (mode === 'fields') return readForm(parameters, index);
		return readInputObject(parameters.read('inputObject', index, {}), {
			allowFilePaths: parameters.read('allowFilePaths', index, false) === true,
			allowedOperations: parameters.read('allowedOperations', index, []),
		});
	}
}

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
	const groups = new Map<string, J[]>();
	let last: Job | undefined;
	let group: J[] = [];
	let run = 0;
	for (const job of jobs) {
		const { index, operation, combineKey } = job.value;
		// A job must not overtake an earlier one of another operation: in JSON mode, items may have different operations.
		if (operation !== last?.operation) run++;
		// Most jobs belong to the group of the one before.
		if (operation !== last?.operation || combineKey === undefined || combineKey !== last.combineKey) {
			const key = combineKey === undefined ? String(index) : JSON.stringify([run, combineKey]);
			group = groups.get(key) ?? [];
			groups.set(key, group);
		}
		group.push(job);
		last = job.value;
	}
	return [...groups.values()];
}
