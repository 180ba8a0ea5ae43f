import type { INodePropertyOptions } from 'n8n-workflow';

import { createRefusal } from '../core/errors';
import { compareNames } from '../core/text';
import * as actions from './actions';
import type { Operation, ResourceName } from './operation';

export interface Resource {
	/** Saved in workflows; also `resource` in JSON mode. */
	readonly value: ResourceName;
	readonly name: string;
	readonly description: string;
	readonly operations: readonly Operation[];
	/** Saved workflows depend on it. */
	readonly defaultOperation: string;
	/** What a fresh tool does: nothing that cannot be undone. */
	readonly defaultToolOperation?: string;
}

function buildResource(
	value: ResourceName,
	name: string,
	description: string,
	defaultOperation: string,
	defaultToolOperation?: string,
): Resource {
	const operations: readonly Operation[] = Object.values(actions[value]);
	const sorted = operations.toSorted((a, b) => compareNames(a.name, b.name));
	return { value, name, description, operations: sorted, defaultOperation, defaultToolOperation };
}

/** In the order of the dropdown. */
export const resources: readonly Resource[] = [
	buildResource('document', 'Document', 'Google Docs', 'create'),
	buildResource('file', 'File', 'Google Drive', 'upload'),
	buildResource('mail', 'Mail', 'Gmail', 'send', 'list'),
	buildResource('spreadsheet', 'Spreadsheet', 'Google Sheets', 'create'),
];

/** The choices of Allowed Operations, named as in the node creator. */
export const operationChoices: INodePropertyOptions[] = resources
	.flatMap(({ value, name, operations }) =>
		operations
			.flatMap((operation) => [operation, operation.narrowed ?? []].flat())
			.map((choice) => ({
				name: `${name}: ${choice.name}`,
				value: getOperationKey(value, choice),
				description: choice.description,
			})),
	)
	.sort((a, b) => compareNames(a.name, b.name));

/**
 * Refuses an operation that the node does not allow, because an input object may come from outside.
 * @param allowed the value of Allowed Operations; an empty list allows all
 * @param given the keys of the input object
 * @throws NodeError 400
 */
export function checkOperationAllowed(
	allowed: unknown,
	resource: ResourceName,
	operation: Operation,
	given: Readonly<Record<string, unknown>>,
): void {
	const list = Array.isArray(allowed) ? (allowed as unknown[]) : undefined;
	if (allowed == null || list?.length === 0 || list?.includes(getOperationKey(resource, operation))) return;
	const { narrowed } = operation;
	if (narrowed && list?.includes(getOperationKey(resource, narrowed))) {
		if (given[narrowed.key] === true) return;
		throw createRefusal(
			`'${operation.value}' of ${resource} is only allowed with '${narrowed.key}' here`,
			`Nothing was sent. Set '${narrowed.key}' to true. 'Allowed Operations' of the node has '${narrowed.name}'.`,
		);
	}
	const names = operationChoices.filter(({ value }) => list?.includes(value)).map(({ name }) => name);
	throw createRefusal(
		`'${operation.value}' of ${resource} is not allowed here`,
		`'Allowed Operations' of the node has ${names.length === 0 ? 'no known operation' : `only: ${names.join(', ')}`}.`,
	);
}

function getOperationKey(resource: ResourceName, { value }: Pick<Operation, 'value'>): string {
	return `${resource}.${value}`;
}
