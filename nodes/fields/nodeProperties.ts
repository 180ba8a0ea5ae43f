import type { IDisplayOptions, INodeProperties, NodeParameterValueType } from 'n8n-workflow';

import { compareNames } from '../core/text';
import type { Field } from './field';

/** Builds n8n's property for a field, without the conditions under which n8n shows it. */
function buildProperty(field: Field): INodeProperties {
	const { displayName, name, description, hint, placeholder, noDataExpression, builderHint } =
		field;
	return {
		...{ displayName, name, description, hint, placeholder, noDataExpression },
		// A copy, because n8n writes to the object that it is given.
		default: structuredClone(field.default) as NodeParameterValueType,
		...((field.requiredInForm ?? field.required) && { required: true }),
		...(builderHint !== undefined && { builderHint: { propertyHint: builderHint } }),
		...buildType(field),
	};
}

function buildType(
	field: Field,
): Pick<INodeProperties, 'type' | 'typeOptions' | 'options' | 'modes'> {
	const {
		type,
		typeOptions,
		minimum: minValue,
		maximum: maxValue,
		decimals: numberPrecision = 0,
	} = field;
	const typeOptionsPart = typeOptions && { typeOptions };
	switch (type) {
		case 'resourceLocator':
			return { type, ...typeOptionsPart, modes: structuredClone([...(field.modes ?? [])]) };
		case 'fixedCollection':
			return {
				type,
				typeOptions: { multipleValues: true },
				options: buildCollectionOptions(field),
			};
		case 'options':
			return {
				type,
				...typeOptionsPart,
				options: field.options?.map((choice) => ({ ...choice })),
			};
		case 'number':
			return { type, typeOptions: { ...typeOptions, minValue, maxValue, numberPrecision } };
		default:
			return { type, ...typeOptionsPart };
	}
}

function buildCollectionOptions(field: Field): INodeProperties['options'] {
	const { group: name, fields } = getEntries(field);
	const singular = field.displayName.replace(/ies$/, 'y').replace(/s$/, '');
	return [
		{
			displayName: singular,
			name,
			values: fields.map((entry) => buildConditionalProperty(entry)),
		},
	];
}

/** Returns the group and the fields of a fixedCollection. For `pairs`, the fields are a key and a value. */
function getEntries({ pair, entries }: Field): NonNullable<Field['entries']> {
	const { group = 'pair', key = 'name' } = pair ?? {};
	const fields = [key, 'value'].map((name): Field => {
		const displayName = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
		return { displayName, name, type: 'string', default: '' };
	});
	return entries ?? { group, fields };
}

type ShowConditions = NonNullable<IDisplayOptions['show']>;
type ValuesByName = Record<string, Array<string | boolean>>;

/** Builds a node's parameters and, in one collection, its options. @param gate the condition under which all of them are shown */
export function buildProperties(
	fields: readonly Field[],
	options: readonly Field[],
	gate?: ShowConditions,
) {
	const sortedOptions = options.toSorted((a, b) => compareNames(a.displayName, b.displayName));
	const collection: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		...(gate && { displayOptions: { show: gate } }),
		options: sortedOptions.map((option) => ({
			...buildProperty(option),
			...buildDefaultWhenAdded(option),
			...(option.showWhen && {
				displayOptions: buildOptionConditions(option.showWhen, fields, options),
			}),
		})),
	};
	const formFields = fields.filter(({ onlyIn }) => onlyIn !== 'json');
	return [...formFields.map((field) => buildConditionalProperty(field, gate)), collection];
}

/**
 * Builds the default that an option gets when the user adds it. A switch is on, because whoever adds it wants it. A collection has a first
 * row, because n8n drops a collection without rows as soon as another field changes.
 */
function buildDefaultWhenAdded(option: Field): Partial<INodeProperties> {
	if (option.type === 'fixedCollection') {
		const { group, fields } = getEntries(option);
		const row = Object.fromEntries(fields.map((field) => [field.name, field.default]));
		return { default: { [group]: [row] } as NodeParameterValueType };
	}
	if (option.type !== 'boolean') return {};
	const builderHint = { propertyHint: 'Off unless this option is added' };
	return { default: true, ...(option.default === false && { builderHint }) };
}

/** Builds a parameter of the node. @param gate the condition under which it is shown */
export function buildConditionalProperty(field: Field, gate?: ShowConditions): INodeProperties {
	if (!gate && !field.showWhen) return buildProperty(field);
	const show = { ...gate, ...structuredClone(field.showWhen) } as ShowConditions;
	return { ...buildProperty(field), displayOptions: { show } };
}

/**
 * Builds the condition for an option. A slash reaches a field outside the collection. n8n knows no default of an option that was not
 * added. So if that default is one of the values in the condition, the result hides this option at all other values.
 */
function buildOptionConditions(
	condition: NonNullable<Field['showWhen']>,
	fields: readonly Field[],
	options: readonly Field[],
): IDisplayOptions {
	const show: ValuesByName = {};
	const hide: ValuesByName = {};
	for (const [name, values] of Object.entries(structuredClone(condition) as ValuesByName)) {
		const siblingOption = options.find((option) => option.name === name);
		const choices = siblingOption?.options?.map(({ value }) => value) ?? [true, false];
		if (fields.some((field) => field.name === name)) show[`/${name}`] = values;
		else if (siblingOption && values.some((value) => value === siblingOption.default)) {
			hide[name] = choices.filter((choice) => !values.includes(choice));
		} else show[name] = values;
	}
	return {
		...(Object.keys(show).length > 0 && { show }),
		...(Object.keys(hide).length > 0 && { hide }),
	};
}
