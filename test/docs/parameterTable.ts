import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

/** Defaults in JSON mode, by key, where they differ from the form's. */
export type JsonDefaults = ReadonlyMap<string, unknown>;

/** What the pages say of parameters, from the same objects that the form is made of. */
export function parameterTable(
	properties: readonly INodeProperties[],
	jsonDefaults: JsonDefaults = new Map(),
): string {
	const shown = properties.filter(
		({ type }) => type !== 'notice' && type !== 'hidden' && type !== 'collection',
	);
	const seen = new Set<string>();
	const rows = shown
		.filter(({ name }) => !seen.has(name) && seen.add(name))
		.map((one) => row(one, jsonDefaults));
	if (rows.length === 0) return 'None.';
	return ['| in the form | key | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function row(property: INodeProperties, jsonDefaults: JsonDefaults): string {
	const { displayName, name, required } = property;
	const key = `\`${name}\`${required === true ? ' (required)' : ''}`;
	const inJson = jsonDefaults.has(name) ? `; JSON mode: \`${String(jsonDefaults.get(name))}\`` : '';
	return `| ${[displayName, key, `${defaultOf(property)}${inJson}`, meaningOf(property)].map(inCell).join(' | ')} |`;
}

function defaultOf({ default: value, type, typeOptions }: INodeProperties): string {
	if (type === 'resourceLocator') return '';
	if (value === '' || value === undefined) return '';
	if (typeof value === 'object') return JSON.stringify(value) === '{}' ? '' : `\`${JSON.stringify(value)}\``;
	return typeOptions?.password === true ? '' : `\`${String(value)}\``;
}

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
