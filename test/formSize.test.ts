import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import { AgentExecute } from '../nodes/Agent/AgentExecute/AgentExecute.node';
import { AgentSessionTrigger } from '../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import { Workspace } from '../nodes/Workspace/Workspace.node';

/** How many labels a person may have to read in all forms, and how many under one "Add option". */
const maxLabels = 150;
const maxOptions = 10;

const forms = [new AgentExecute(), new AgentSessionTrigger(), new Workspace()].map(
	({ description }) => description.properties,
);

function getParts({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type !== 'collection' && type !== 'fixedCollection') return [];
	const parts = options as Array<INodeProperties | INodePropertyCollection>;
	return parts.flatMap((part) => ('values' in part ? part.values : part));
}

/** The labels of a field and of everything in it. */
function listLabels(property: INodeProperties): string[] {
	const { displayName, type } = property;
	if (type === 'hidden' || type === 'notice') return [];
	return [displayName, ...getParts(property).flatMap(listLabels)];
}

test(`a person reads at most ${maxLabels} labels`, () => {
	const counts = forms.map((properties) => new Set(properties.flatMap(listLabels)).size);
	expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(maxLabels);
});

test(`no "Add option" lists more than ${maxOptions}`, () => {
	const isForPeople = ({ displayOptions }: INodeProperties) =>
		!displayOptions?.show?.['@tool']?.includes(true);
	const longLists = forms.flat().flatMap((property) => {
		if (property.type !== 'collection') return [];
		const options = getParts(property).filter(isForPeople);
		const names = new Set(options.map(({ name }) => name));
		const place = JSON.stringify(property.displayOptions?.show ?? {});
		return names.size > maxOptions ? [`${place} ${property.displayName}: ${names.size}`] : [];
	});
	expect(longLists).toEqual([]);
});
