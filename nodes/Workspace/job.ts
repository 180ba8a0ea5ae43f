import type { IExecuteFunctions } from 'n8n-workflow';

import { readForm } from './formInput';
import { readInputObject } from './inputObject';
import type { NodeParameters } from './nodeParameters';
import type { Operation, ResourceName } from './operation';
import { paramsOf, type Params } from './params';
import type { RequestLimits } from './requestOptions';
import { RunItem, type RunNotes } from './runItem';

/** What is to be done for one input item. */
export interface Job {
	readonly index: number;
	readonly resource: ResourceName;
	readonly operation: Operation;
	readonly params: Params;
	readonly limits: RequestLimits;
	readonly item: RunItem;
	/** Jobs of the same operation with the same key are done in one go. */
	readonly combineKey: string | undefined;
	/** Everything that tells this job from another, for the memory of finished items. */
	readonly sent: unknown;
}

/** Reads and checks an item's parameters; nothing is sent. @throws Failure 400 */
export function readJob(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
	notes: RunNotes,
): Job {
	const mode = parameters.read('inputMode', index, 'fields') === 'json' ? 'json' : 'fields';
	const { resource, operation, given } =
		mode === 'json'
			? readInputObject(
					parameters.read('inputObject', index, {}),
					parameters.read('allowFilePaths', index, false) === true,
				)
			: readForm(parameters, index);
	const { params, limits } = paramsOf(operation, given, { mode, timezone: context.getTimezone() });
	const item = new RunItem(context, index, notes);
	const combineKey = operation.combine?.key(params);
	if (combineKey !== undefined) operation.combine?.check?.(params, item);
	const sent = [resource, operation.value, params, item.json];
	return { index, resource, operation, params, limits, item, combineKey, sent };
}

/** Jobs that are done in one go; most stand alone. In the order of their first members. */
export function tasksOf(jobs: readonly Job[]): Job[][] {
	const groups = new Map<string, Job[]>();
	for (const job of jobs) {
		const { index, resource, operation, combineKey } = job;
		const key =
			combineKey === undefined ? String(index) : JSON.stringify([resource, operation.value, combineKey]);
		const group = groups.get(key);
		if (group) group.push(job);
		else groups.set(key, [job]);
	}
	return [...groups.values()];
}
