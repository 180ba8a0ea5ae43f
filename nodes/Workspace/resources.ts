import type { INodePropertyOptions } from 'n8n-workflow';

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
	readonly toolOperation?: string;
}

/** In the order of the dropdown. */
const resourceTable: ReadonlyArray<Omit<Resource, 'operations'>> = [
	{ value: 'document', name: 'Document', description: 'Google Docs', defaultOperation: 'create' },
	{ value: 'file', name: 'File', description: 'Google Drive', defaultOperation: 'upload' },
	{ value: 'mail', name: 'Mail', description: 'Gmail', defaultOperation: 'send', toolOperation: 'list' },
	{ value: 'spreadsheet', name: 'Spreadsheet', description: 'Google Sheets', defaultOperation: 'create' },
];

export const resources: readonly Resource[] = resourceTable.map((resource) => {
	const operations: readonly Operation[] = Object.values(actions[resource.value]);
	return { ...resource, operations: operations.toSorted((a, b) => compareNames(a.name, b.name)) };
});

/** The value of an operation in Allowed Operations. */
export const getOperationKey = (resource: ResourceName, { value }: { readonly value: string }) =>
	`${resource}.${value}`;

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
