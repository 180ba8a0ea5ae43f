import type { INodePropertyOptions } from 'n8n-workflow';

import { compareNames } from '../core/text';
import * as actions from './actions';
import type { Operation, ResourceName } from './operation';

export interface Resource {
	/** Saved in workflows, and the value of `resource` in an input object. */
	readonly value: ResourceName;
	readonly name: string;
	readonly description: string;
	readonly operations: readonly Operation[];
	/**
	 * The operation of a new node. Never change it, because saved workflows without an operation
	 * mean it: n8n does not save defaults.
	 */
	readonly defaultOperation: string;
	/** The operation of a new tool, if the default does something that cannot be undone. */
	readonly toolOperation?: string;
}

/** The resources in the order of the dropdown. */
const resourceTable: ReadonlyArray<Omit<Resource, 'operations'>> = [
	{ value: 'document', name: 'Document', description: 'Google Docs', defaultOperation: 'create' },
	{ value: 'file', name: 'File', description: 'Google Drive', defaultOperation: 'upload' },
	{
		value: 'mail',
		name: 'Mail',
		description: 'Gmail',
		defaultOperation: 'send',
		toolOperation: 'list',
	},
	{
		value: 'spreadsheet',
		name: 'Spreadsheet',
		description: 'Google Sheets',
		defaultOperation: 'create',
	},
];

export const resources: readonly Resource[] = resourceTable.map((resource) => {
	const operations: readonly Operation[] = Object.values(actions[resource.value]);
	return { ...resource, operations: operations.toSorted((a, b) => compareNames(a.name, b.name)) };
});

/** Returns the value of an operation in the field Allowed Operations. */
export const getOperationKey = (resource: ResourceName, { value }: { readonly value: string }) =>
	`${resource}.${value}`;

/** The choices of the field Allowed Operations, such as "Mail: Send". */
export const operationChoices: INodePropertyOptions[] = resources
	.flatMap(({ value, name, operations }) => {
		const narrowedChoices = operations.flatMap(({ narrowedChoice }) => narrowedChoice ?? []);
		return [...operations, ...narrowedChoices].map((choice) => ({
			name: `${name}: ${choice.name}`,
			value: getOperationKey(value, choice),
			description: choice.description,
		}));
	})
	.sort((a, b) => compareNames(a.name, b.name));
