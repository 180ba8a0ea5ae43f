import { type FromAIArgument, type IExecuteFunctions, traverseNodeParameters } from 'n8n-workflow';

import { createRefusal } from './errors';

/**
 * Keys that n8n adds to a model's arguments: the tool's name after an approval, and an object with
 * all arguments.
 */
const n8nKeys = new Set(['tool', 'query']);

/**
 * Refuses an argument that no parameter takes. n8n would drop it, and a model that asks for a draft
 * would send instead. Such an argument arrives from AI Agent 3, which runs the tool as a node. AI
 * Agent 2 and n8n's MCP server drop it before the node can see it.
 * @throws NodeError 400 that names the arguments that the tool takes
 */
export function refuseUnknownArguments(context: IExecuteFunctions, itemIndex: number): void {
	const readArgument = context.getWorkflowDataProxy(itemIndex)['$fromAI'] as (
		key: string,
	) => unknown;
	// n8n up to 2.0 mixes the fields of the agent's input into the arguments, so nothing shows
	// which ones the model sent.
	if (readArgument('toolCallId') !== undefined) return;
	const knownKeys = findArgumentKeys(context);
	const unknownNames: string[] = [];
	for (const key of Object.keys(context.getInputData()[itemIndex]?.json ?? {})) {
		if (knownKeys.has(key) || n8nKeys.has(key) || !argumentKeyPattern.test(key)) continue;
		// The item also has the fields of the agent's input. Only what can be read as an argument
		// comes from the model.
		const value = readArgument(key) ?? '';
		if (value !== '') unknownNames.push(`'${key}'`);
	}
	if (unknownNames.length === 0) return;
	const taken = [...knownKeys].join(', ');
	const takenText = taken === '' ? 'It takes no arguments.' : `It takes: ${taken}.`;
	throw createRefusal(
		`This tool does not take ${unknownNames.join(', ')}`,
		`Nothing was done. ${takenText} Whoever set up the tool decides everything else.`,
	);
}

/** Matches the keys for which n8n's `$fromAI` does not throw. */
const argumentKeyPattern = /^[\w-]{1,64}$/;

/** Finds the keys of the arguments that the parameters of the node take. */
function findArgumentKeys(context: IExecuteFunctions): Set<string> {
	const toolArguments: FromAIArgument[] = [];
	traverseNodeParameters(context.getNode().parameters, toolArguments);
	return new Set(toolArguments.map(({ key }) => key));
}
