import type { INodeProperties } from 'n8n-workflow';

import type { Field, Operation } from './operation';
import { resources, type Resource } from './resources';

/**
 * What a model reads when the node is a tool. Of a parameter n8n tells it nothing but the label, so each operation's description
 * explains its parameters. n8n adds no description of its own where a node has this property.
 */
export const toolDescriptions: INodeProperties[] = [
	...resources.flatMap((resource) =>
		resource.operations.map((operation) =>
			toolDescription(operationText(operation), {
				show: { '@tool': [true], resource: [resource.value], operation: [operation.value] },
				hide: { inputMode: ['json'] },
			}),
		),
	),
	toolDescription(inputObjectText(), { show: { '@tool': [true], inputMode: ['json'] } }),
];

function toolDescription(text: string, displayOptions: INodeProperties['displayOptions']): INodeProperties {
	return {
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 4 },
		default: text,
		required: true,
		description: 'What the model reads about this tool. Add when the model should use it, and when not.',
		displayOptions,
	};
}

function operationText({ description, caution, fields }: Operation): string {
	const parameters = fields.flatMap((field) => (field.showWhen ? [] : parameterText(field)));
	return [`${sentence(description)}${caution === undefined ? '' : ` ${caution}`}`, ...parameters].join('\n');
}

function parameterText({ displayName, description, placeholder, required }: Field): string {
	const told = description ?? placeholder;
	return `- ${displayName}${required ? '' : ' (optional)'}${told === undefined ? '' : `: ${told}`}`;
}

function inputObjectText(): string {
	return [
		'Works with Gmail, Google Sheets, Google Docs and Google Drive. Input Object is one JSON object: "operation", "resource" if it is ambiguous, and the keys of the operation (* = required):',
		...resources.flatMap((resource) => resource.operations.map((operation) => keysText(resource, operation))),
		'write replaces existing content; send cannot be undone.',
	].join('\n');
}

function keysText(resource: Resource, { value, fields }: Operation): string {
	const keys = fields.map(({ name, required }) => `${name}${required ? '*' : ''}`);
	return `${resource.value} ${value}: ${keys.join(', ')}`;
}

function sentence(text: string): string {
	return text.endsWith('.') ? text : `${text}.`;
}
