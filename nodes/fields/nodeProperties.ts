import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyMode,
	NodeParameterValueType,
} from 'n8n-workflow';

import type { Field } from './field';

/** What n8n shows for a field, without the conditions under which it is shown. */
function buildProperty(field: Field): INodeProperties {
	const { displayName, name, description, hint, placeholder, noDataExpression } = field;
	const { builderHint = field.format === 'fileId' ? locatorBuilderHint : undefined } = field;
	return {
		displayName,
		name,
		// A copy, because n8n writes to the object that it is given.
		default: structuredClone(field.default) as NodeParameterValueType,
		...((field.requiredInForm ?? field.required) && { required: true }),
		...(description !== undefined && { description }),
		...(hint !== undefined && { hint }),
		...(placeholder !== undefined && { placeholder }),
		...(noDataExpression && { noDataExpression }),
		...(builderHint !== undefined && { builderHint: { propertyHint: builderHint } }),
		...buildTypeProperties(field),
	};
}

/** Compares alphabetically. The first call of `localeCompare` would cost n8n's start 5 ms. */
export function compareNames(a: string, b: string): number {
	if (a === b) return 0;
	return a < b ? -1 : 1;
}

function buildTypeProperties(
	field: Field,
): Pick<INodeProperties, 'type' | 'typeOptions' | 'options' | 'modes'> {
	const { type, typeOptions, minimum: minValue, maximum: maxValue, decimals: numberPrecision = 0 } = field;
	const given = typeOptions && { typeOptions };
	switch (type) {
		case 'resourceLocator':
			return { type, ...given, modes: buildLocatorModes(field) };
		case 'fixedCollection':
			return { type, typeOptions: { multipleValues: true }, options: buildCollectionOptions(field) };
		case 'options':
			return { type, ...given, options: field.options?.map((choice) => ({ ...choice })) };
		case 'number':
			return { type, typeOptions: { ...typeOptions, minValue, maxValue, numberPrecision } };
		default:
			return { type, ...given };
	}
}

/** Tells n8n's AI builder how to fill in a resource locator. */
const locatorBuilderHint =
	"Pass the whole object: { __rl: true, mode: 'id', value: '…' }, or mode 'url' with the address. Without a known ID, use mode 'list' with an empty value, and the user chooses. Never make up an ID.";

/** An empty list cannot say why it is empty. */
const listHint = "Something missing? 'Drive Access' in the credential determines what is listed.";

/** No mode has a `validation`: n8n would stop the whole node where one item's id is wrong. */
function buildLocatorModes({
	displayName,
	format,
	searchListMethod,
	placeholder,
}: Field): INodePropertyMode[] {
	const noun = displayName.toLowerCase();
	const list: INodePropertyMode = {
		...buildLocatorMode('From List', 'list', noun.includes('folder') ? 'My Drive' : `Select a ${noun}...`),
		type: 'list',
		typeOptions: { searchListMethod, searchable: true },
	};
	if (format === 'tab') return [list, buildLocatorMode('By Name', 'name', placeholder ?? 'e.g. Sheet1')];
	return [
		{ ...list, hint: listHint },
		buildLocatorMode('By URL', 'url', buildPlaceholderUrl(noun)),
		buildLocatorMode('By ID', 'id', 'e.g. 1Qm7xWc0aVbR2yKt4hL9'),
	];
}

function buildLocatorMode(displayName: string, name: string, placeholder: string): INodePropertyMode {
	const mode = { displayName, name, placeholder };
	return { ...mode, type: 'string' };
}

function buildPlaceholderUrl(noun: string): string {
	if (noun.includes('folder')) return 'e.g. https://drive.google.com/drive/folders/1Qm7xWc0aVbR2yKt4hL9';
	const kind = noun.includes('sheet') ? 'spreadsheets' : 'document';
	return `e.g. https://docs.google.com/${kind}/d/1Qm7xWc0aVbR2yKt4hL9/edit`;
}

function buildCollectionOptions({ displayName, pair, entries }: Field): INodeProperties['options'] {
	const { group = 'pair', key = 'name', value = 'value' } = pair ?? {};
	const text = (name: string): Field => {
		const displayName = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
		return { displayName, name, type: 'string', default: '' };
	};
	const { group: name, fields } = entries ?? { group, fields: [text(key), text(value)] };
	const singular = displayName.replace(/ies$/, 'y').replace(/s$/, '');
	return [{ displayName: singular, name, values: fields.map((field) => buildConditionalProperty(field)) }];
}

type ShowConditions = NonNullable<IDisplayOptions['show']>;
type ShowWhenCondition = NonNullable<Field['showWhen']>;

/** A node's parameters and, in one collection, its options. @param gate the condition under which all of them are shown */
export function buildProperties(
	fields: readonly Field[],
	options: readonly Field[],
	gate?: ShowConditions,
): INodeProperties[] {
	const collection: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		...(gate && { displayOptions: { show: gate } }),
		options: [...options]
			.sort((a, b) => compareNames(a.displayName, b.displayName))
			.map((option) => ({
				...buildProperty(option),
				...(option.type === 'boolean' && whenAdded(option)),
				...(option.showWhen && { displayOptions: buildOptionConditions(option.showWhen, fields, options) }),
			})),
	};
	const inForm = fields.filter(({ onlyIn }) => onlyIn !== 'json');
	return [...inForm.map((field) => buildConditionalProperty(field, gate)), collection];
}

/** Who adds a switch wants it: n8n shows the default when an option is added, saves it, and knows none for an option that was not. */
const whenAdded = (option: Field): Partial<INodeProperties> => ({
	default: true,
	...(option.default === false && { builderHint: { propertyHint: 'Off unless this option is added' } }),
});

/** A parameter of the node. @param gate the condition under which it is shown */
export function buildConditionalProperty(field: Field, gate?: ShowConditions): INodeProperties {
	if (!gate && !field.showWhen) return buildProperty(field);
	return {
		...buildProperty(field),
		displayOptions: { show: { ...gate, ...toShowConditions(field.showWhen) } },
	};
}

/**
 * The condition for an option. A slash reaches a field outside the collection. For an option that was not added, n8n knows no default:
 * if the default is one of the wanted values, the condition hides this option at all other values.
 */
function buildOptionConditions(
	condition: ShowWhenCondition,
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

const toShowConditions = (condition: ShowWhenCondition = {}): ShowConditions =>
	Object.fromEntries(Object.entries(condition).map(([name, values]) => [name, [...values]]));
