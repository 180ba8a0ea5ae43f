import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server.ts';
import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { overrideOptions } from '../../../nodes/Agent/AgentExecute/fields';
import { waitOptions } from '../../../nodes/Agent/AgentExecute/fields';
import {
	type ContextOptions,
	createExecuteContext,
	createToolCall,
	loadBinaryData,
} from '../../createExecuteContext';

export const apiKey = 'canary-api-key-7f3a';
export const signer = {
	userId: '0xa1',
	userPublicKey: '0xcanary-94b1d7',
	signature: '0xcanary-5be1c07a',
};

export interface RunOptions {
	readonly parameters?: IDataObject;
	readonly items?: INodeExecutionData[];
	readonly node?: Partial<INode>;
	readonly api?: IDataObject;
	readonly signer?: IDataObject;
	readonly signal?: AbortSignal;
	readonly executionId?: string;
	readonly onChunk?: ContextOptions['onChunk'];
	/** Called with each hint of the run. */
	readonly onHint?: (text: string) => void;
	/** Whether n8n offers no custom data for an execution. */
	readonly keepsNoCustomData?: boolean;
}

const node = new AgentExecute();

/** Puts options that a test names without their place to where the form has them. */
export function arrangeOptions({ options = {}, ...parameters }: IDataObject): IDataObject {
	const given = Object.entries(options as IDataObject);
	const pick = (names: readonly string[]): IDataObject =>
		Object.fromEntries(given.filter(([name]) => names.includes(name)));
	const waitNames = waitOptions.map(({ name }) => name as string);
	const overrideNames = overrideOptions.map(({ name }) => name as string);
	const moved = ['waitTimeoutSeconds', ...waitNames, ...overrideNames];
	const rest: IDataObject = Object.fromEntries(given.filter(([name]) => !moved.includes(name)));
	const override = pick(overrideNames);
	if (Object.keys(override).length > 0) rest.signatureOverride = { values: override };
	return {
		...pick(['waitTimeoutSeconds']),
		waitOptions: pick(waitNames),
		...parameters,
		options: rest,
	};
}

/** Runs Agent Execute in n8n's own context, with credentials for the service. */
export async function runExecute(
	{ url, webSocketUrl }: Pick<AgentService, 'url' | 'webSocketUrl'>,
	options: RunOptions = {},
): Promise<INodeExecutionData[]> {
	const context = createExecuteContext({
		nodeType: node,
		credentials: {
			agentApi: { deploymentUrl: url, webSocketUrl, apiKey, ...options.api },
			agentSignatureApi: { ...signer, ...options.signer },
		},
		authenticate: { agentApi: { 'x-api-key': apiKey } },
		items: options.items,
		node: options.node,
		signal: options.signal,
		executionId: options.executionId,
		onChunk: options.onChunk,
		parameters: {
			startStepName: 'start',
			task: 'Say hello',
			...arrangeOptions(options.parameters ?? {}),
		},
	});
	if (options.keepsNoCustomData)
		Object.defineProperty(context, 'customData', { value: undefined });
	const [items = []] = await node.execute.call(context);
	for (const { message } of context.hints) options.onHint?.(message);
	return await loadBinaryData(items);
}

/** Calls Agent Execute as a tool, with a service that sends no messages. @returns what the model gets */
export async function callTool(
	{ url, webSocketUrl }: Pick<AgentService, 'url' | 'webSocketUrl'>,
	parameters: IDataObject,
) {
	const nodeType = new AgentExecute();
	nodeType.description.name += 'Tool';
	const tool = createToolCall({
		nodeType,
		credentials: {
			agentApi: { deploymentUrl: url, webSocketUrl, apiKey },
			agentSignatureApi: signer,
		},
		authenticate: { agentApi: { 'x-api-key': apiKey } },
		node: { type: 'test.nodeTool' },
		parameters: { startStepName: 'start', task: 'Do it', ...arrangeOptions(parameters) },
	});
	return await tool({});
}

export const numbered = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, n) => ({ json: { n } }));
