import type { IDisplayOptions, INodeProperties, NodeParameterValueType } from 'n8n-workflow';

import { compareNames } from '../core/text';
import { type Field, getCollectionName } from './field';

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
				typeOptions: { multipleValues: true, ...typeOptions },
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

/** Builds a node's parameters and the collections of its options. @param gate the condition under which all of them are shown */
export function buildProperties(
	fields: readonly Field[],
	options: readonly Field[],
	gate?: ShowConditions,
): INodeProperties[] {
	const formFields = fields.filter(({ onlyIn }) => onlyIn !== 'json');
	const properties = formFields.map((field) => buildConditionalProperty(field, gate));
	const collectionNames = new Set(['options', ...options.map(getCollectionName)]);
	for (const name of collectionNames) {
		const members = options.filter((option) => getCollectionName(option) === name);
		const { displayName = 'Options', showWhen } = members[0]?.collection ?? {};
		const collection: Field = { displayName, name, type: 'collection', default: {}, showWhen };
		const entries = combineGroups(members).toSorted((a, b) =>
			compareNames(a.displayName, b.displayName),
		);
		properties.push({
			...buildConditionalProperty(collection, gate),
			placeholder: 'Add option',
			options: entries.map((option) => ({
				...buildProperty(option),
				...buildDefaultWhenAdded(option),
				displayOptions: buildOptionConditions(option, fields, options),
			})),
		});
	}
	return properties;
}

/** Puts the options of a group into one option with all of their values. */
function combineGroups(options: readonly Field[]): Field[] {
	const combinedOptions: Field[] = [];
	for (const option of options) {
		const { group } = option;
		const members = options.filter((other) => group && other.group?.name === group.name);
		if (!group) combinedOptions.push(option);
		else if (members[0] === option)
			combinedOptions.push({
				displayName: group.displayName,
				name: group.name,
				collection: option.collection,
				type: 'fixedCollection',
				typeOptions: { multipleValues: false },
				default: {},
				entries: { group: group.key, fields: members },
				showWhen: option.showWhen,
			});
	}
	return combinedOptions;
}

/**
 * Builds the default that an option gets when the user adds it. A switch is on, because whoever adds it wants it. A fixedCollection has a
 * first row, because n8n drops a collection without rows as soon as another field changes.
 */
function buildDefaultWhenAdded(option: Field): Partial<INodeProperties> {
	if (option.type === 'fixedCollection') {
		const { group, fields } = getEntries(option);
		const row = Object.fromEntries(fields.map((field) => [field.name, field.default]));
		const rows = option.typeOptions?.multipleValues === false ? row : [row];
		return { default: { [group]: rows } as NodeParameterValueType };
	}
	if (option.type !== 'boolean') return {};
	const builderHint = { propertyHint: 'Off unless this option is added' };
	return { default: true, ...(option.default === false && { builderHint }) };
}

/** Builds a parameter of the node. @param gate the condition under which it is shown */
export function buildConditionalProperty(field: Field, gate?: ShowConditions): INodeProperties {
	const show: ShowConditions = {
		...gate,
		...(structuredClone(field.showWhen) as ShowConditions | undefined),
	};
	if (field.onlyAsTool) show['@tool'] = [true];
	const property = buildProperty(field);
	return Object.keys(show).length === 0 ? property : { ...property, displayOptions: { show } };
}

/**
 * Builds the condition for an option. A slash reaches a field outside the collection. n8n knows no default of an option that was not
 * added. So if that default is one of the values in the condition, the result hides this option at all other values.
 */
function buildOptionConditions(
	option: Field,
	fields: readonly Field[],
	options: readonly Field[],
): IDisplayOptions | undefined {
	const show: ValuesByName = {};
	const hide: ValuesByName = {};
	if (option.onlyAsTool) show['@tool'] = [true];
	for (const [name, values] of Object.entries(
		structuredClone(option.showWhen ?? {}) as ValuesByName,
	)) {
		const otherOption = options.find((other) => other.name === name);
		if (fields.some((field) => field.name === name) || !otherOption) {
			show[`/${name}`] = values;
			continue;
		}
		const collectionName = getCollectionName(otherOption);
		const isSibling = collectionName === getCollectionName(option);
		const path = isSibling ? name : `/${collectionName}.${name}`;
		const choices = otherOption.options?.map(({ value }) => value) ?? [true, false];
		if (values.some((value) => value === otherOption.default))
			hide[path] = choices.filter((choice) => !values.includes(choice));
		else show[path] = values;
	}
	const conditions = {
		...(Object.keys(show).length > 0 && { show }),
		...(Object.keys(hide).length > 0 && { hide }),
	};
	return Object.keys(conditions).length > 0 ? conditions : undefined;
}
