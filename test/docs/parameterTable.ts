import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field } from '../../nodes/fields/field';

/** What a field is where nobody set it: an option says in the form only what it becomes when it is added. */
type Definition = Pick<Field, 'name' | 'default' | 'jsonDefault'>;

/** What the pages say of parameters, from the same objects that the form is made of. */
export function parameterTable(
	properties: readonly INodeProperties[],
	definitions: readonly Definition[] = [],
): string {
	const shown = properties.filter(
		({ type }) => type !== 'notice' && type !== 'hidden' && type !== 'collection',
	);
	const seen = new Set<string>();
	const rows = shown
		.filter(({ name }) => !seen.has(name) && seen.add(name))
		.map((one) =>
			row(
				one,
				definitions.find(({ name }) => name === one.name),
			),
		);
	if (rows.length === 0) return 'None.';
	return ['| in the form | key | default | meaning |', '| --- | --- | --- | --- |', ...rows].join(
		'\n',
	);
}

function row(
	property: INodeProperties,
	{ jsonDefault, ...definition }: Partial<Definition> = {},
): string {
	const { displayName, name, required } = property;
	const key = `\`${name}\`${required === true ? ' (required)' : ''}`;
	const inJson = jsonDefault === undefined ? '' : `; JSON mode: ${inCode(jsonDefault)}`;
	const isOther = ['boolean', 'fixedCollection'].includes(property.type);
	const value = isOther ? (definition.default ?? property.default) : property.default;
	return `| ${[displayName, key, `${defaultOf(property, value)}${inJson}`, meaningOf(property)].map(inCell).join(' | ')} |`;
}

function defaultOf({ type, typeOptions }: INodeProperties, value: unknown): string {
	if (type === 'resourceLocator') return '';
	if (value === '' || value === undefined) return '';
	if (JSON.stringify(value) === '{}') return '';
	return typeOptions?.password === true ? '' : inCode(value);
}

const inCode = (value: unknown) =>
	`\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

function meaningOf({ description, hint, options, type }: INodeProperties): string {
	const choices =
		type === 'options' || type === 'multiOptions'
			? ((options ?? []) as INodePropertyOptions[]).map(choiceText)
			: [];
	const told = [description, hint].filter((text) => text !== undefined).map(sentence);
	return [
		...told,
		...(choices.length > 0 && choices.length <= 8 ? [`Choices: ${choices.join('; ')}.`] : []),
	].join(' ');
}

const choiceText = ({ name, value, description }: INodePropertyOptions) =>
	`\`${String(value)}\` ${name}${description === undefined ? '' : ` (${description.replace(/\.$/, '')})`}`;

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

const inCell = (text: string) =>
	text
		.replaceAll('|', String.raw`\|`)
		.replaceAll('\n', ' ')
		.replaceAll(/<[^>]+>/g, '');
