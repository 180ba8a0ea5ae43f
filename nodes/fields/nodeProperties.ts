import type { IDisplayOptions, INodeProperties, NodeParameterValueType } from 'n8n-workflow';

import { compareNames } from '../core/text';
import { type Field, getCollectionName } from './field';

/** Builds n8n's property for a field, without the conditions under which n8n shows it. */
function buildProperty(field: Field): INodeProperties {
	const { displayName, name, type, description, hint, placeholder, noDataExpression } = field;
	return {
		...{ displayName, name, type, description, hint, placeholder, noDataExpression },
		// A copy, because n8n writes to the object that it is given.
		default: structuredClone(field.default) as NodeParameterValueType,
		required: (field.requiredInForm ?? field.required) || undefined,
		builderHint: field.builderHint ? { propertyHint: field.builderHint } : undefined,
		typeOptions: buildTypeOptions(field),
		options: buildOptions(field),
		modes: field.modes ? structuredClone([...field.modes]) : undefined,
	};
}

function buildTypeOptions(field: Field): INodeProperties['typeOptions'] {
	const { type, typeOptions, minimum, maximum, decimals = 0 } = field;
	if (type === 'fixedCollection') return { multipleValues: true, ...typeOptions };
	if (type !== 'number') return typeOptions;
	return { ...typeOptions, minValue: minimum, maxValue: maximum, numberPrecision: decimals };
}

function buildOptions(field: Field): INodeProperties['options'] {
	if (!field.entries) return field.options?.map((choice) => ({ ...choice }));
	const { group, fields } = field.entries;
	const singular = field.displayName.replace(/ies$/, 'y').replace(/s$/, '');
	const values = fields.map((entry) => buildConditionalProperty(entry));
	return [{ displayName: singular, name: group, values }];
}

const isInForm = ({ onlyIn }: Field) => onlyIn !== 'json';

type Conditions = NonNullable<IDisplayOptions['show']>;

/**
 * Builds a node's parameters and the collections of its options.
 * @param shownIf the condition under which all of them are shown
 */
export function buildProperties(
	fields: readonly Field[],
	options: readonly Field[],
	shownIf?: Conditions,
): INodeProperties[] {
	const formFields = fields.filter(isInForm);
	const properties = formFields.map((field) => buildConditionalProperty(field, shownIf));
	const formOptions = options.filter(isInForm);
	for (const name of new Set(['options', ...formOptions.map(getCollectionName)])) {
		const members = formOptions.filter((option) => getCollectionName(option) === name);
		const { displayName = 'Options', showWhen } = members[0]?.collection ?? {};
		const collection: Field = { displayName, name, type: 'collection', default: {}, showWhen };
		properties.push({
			...buildConditionalProperty(collection, shownIf),
			placeholder: 'Add option',
			options: buildEntries(members, fields),
		});
	}
	return properties;
}

/** Builds the entries of a collection. */
function buildEntries(options: readonly Field[], fields: readonly Field[]): INodeProperties[] {
	const entries = combineGroups(options).flatMap(splitByUse);
	entries.sort((a, b) => compareNames(a.displayName, b.displayName));
	return entries.map((option) => ({
		...buildProperty(option),
		...buildDefaultWhenAdded(option),
		displayOptions: buildOptionConditions(option, fields),
	}));
}

/**
 * Returns one entry for tools and one for workflows if an option has other conditions in a
 * workflow. n8n shows one of the two.
 */
function splitByUse(option: Field): Field[] {
	const { inWorkflowWhen, ...toolEntry } = option;
	if (!inWorkflowWhen) return [option];
	return [toolEntry, { ...toolEntry, onlyAsTool: false, showWhen: inWorkflowWhen }];
}

/** Puts the options of a group into one option with all of their values. */
function combineGroups(options: readonly Field[]): Field[] {
	return options.flatMap((option) => {
		const { optionGroup, collection } = option;
		if (!optionGroup) return option;
		const { name, displayName, key } = optionGroup;
		const fields = options.filter((other) => other.optionGroup?.name === name);
		if (option !== fields[0]) return [];
		return {
			...{ displayName, name, collection, default: {}, entries: { group: key, fields } },
			type: 'fixedCollection',
			typeOptions: { multipleValues: false },
		} as const;
	});
}

/**
 * Builds the default that an option gets when the user adds it. A switch is on, because whoever
 * adds it wants it. A fixedCollection has a first row, because n8n drops a collection without rows
 * as soon as another field changes.
 */
function buildDefaultWhenAdded(option: Field): Partial<INodeProperties> {
	if (option.entries) {
		const { group, fields } = option.entries;
		const row = Object.fromEntries(fields.map((field) => [field.name, field.default]));
		const rows = option.typeOptions?.multipleValues === false ? row : [row];
		return { default: { [group]: rows } as NodeParameterValueType };
	}
	if (option.type !== 'boolean') return {};
	const builderHint = { propertyHint: 'Off unless this option is added' };
	return option.default === true ? { default: true } : { default: true, builderHint };
}

/** Builds a parameter of the node. @param shownIf the condition under which it is shown */
export function buildConditionalProperty(field: Field, shownIf?: Conditions): INodeProperties {
	const show = { ...shownIf, ...structuredClone(field.showWhen) } as Conditions;
	return { ...buildProperty(field), displayOptions: { show } };
}

/**
 * Builds the condition for an option, which may depend on a parameter or on another option of its
 * collection.
 */
function buildOptionConditions(option: Field, fields: readonly Field[]): IDisplayOptions {
	const { onlyAsTool, showWhen = {} } = option;
	const show: Conditions = onlyAsTool === undefined ? {} : { '@tool': [onlyAsTool] };
	for (const [name, values] of Object.entries(showWhen)) {
		const isParameter = fields.some((field) => field.name === name);
		// A slash reaches a parameter outside the collection.
		show[isParameter ? `/${name}` : name] = [...values];
	}
	return { show };
}
