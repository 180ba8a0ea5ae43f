import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import { joinSentences } from '../core/text';
import { buildConditionalProperty, buildProperties } from '../fields/nodeProperties';
import { commonOptions } from '../fields/commonOptions';
import { operationChoices, type Resource, resources } from './resources';
import {
	type Field,
	getNodeFields,
	isInputKey,
	type Operation,
	type ResourceName,
} from './operation';

/** Shown in the node's Settings tab, because most people never change it. */
const inputMode: INodeProperties = {
	displayName: 'Input Mode',
	name: 'inputMode',
	type: 'options',
	options: [
		{
			name: 'Fields',
			value: 'fields',
			description: 'Choose the operation and fill in its fields',
		},
		{
			name: 'JSON',
			value: 'json',
			description: 'One object defines the operation and its parameters',
		},
	],
	default: 'fields',
	isNodeSetting: true,
	description: 'How to define the operation and its parameters',
};

const jsonModeDisplay = { show: { inputMode: ['json'] } };

const jsonProperties: INodeProperties[] = [
	{
		displayName: 'Input Object',
		name: 'inputObject',
		type: 'json',
		default: '{}',
		typeOptions: { rows: 8 },
		hint: 'For example, { "operation": "send", "to": "name@example.com", "subject": "Hello", "body": "…" }',
		placeholder:
			'e.g. { "operation": "read", "spreadsheetId": "1Qm7x…", "range": "Sheet1!A1:D20" }',
		description:
			"The operation, its parameters and its options in one flat object. To build it from the item's data, use an expression that returns an object.",
		builderHint: {
			propertyHint:
				"One expression for the whole object, such as {{ { operation: 'send', to: $json.email, subject: 'Hello', body: $json.text } }}, with the parameter names of the operation as keys, all at one level. Do not put expressions inside JSON text. Prefer inputMode fields, unless the operation is only known when the workflow runs.",
		},
		displayOptions: jsonModeDisplay,
	},
	{
		displayName: 'Allowed Operations',
		name: 'allowedOperations',
		type: 'multiOptions',
		noDataExpression: true,
		options: operationChoices,
		default: [],
		description:
			'The operations that an input object may use. All others are rejected before anything is sent. If nothing is chosen, all operations are allowed. Choose operations if the input object comes from outside, such as from a webhook or a model.',
		displayOptions: jsonModeDisplay,
	},
	// Fields without expressions are no keys of the input object, which may come from outside. The
	// user sets them in the node.
	...resources
		.flatMap(({ operations }) => operations.flatMap(getNodeFields))
		.map((field) => buildConditionalProperty(field, jsonModeDisplay.show)),
	{
		displayName: 'Allow File Paths',
		name: 'allowFilePaths',
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description:
			'Whether an upload may read files on the machine that n8n runs on. Leave it off if the input object comes from outside.',
		displayOptions: jsonModeDisplay,
	},
];

/** The options with which a model continues a long answer. */
const continuationOptions = new Set(['pageToken', 'startCharacter', 'startRow']);

/**
 * The description that a model reads when the node is a tool. n8n adds the labels of the parameters
 * that the model may fill in.
 */
export const toolDescriptions: INodeProperties[] = [
	...resources.flatMap(({ value, operations }) =>
		operations.map((operation) => buildOperationDescription(value, operation)),
	),
	buildToolDescription(buildInputObjectText(), {
		show: { '@tool': [true], inputMode: ['json'] },
	}),
];

function buildToolDescription(text: string, displayOptions: IDisplayOptions): INodeProperties {
	return {
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 4 },
		default: text,
		required: true,
		description:
			'What the model reads about this tool. Add when the model should use it, and when not.',
		displayOptions,
	};
}

/**
 * Builds what the model reads. The default text cannot name the file. `{{ $parameter.documentId }}`
 * would give only its ID, and an expression for its title needs the name of the node:
 * `{{ $('Add guest').params.documentId.cachedResultName }}`.
 */
