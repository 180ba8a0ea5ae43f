import type { IDisplayOptions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { compareNames, propertyOf } from './fieldProperty';
import { inputProperties, jsonProperties } from './inputProperties';
import type { Field, Operation } from './operation';
import { requestOptions } from './requestOptions';
import { defaultResource, resources, type Resource } from './resources';

/** All parameters of the node, computed from the operations. */
export const properties: INodeProperties[] = [
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
		displayOptions: { show: { inputMode: ['fields'], resource: [value] } },
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
	return [
		...operation.fields.map((field) => ({
			...propertyOf(field),
			displayOptions: { show: { ...gate, ...asShow(field.showWhen) } },
		})),
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add option',
			default: {},
			displayOptions: { show: gate },
			options: optionProperties(operation),
		},
	];
}

function optionProperties({ fields, options }: Operation): INodeProperties[] {
	const all: Field[] = [...options, ...requestOptions];
	return all
		.sort((a, b) => compareNames(a.displayName, b.displayName))
		.map((option) => ({
			...propertyOf(option),
			...(option.showWhen && { displayOptions: optionGate(option.showWhen, fields, options) }),
		}));
}

type Condition = NonNullable<Operation['fields'][number]['showWhen']>;

/**
 * A field outside the collection is reached by a slash. Another option counts with its default while it is not added, which n8n
 * does not see: where the default fits, the option hides for the choices that do not.
 */
function optionGate(
	condition: Condition,
	fields: Operation['fields'],
	options: Operation['options'],
): IDisplayOptions {
	const show: Record<string, Array<string | boolean>> = {};
	const hide: Record<string, Array<string | boolean>> = {};
	for (const [name, values] of Object.entries(condition)) {
		const sibling = options.find((option) => option.name === name);
		const choices = sibling?.options?.map(({ value }) => value) ?? [true, false];
		if (fields.some((field) => field.name === name)) show[`/${name}`] = [...values];
		else if (sibling && values.some((value) => value === sibling.default)) {
			hide[name] = choices.filter((choice) => !values.includes(choice));
		} else show[name] = [...values];
	}
	return { ...(Object.keys(show).length > 0 && { show }), ...(Object.keys(hide).length > 0 && { hide }) };
}

function asShow(condition: Condition = {}): NonNullable<IDisplayOptions['show']> {
	return Object.fromEntries(Object.entries(condition).map(([name, values]) => [name, [...values]]));
}
