// Nodes and connections of the workflows that tests and benchmarks create.
let counter = 0;

/** A node of a workflow; ids and positions are made up. */
export function node(
	name: string,
	type: string,
	parameters: Record<string, unknown> = {},
	more: Record<string, unknown> = {},
) {
	counter++;
	return {
		id: `node-${counter}`,
		name,
		type,
		typeVersion: 1,
		position: [counter * 200, 0],
		parameters,
		...more,
	};
}

/** Connects nodes in a row by their names: main output 0 to main input 0. */
export function connectInRow(...names: string[]): Record<string, unknown> {
	const pairs = names.slice(0, -1).map((from, index) => [from, names[index + 1]] as const);
	return Object.fromEntries(
		pairs.map(([from, to]) => [from, { main: [[{ node: to, type: 'main', index: 0 }]] }]),
	);
}

export const manualTrigger = () => node('Start', 'n8n-nodes-base.manualTrigger');

/** Makes the given items. */
export function items(name: string, values: readonly object[]) {
	return node(
		name,
		'n8n-nodes-base.code',
		{ jsCode: `return ${JSON.stringify(values)}.map((json) => ({ json }));` },
		{ typeVersion: 2 },
	);
}
