import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import { buildConditionalProperty, buildProperties } from '../fields/nodeProperties';
import { commonOptions } from '../fields/params';
import { operationChoices, type Resource, resources } from './resources';
import type { Field, Operation } from './operation';

/** Shown in the node's Settings tab, because most people never change it. */
const inputMode: INodeProperties = {
	displayName: 'Input Mode',
	name: 'inputMode',
	type: 'options',
	options: [
		{ name: 'Fields', value: 'fields', description: 'Choose the operation and fill in its fields' },
		{ name: 'JSON', value: 'json', description: 'One object defines the operation and its parameters' },
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
		placeholder: 'e.g. { "operation": "read", "spreadsheetId": "1Qm7x…", "range": "Sheet1!A1:D20" }',
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
	...resources
		.flatMap(({ operations }) => operations.flatMap(({ fields }) => fields))
		.filter(({ noDataExpression }) => noDataExpression)
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

/** What a model reads when the node is a tool. It gets only the labels of parameters from n8n, so each operation's description explains them. */
export const toolDescriptions: INodeProperties[] = [
	...resources.flatMap((resource) =>
		resource.operations.flatMap((operation) =>
			buildTextPerChoice(operation).map(({ text, show, hide }) =>
				buildToolDescription(text, {
					show: { '@tool': [true], resource: [resource.value], operation: [operation.value], ...show },
					hide: { inputMode: ['json'], ...hide },
				}),
			),
		),
	),
	buildToolDescription(buildInputObjectText(), { show: { '@tool': [true], inputMode: ['json'] } }),
];

function buildToolDescription(
	text: string,
	displayOptions: INodeProperties['displayOptions'],
): INodeProperties {
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

interface ToolText extends Pick<IDisplayOptions, 'show' | 'hide'> {
	readonly text: string;
}

/** A file that the user has chosen is no parameter. With an expression it may be the model's. */
function buildTextPerChoice(operation: Operation): ToolText[] {
	const { fields } = operation;
	const file = fields.find(({ isId, modes, required }) => isId && modes && required);
	if (!file) return buildTextPerSource(operation, () => true);
	const chosen = buildTextPerSource(operation, (field) => field !== file);
	const open = buildTextPerSource(operation, () => true);
	return [
		...chosen.map((text) => ({ ...text, hide: { [file.name]: [{ _cnd: { regex: '^(=|$)' } }] } })),
		...open.map((text) => ({ ...text, hide: { [file.name]: [{ _cnd: { regex: '^[^=]' } }] } })),
	];
}

/**
 * Where the user's choice in a dropdown decides what happens, or from which parameters, each choice has its own description. n8n takes
 * the last one that it may show, so under an expression that of the first choice counts.
 */
function buildTextPerSource(operation: Operation, isOpen: (field: Field) => boolean): ToolText[] {
	const { fields, modelDescriptions } = operation;
	const decidesWhatIsShown = (name: string) =>
		fields.some(({ showWhen = {} }) => Object.hasOwn(showWhen, name));
	const source = fields.find(
		({ name, options }) => name === modelDescriptions?.field || (options && decidesWhatIsShown(name)),
	);
	if (!source) return [{ text: buildOperationText(operation, isOpen) }];
	return (source.options ?? []).toReversed().map(({ value }) => ({
		text: buildOperationText(
			operation,
			(field) => isOpen(field) && (field.showWhen?.[source.name]?.includes(value) ?? true),
			modelDescriptions?.byValue[value],
		),
		show: { [source.name]: [value] },
	}));
}

/** Explains only the parameters that a model can fill in: what is chosen from a list stays with the user. */
function buildOperationText(operation: Operation, isShown: (field: Field) => boolean, told?: string): string {
	const { description, caution, fields } = operation;
	const chosen: ReadonlyArray<Field['type']> = ['options', 'multiOptions', 'fixedCollection'];
	const shown = fields.filter(
		(field) =>
			!chosen.includes(field.type) && !field.noDataExpression && field.onlyIn !== 'json' && isShown(field),
	);
	const end = description.endsWith('.') ? '' : '.';
	const introduction = told ?? `${description}${end}${caution === undefined ? '' : ` ${caution}`}`;
	const long = operation.toModel ? ' A long answer is shortened; its last line says how to continue.' : '';
	return [introduction + long, ...shown.map(buildParameterText)].join('\n');
}

function buildParameterText({ displayName, description, placeholder, required, isId, modes }: Field): string {
	const explanation =
		required && isId && modes ? `${description}: its ID or URL` : (description ?? placeholder);
	return `- ${displayName}${required ? '' : ' (optional)'}${explanation === undefined ? '' : `: ${htmlToPlainText(explanation)}`}`;
}

/** Removes the HTML that descriptions in the form may have. */
function htmlToPlainText(html: string): string {
	return html
		.replace(/<[^>]*>/g, '')
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&');
}

function buildInputObjectText(): string {
	return [
		'Works with Gmail, Google Sheets, Google Docs and Google Drive. Input Object is one JSON object: "operation", "resource" if it is ambiguous, and the keys of the operation (* = required):',
		...resources.flatMap((resource) =>
			resource.operations.map(({ value, fields, caution }) => {
				const keys = fields
					.filter(({ onlyIn }) => onlyIn !== 'fields')
					.map((field) => `${field.name}${isAlwaysRequired(field, fields) ? '*' : ''}`);
				return `${resource.value} ${value}: ${keys.join(', ')}${caution === undefined ? '' : `. ${caution}`}`;
			}),
		),
		'send also takes driveFiles (list of IDs or URLs), upload contentSource text, base64 or mailAttachment (attachment is its file name).',
	].join('\n');
}

/** Whether an input object must have the key unless it chooses otherwise. */
function isAlwaysRequired({ required, showWhen = {} }: Field, fields: readonly Field[]): boolean {
	const isDefault = ([name, values]: [string, ReadonlyArray<string | boolean>]) => {
		const chooser = fields.find((field) => field.name === name);
		const standard = chooser?.jsonDefault ?? chooser?.default;
		return values.some((value) => value === standard);
	};
	return required === true && Object.entries(showWhen).every(isDefault);
}

/** All parameters of the node, computed from the operations. */
export const properties: INodeProperties[] = [
	...toolDescriptions,
	{
		displayName: 'Authentication',
		name: 'authentication',
		type: 'options',
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
	...resources.flatMap(({ value: resource, operations }) =>
		operations.flatMap(({ value: operation, fields, options }) => {
			const gate = { inputMode: ['fields'], resource: [resource], operation: [operation] };
			return buildProperties(fields, [...options, ...commonOptions], gate);
		}),
	),
	inputMode,
	...jsonProperties,
];

function buildOperationDropdowns(resource: Resource): INodeProperties[] {
	const { defaultToolOperation: forTools } = resource;
	if (forTools === undefined) return [buildOperationDropdown(resource)];
	return [
		buildOperationDropdown(resource, { hide: { '@tool': [true] } }),
		buildOperationDropdown({ ...resource, defaultOperation: forTools }, { show: { '@tool': [true] } }),
	];
}

function buildOperationDropdown(
	{ value, operations, defaultOperation }: Resource,
	{ show, hide }: IDisplayOptions = {},
): INodeProperties {
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: operations.map(({ name, value: one, action, description }) => ({
			name,
			value: one,
			action,
			description,
		})),
		default: defaultOperation,
		// Not `show: { inputMode: ['fields'] }`: n8n saves no default values, so a change of the resource would keep the old operation.
		displayOptions: { show: { resource: [value], ...show }, hide: { inputMode: ['json'], ...hide } },
	};
}