function buildOperationDescription(
	resource: ResourceName,
	{ value, fields, options, modelDescription, caution }: Operation,
): INodeProperties {
	const show = { '@tool': [true], resource: [resource], operation: [value] };
	const fileField = fields.find(({ isId, modes, required }) => isId && modes && required);
	const continuation = options.find(({ name }) => continuationOptions.has(name));
	const text = joinSentences(
		modelDescription,
		caution,
		fileField && `${fileField.displayName}, if available: ID or URL.`,
		continuation && `${continuation.displayName}, if available, continues a long answer.`,
	);
	return buildToolDescription(text, { show, hide: { inputMode: ['json'] } });
}

function buildInputObjectText(): string {
	const lines = [
		'Works with Gmail, Google Sheets, Google Docs and Google Drive. Input Object is one JSON object: "operation", "resource" if it is ambiguous, and the keys of the operation (* = required):',
	];
	for (const { value: resource, operations } of resources)
		for (const { value, fields, caution } of operations) {
			const keys = fields
				.filter(isInputKey)
				.map((field) =>
					isRequiredByDefault(field, fields) ? `${field.name}*` : field.name,
				);
			const keysText = `${resource} ${value}: ${keys.join(', ')}`;
			lines.push(caution === undefined ? keysText : `${keysText}. ${caution}`);
		}
	// Written by hand, because the lines above name neither options, such as driveFiles, nor the
	// choices of a field.
	lines.push(
		'send also takes driveFiles (list of IDs or URLs), upload contentSource text, base64 or mailAttachment (attachment is its file name).',
	);
	return lines.join('\n');
}

/**
 * Whether an input object requires the key of a field if all choices, such as Content Source, have
 * their defaults.
 */
function isRequiredByDefault({ required, showWhen = {} }: Field, fields: readonly Field[]) {
	const includesDefault = ([name, values]: [string, ReadonlyArray<string | boolean>]) => {
		const decidingField = fields.find((otherField) => otherField.name === name);
		const defaultValue = decidingField?.jsonDefault ?? decidingField?.default;
		return values.some((value) => value === defaultValue);
	};
	return required === true && Object.entries(showWhen).every(includesDefault);
}

/**
 * Properties on which others depend come first. n8n resolves the properties several times for each
 * execution, and goes over one again for each property that it depends on and that comes later.
 * With the descriptions in front, this takes three times as long.
 */
export const properties: INodeProperties[] = [
	inputMode,
	{
		displayName: 'Authentication',
		name: 'authentication',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'OAuth2', value: 'oAuth2' },
			{ name: 'Service Account', value: 'serviceAccount' },
		],
		default: 'oAuth2',
	},
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ name, value, description }) => ({ name, value, description })),
		default: 'mail',
		displayOptions: { show: { inputMode: ['fields'] } },
	},
	...resources.flatMap(buildOperationDropdowns),
	...toolDescriptions,
	...resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value: operation, fields, options }) => {
			const show = { inputMode: ['fields'], resource: [resource], operation: [operation] };
			return buildProperties(fields, [...options, ...commonOptions], show);
		}),
	),
	...jsonProperties,
];

function buildOperationDropdowns(resource: Resource): INodeProperties[] {
	const { operations, defaultOperation, toolOperation } = resource;
	const buildDropdown = (
		defaultValue: string,
		{ show, hide }: IDisplayOptions = {},
	): INodeProperties => ({
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: operations.map(({ name, value, action, description }) => ({
			name,
			value,
			action,
			description,
		})),
		default: defaultValue,
		// With `show: { inputMode: ['fields'] }`, a change of the resource would keep the old
		// operation, because n8n saves no default values.
		displayOptions: {
			show: { resource: [resource.value], ...show },
			hide: { inputMode: ['json'], ...hide },
		},
	});
	if (toolOperation === undefined) return [buildDropdown(defaultOperation)];
	const asTool = { '@tool': [true] };
	return [
		buildDropdown(defaultOperation, { hide: asTool }),
		buildDropdown(toolOperation, { show: asTool }),
	];
}
