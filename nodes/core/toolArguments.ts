import { type FromAIArgument, type IExecuteFunctions, traverseNodeParameters } from 'n8n-workflow';

import { createRefusal } from './errors';

/** What n8n puts among a model's arguments: the tool's name after an approval, and an object that holds all of them. */
const ownKeys = new Set(['tool', 'query']);

/**
 * Refuses an argument that no parameter takes. n8n would drop it, and a model that asks for a draft would send instead. n8n's AI Agent 2
 * and its MCP server drop such an argument before the node can see it.
 * @throws NodeError 400 that names the arguments that there are
 */
export function refuseUnknownArguments(context: IExecuteFunctions, itemIndex: number): void {
	const readArgument = context.getWorkflowDataProxy(itemIndex)['$fromAI'] as (key: string) => unknown;
	// n8n up to 2.0 mixes the fields of the agent's input into the arguments, so nothing shows which ones the model sent.
	if (readArgument('toolCallId') !== undefined) return;
	const found: FromAIArgument[] = [];
	traverseNodeParameters(context.getNode().parameters, found);
	const known = new Set(found.map(({ key }) => key));
	// The item also has the fields of the agent's input. Only what can be read as an argument comes from the model.
	const isUnknown = (key: string) =>
		/^[\w-]{1,64}$/.test(key) && !known.has(key) && !ownKeys.has(key) && (readArgument(key) ?? '') !== '';
	const unknown = Object.keys(context.getInputData()[itemIndex]?.json ?? {}).filter(isUnknown);
	if (unknown.length === 0) return;
	throw createRefusal(
		`This tool does not take ${unknown.map((key) => `'${key}'`).join(', ')}`,
		`Nothing was done. ${known.size === 0 ? 'It takes no arguments.' : `It takes: ${[...known].join(', ')}.`} Whoever set up the tool decides everything else.`,
	);
}
