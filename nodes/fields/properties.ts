import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import type { Field } from './field';
import { compareNames, propertyOf } from './fieldProperty';

type Show = NonNullable<IDisplayOptions['show']>;
type Condition = NonNullable<Field['showWhen']>;

/** A node's parameters and, in one collection, its options. @param gate under which all of them are shown */
export function propertiesOf(
	fields: readonly Field[],
	options: readonly Field[],
	gate?: Show,
): INodeProperties[] {
	const collection: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		...(gate && { displayOptions: { show: gate } }),
		options: optionProperties(fields, options),
	};
	return [...fields.map((field) => fieldProperty(field, gate)), collection];
}

function fieldProperty(field: Field, gate?: Show): INodeProperties {
	if (!gate && !field.showWhen) return propertyOf(field);
	return { ...propertyOf(field), displayOptions: { show: { ...gate, ...asShow(field.showWhen) } } };
}

function optionProperties(fields: readonly Field[], options: readonly Field[]): INodeProperties[] {
	return [...options]
		.sort((a, b) => compareNames(a.displayName, b.displayName))
		.map((option) => ({
			...propertyOf(option),
			...(option.showWhen && { displayOptions: optionGate(option.showWhen, fields, options) }),
		}));
}

/**
 * A field outside the collection is reached by a slash. Another option counts with its default while it is not added, which n8n
 * does not see: where the default fits, the option hides for the choices that do not.
 */
function optionGate(
	condition: Condition,
	fields: readonly Field[],
	options: readonly Field[],
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

function asShow(condition: Condition = {}): Show {
	return Object.fromEntries(Object.entries(condition).map(([name, values]) => [name, [...values]]));
}
