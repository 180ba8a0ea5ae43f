import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ICredentialType, INodeProperties, INodeType } from 'n8n-workflow';

import { AgentApi } from '../../credentials/AgentApi.credentials';
import { AgentSignatureApi } from '../../credentials/AgentSignatureApi.credentials';
import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { options as executeOptions } from '../../nodes/Agent/AgentExecute/parameters';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import { triggerOptions } from '../../nodes/Agent/AgentSessionTrigger/fields';
import { commonOptions } from '../../nodes/fields/commonOptions';
import type { Field } from '../../nodes/Workspace/operation';
import { resources, type Resource } from '../../nodes/Workspace/resources';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import type { Schema } from '../outputSchema';
import { parameterTable } from './parameterTable';

const nodes = path.join(__dirname, '..', '..', 'nodes');

/** The part of each page that follows from the code, by file. */
export const generated: Readonly<Record<string, () => string>> = {
	'agent-execute.md': () =>
		[
			...[new AgentApi(), new AgentSignatureApi()].map(credentialPart),
			agentPart(
				new AgentExecute(),
				executeOptions,
				'Agent/AgentExecute/__schema__/v1.0.0.json',
			),
		].join('\n\n'),
	'agent-session-trigger.md': () =>
		agentPart(
			new AgentSessionTrigger(),
			triggerOptions,
			'Agent/AgentSessionTrigger/__schema__/v1.0.0.json',
		),
	'workspace.md': workspacePart,
};

function credentialPart({ displayName, properties }: ICredentialType): string {
	return `**Fields of ${displayName}**\n\n${parameterTable(properties)}`;
}

function agentPart({ description }: INodeType, options: readonly Field[], schema: string): string {
	const { properties } = description;
	return [
		'## Parameters',
		parameterTable(properties),
		...collectionsAmong(properties).flatMap((collection) => [
			`## ${collection.displayName}`,
			parameterTable(optionsAmong([collection]), options),
		]),
		'## Result',
		result(schema),
	].join('\n\n');
}

const isCommon = ({ name }: INodeProperties) => commonOptions.some((one) => one.name === name);

function workspacePart(): string {
	const options = optionsAmong(new Workspace().description.properties);
	return [
		'## Options of every operation',
		parameterTable(options.filter(isCommon), commonOptions),
		...resources.flatMap((resource) =>
			resource.operations.map((one) => operationPart(resource, one.value)),
		),
	].join('\n\n');
}

function operationPart({ value, name, operations }: Resource, operation: string): string {
	const { properties } = new Workspace().description;
	const own = properties.filter(({ name: key, displayOptions }) => {
		const { resource, operation: operationOf } = displayOptions?.show ?? {};
		return (
			key !== 'toolDescription' &&
			resource?.includes(value) &&
			operationOf?.includes(operation)
		);
	});
	const definition = operations.find((one) => one.value === operation);
	const definitions: readonly Field[] = [
		...(definition?.fields ?? []),
		...(definition?.options ?? []),
	];
	const options = optionsAmong(own);
	// The page names them once. An operation without them would be a fault of the page.
	const missing = commonOptions.filter(
		(one) => !options.some(({ name: option }) => option === one.name),
	);
	expect(missing).toEqual([]);
	return [
		`## ${name}: ${definition?.name ?? ''}`,
		`${definition?.description ?? ''}${definition?.description.endsWith('.') ? '' : '.'} ${definition?.caution ?? ''}`.trim(),
		parameterTable(own, definitions),
		...collectionsAmong(own).flatMap((collection) => [
			`**${collection.displayName}**`,
			parameterTable(
				optionsAmong([collection]).filter((one) => !isCommon(one)),
				definitions,
			),
		]),
		'**Result**',
		result(`Workspace/__schema__/v1.0.0/${value}/${operation}.json`),
	].join('\n\n');
}

const collectionsAmong = (properties: readonly INodeProperties[]) =>
	properties.filter(({ type }) => type === 'collection');

/** The options of all collections. Of an option with several values, each of them. */
function optionsAmong(properties: readonly INodeProperties[]): INodeProperties[] {
	const options = collectionsAmong(properties).flatMap(
		(collection) => (collection.options ?? []) as INodeProperties[],
	);
	return options.flatMap((option) => {
		if (option.type !== 'fixedCollection' || option.typeOptions?.multipleValues) return option;
		const [group] = (option.options ?? []) as Array<{ values: INodeProperties[] }>;
		const { displayName } = option;
		return (group?.values ?? []).map((value) => ({
			...value,
			displayName: `${displayName}: ${value.displayName}`,
		}));
	});
}

/** The fields of a result and their types, as the editor shows them before the first run. */
function result(file: string): string {
	const schema = JSON.parse(readFileSync(path.join(nodes, file), 'utf8')) as Schema;
	return ['```', typeText(schema), '```'].join('\n');
}

function typeText({ type, properties, items }: Schema): string {
	if (type === 'array') return items ? `[${typeText(items)}]` : 'array';
	if (type !== 'object' || !properties || Object.keys(properties).length === 0) return type;
	return `{ ${Object.entries(properties)
		.map(([key, inner]) => `${key}: ${typeText(inner)}`)
		.join(', ')} }`;
}
