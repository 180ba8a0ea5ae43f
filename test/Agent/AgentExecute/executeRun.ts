import type { IDataObject, INode, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	type ExecuteFields,
	startAgentService,
} from '../../../dev/agent-service/server.ts';
import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { overrideOptions, waitOptions } from '../../../nodes/Agent/AgentExecute/fields';
import {
	type ContextOptions,
	createExecuteContext,
	createToolCall,
	failureOf,
	loadBinaryData,
	withBinaryData,
} from '../../createExecuteContext';
import { until } from '../session/tap';
import { withoutSniffing } from '../withoutSniffing';

export const apiKey = 'canary-api-key-7f3a';
export const signer = {
	userId: '0xa1',
	userPublicKey: '0xcanary-94b1d7',
	signature: '0xcanary-5be1c07a',
};

export const goOn = { onError: 'continueRegularOutput' as const };
export const oneAtATime = { parallelRequests: 1 };

/** @returns a function that starts a service for a test; the service ends with the test */
export function serveEach(use: (service: AgentService) => void, common?: AgentServiceOptions) {
	let service: AgentService | undefined;
	beforeAll(withBinaryData);
	afterEach(async () => {
		await until(() => !service?.countOpenChannels());
		await service?.close();
	});
	return async (options: AgentServiceOptions = {}): Promise<void> => {
		service = await startAgentService({ apiKey, ...common, ...options });
		use(service);
	};
}

/** A service that refuses the calls of a session, while it should. */
export const refusing = (sessionId: string, isRefusing = () => true): AgentServiceOptions => ({
	execute: ({ body }) =>
		isRefusing() && (body as ExecuteFields).sessionId === sessionId
			? { status: 422, body: { message: 'bad step' } }
			: undefined,
});

export const bodiesOf = ({ requests }: AgentService): ExecuteFields[] =>
	requests.map(({ body }) => body as ExecuteFields);

export const sessionsOf = (service: AgentService): string[] =>
	bodiesOf(service).map(({ sessionId }) => sessionId);

/** Expects a failure with this status, whose message and description contain these texts. */
export async function expectFailure(
	running: Promise<unknown>,
	httpCode: number,
	message: string,
	description = '',
): Promise<NodeApiError> {
	const error = await failureOf(running);
	expect(error.httpCode).toBe(`${httpCode}`);
	expect(error.message).toContain(message);
	expect(error.description ?? '').toContain(description);
	return error;
}

export interface RunOptions {
	readonly parameters?: IDataObject;
	readonly items?: INodeExecutionData[];
	readonly node?: Partial<INode>;
	readonly api?: IDataObject;
	readonly signer?: IDataObject;
	readonly signal?: AbortSignal;
	readonly executionId?: string;
	readonly onChunk?: ContextOptions['onChunk'];
	readonly onCredentialRead?: ContextOptions['onCredentialRead'];
	/** Called with each line of n8n's log at level info. */
	readonly onLog?: (text: string) => void;
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
		onCredentialRead: options.onCredentialRead,
		parameters: {
			startStepName: 'start',
			task: 'Say hello',
			...arrangeOptions(options.parameters ?? {}),
		},
	});
	if (options.keepsNoCustomData)
		Object.defineProperty(context, 'customData', { value: undefined });
	withoutSniffing(context);
	if (options.onLog) context.logger.info = options.onLog;
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
			agentSignatureApi: { ...signer },
		},
		authenticate: { agentApi: { 'x-api-key': apiKey } },
		node: { type: 'test.nodeTool' },
		parameters: { startStepName: 'start', task: 'Do it', ...arrangeOptions(parameters) },
	});
	return await tool({});
}

export const numbered = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, n) => ({ json: { n } }));
