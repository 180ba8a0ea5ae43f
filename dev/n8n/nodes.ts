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

/** Tools hang below the node that calls them. */
export function connectTools(names: readonly string[], caller: string): Record<string, unknown> {
	const connection = { ai_tool: [[{ node: caller, type: 'ai_tool', index: 0 }]] };
	return Object.fromEntries(names.map((name) => [name, connection]));
}

interface AgentOptions {
	/** Credential of the chat model. */
	readonly openAiApi: object | undefined;
	readonly typeVersion?: number;
	/** What the agent is asked to do. */
	readonly text?: string;
}

/** n8n's AI Agent with a chat model and tools. */
export function buildAgentWorkflow(
	tools: ReadonlyArray<ReturnType<typeof node>>,
	{ openAiApi, typeVersion = 3.1, text = 'Work.' }: AgentOptions,
) {
	const agent = node(
		'AI Agent',
		'@n8n/n8n-nodes-langchain.agent',
		{ promptType: 'define', text, options: { maxIterations: 30 } },
		{ typeVersion },
	);
	const model = node(
		'Model',
		'@n8n/n8n-nodes-langchain.lmChatOpenAi',
		{ model: { __rl: true, mode: 'id', value: 'scripted' }, options: { maxRetries: 0 } },
		// 1.3 uses the Responses API by default, 1.2 the chat completions.
		{ typeVersion: typeVersion >= 3 ? 1.3 : 1.2, credentials: { openAiApi } },
	);
	const toAgent = (type: string) => ({ [type]: [[{ node: 'AI Agent', type, index: 0 }]] });
	return {
		name: text,
		nodes: [manualTrigger(), agent, model, ...tools],
		connections: {
			Start: toAgent('main'),
			Model: toAgent('ai_languageModel'),
			...connectTools(
				tools.map((tool) => tool.name),
				'AI Agent',
			),
		},
	};
}
