import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import { Workspace } from '../../nodes/Workspace/Workspace.node';

const nodes = [new Workspace(), new AgentExecute(), new AgentSessionTrigger()];
const properties = nodes.flatMap(({ description }) => description.properties);

/** The label of a field, also of one among the options. */
export function labelOf(field: string): string {
	const inside = properties.flatMap(({ options = [] }) =>
		options.filter((option) => 'displayName' in option),
	);
	const found = [...properties, ...inside].find(({ name }) => name === field);
	if (!found) throw new Error(`No node has '${field}'`);
	return found.displayName;
}

/** What a dropdown shows for a value. */
export function optionOf(field: string, value: string): string {
	for (const { name, options = [] } of properties) {
		const found = options.find((option) => 'value' in option && option.value === value);
		if (name === field && found) return found.name;
	}
	throw new Error(`No node has '${value}' in '${field}'`);
}
