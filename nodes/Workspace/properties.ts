import type { IDisplayOptions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { propertiesOf } from '../fields/properties';
import { inputProperties, jsonProperties } from './inputProperties';
import type { Operation } from './operation';
import { requestOptions } from '../fields/requestOptions';
import { toolDescriptions } from './toolDescriptions';
import { defaultResource, resources, type Resource } from './resources';

/** All parameters of the node, computed from the operations. */
export const properties: INodeProperties[] = [
	...toolDescriptions,
	...inputProperties,
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ name, value, description }) => ({ name, value, description })),
		default: defaultResource,
		displayOptions: { show: { inputMode: ['fields'] } },
	},
	...resources.map(operationDropdown),
	...resources.flatMap((resource) =>
		resource.operations.flatMap((operation) => operationProperties(resource, operation)),
	),
	...jsonProperties,
];

function operationDropdown({ value, operations, defaultOperation }: Resource): INodeProperties {
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: operations.map(operationChoice),
		default: defaultOperation,
		// n8n saves no default value: with `show: { inputMode: ['fields'] }` a change of the resource leaves the old operation in place.
		displayOptions: { show: { resource: [value] }, hide: { inputMode: ['json'] } },
	};
}

function operationChoice({ name, value, action, description }: Operation): INodePropertyOptions {
	return { name, value, action, description };
}

function operationProperties(resource: Resource, operation: Operation): INodeProperties[] {
	const gate: IDisplayOptions['show'] = {
		inputMode: ['fields'],
		resource: [resource.value],
		operation: [operation.value],
	};
	return propertiesOf(operation.fields, [...operation.options, ...requestOptions], gate);
}
