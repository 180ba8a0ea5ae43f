import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Container } from '@n8n/di';
import {
	BinaryDataService,
	ExecuteContext,
	ExecutionLifecycleHooks,
	SupplyDataContext,
} from 'n8n-core';
import { makeHandleToolInvocation } from 'n8n-core/dist/execution-engine/node-execution-context/utils/get-input-connection-data';
import type {
	ICredentialsHelper,
	ICredentialType,
	IDataObject,
	IHttpRequestHelper,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	IWorkflowExecuteAdditionalData,
	NodeApiError,
	StructuredChunk,
} from 'n8n-workflow';
import {
	createEmptyRunExecutionData,
	NodeConnectionTypes,
	NodeHelpers,
	Workflow,
} from 'n8n-workflow';

// n8n reads these when its services are created. They keep it from writing anywhere but to a temporary folder.
process.env.N8N_DEFAULT_BINARY_DATA_MODE = 'filesystem';
process.env.N8N_USER_FOLDER = path.join(tmpdir(), 'n8n-nodes-agent-workspace-unit');

export interface ContextOptions {
	readonly nodeType: INodeType;
	/** Values by credential type; headers that `authenticate` adds, by credential type. */
	readonly credentials?: Readonly<Record<string, IDataObject>>;
	readonly authenticate?: Readonly<Record<string, Readonly<Record<string, string>>>>;
	/** Credential types that fetch their own token, which their `authenticate` then sends. */
	readonly credentialTypes?: Readonly<Record<string, ICredentialType>>;
	/** Whether the credentials are OAuth2 ones with tokens, which n8n adds to requests, refreshes and stores. */
	readonly oAuth2?: boolean;
	readonly parameters?: IDataObject;
	readonly items?: INodeExecutionData[];
	readonly node?: Partial<INode>;
	readonly signal?: AbortSignal;
	readonly executionId?: string;
	readonly runIndex?: number;
	/** Called with each chunk that n8n would stream to a chat or webhook. */
	readonly onChunk?: (chunk: StructuredChunk) => Promise<void>;
	/** Called whenever a credential is read, with its type. */
	readonly onCredentialRead?: (type: string, itemIndex?: number) => void;
}

type GetDecrypted = Parameters<ICredentialsHelper['getDecrypted']>;

/** Parameters with the defaults of all others, by the properties of the node type and by what is given. */
const filledIn = new WeakMap<object, Map<string, INode['parameters']>>();

/** Adds the defaults as n8n's workflow does. For each run of many it would take longer than the run's own preparations. */
function fillIn(node: INode, { description }: INodeType): INode['parameters'] {
	const { properties } = description;
	const known = filledIn.get(properties) ?? new Map<string, INode['parameters']>();
	filledIn.set(properties, known);
	const key = JSON.stringify([node.type, node.typeVersion, node.parameters]);
	const all =
		known.get(key) ??
		NodeHelpers.getNodeParameters(
			properties,
			node.parameters,
			true,
			false,
			node,
			description,
		) ??
		{};
	known.set(key, all);
	return structuredClone(all);
}

/** Makes a workflow with the node in it, outside of a running n8n. */
function createWorkflowWithNode(options: ContextOptions) {
	const node: INode = {
		id: 'node-under-test',
		name: 'Node',
		type: 'test.node',
		typeVersion: 1,
		position: [0, 0],
		parameters: (options.parameters ?? {}) as INode['parameters'],
		credentials: Object.fromEntries(
			// Each run has its own credential, because what was learned of one's quota would slow down the next test.
			Object.keys(options.credentials ?? {}).map((type) => [
				type,
				{ id: `${type}-${randomUUID()}`, name: type },
			]),
		),
		...options.node,
	};
	node.parameters = fillIn(node, options.nodeType);
	// The workflow fills in the parameters of nodes whose type it finds.
	const found: { nodeType?: INodeType } = {};
	const nodeTypes = {
		getByName: () => found.nodeType,
		getByNameAndVersion: () => found.nodeType,
		getKnownTypes: () => ({}),
	} as unknown as INodeTypes;
	const workflow = new Workflow({
		id: 'w1',
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes,
	});
	found.nodeType = options.nodeType;
	return { workflow, node: workflow.getNode(node.name) ?? node };
}

/**
 * Makes n8n's own execute context, with its own HTTP helpers, around a node outside of a running n8n. Only what n8n's server
 * provides is ours: stored credentials and the lookup of node types.
 */
export function createExecuteContext(options: ContextOptions): ExecuteContext {
	const { workflow, node } = createWorkflowWithNode(options);
	const items = options.items ?? [{ json: {} }];
	const inputData = { main: [items] };
	return new ExecuteContext(
		workflow,
		node,
		additionalData(options),
		'manual',
		createEmptyRunExecutionData(),
		options.runIndex ?? 0,
		items,
		inputData,
		{ node, data: inputData, source: null },
		[],
		options.signal,
	);
}

/** Makes a function that calls the node as a tool through n8n's own code, including its tries. */
export function createToolCall(options: ContextOptions): (args: IDataObject) => Promise<string> {
	const { workflow, node } = createWorkflowWithNode(options);
	const data = additionalData(options);
	const run = createEmptyRunExecutionData();
	const contextOf = (runIndex: number) => {
		// As in n8n, a tool gets the input items of its agent.
		const input = { main: [options.items ?? [{ json: {} }]] };
		const executeData = { node, data: input, source: null };
		const type = NodeConnectionTypes.AiTool;
		return new SupplyDataContext(
			workflow,
			node,
			data,
			'manual',
			run,
			runIndex,
			[],
			input,
			type,
			executeData,
			[],
		);
	};
	return makeHandleToolInvocation(contextOf, node, options.nodeType, run);
}

function additionalData({
	credentials = {},
	authenticate = {},
	credentialTypes = {},
	oAuth2 = false,
	executionId,
	onChunk,
	onCredentialRead,
}: ContextOptions): IWorkflowExecuteAdditionalData {
	const stored = { ...credentials };
	const credentialsHelper = {
		getParentTypes: () => (oAuth2 ? ['googleOAuth2Api', 'oAuth2Api'] : []),
		isCredentialUsableByNode: () => true,
		getDecrypted: (...[, , type, mode, data, , values]: GetDecrypted) => {
			onCredentialRead?.(type, values?.itemIndex);
			const credential = { ...stored[type] };
			if (!values) return Promise.resolve(credential);
			const { workflow, runExecutionData, runIndex, itemIndex, node } = values;
			// As n8n's CredentialsHelper does.
			return Promise.resolve().then(() =>
				workflow.expression.getParameterValue(
					credential as INodeParameters,
					runExecutionData,
					runIndex,
					itemIndex,
					node.name,
					values.connectionInputData,
					mode,
					{},
					data,
					false,
				),
			);
		},
		preAuthentication: async (
			helpers: IHttpRequestHelper,
			values: IDataObject,
			type: string,
			_node: unknown,
			isExpired: boolean,
		) => {
			if (values.accessToken !== '' && !isExpired) return undefined;
			const issued = await credentialTypes[type]?.preAuthentication?.call(
				helpers,
				values as never,
			);
			if (issued) stored[type] = { ...stored[type], ...issued };
			return issued;
		},
		runPreAuthentication: () => Promise.resolve(undefined),
		updateCredentialsOauthTokenData: (
			_node: unknown,
			type: string,
			{ oauthTokenData }: IDataObject,
		) => {
			stored[type] = { ...stored[type], oauthTokenData };
			return Promise.resolve();
		},
		authenticate: (
			{ accessToken }: IDataObject,
			type: string,
			request: { headers?: object },
		) => {
			const own = type in credentialTypes && {
				authorization: `Bearer ${accessToken as string}`,
			};
			return Promise.resolve({
				...request,
				headers: { ...request.headers, ...authenticate[type], ...own },
			});
		},
	};
	return {
		credentialsHelper,
		executionId: executionId ?? 'execution-1',
		hooks: onChunk && hooksOf(onChunk),
		streamingEnabled: onChunk !== undefined,
	} as unknown as IWorkflowExecuteAdditionalData;
}

function hooksOf(onChunk: (chunk: StructuredChunk) => Promise<void>): ExecutionLifecycleHooks {
	const hooks = new ExecutionLifecycleHooks('manual', 'execution-1', { id: 'w1' } as never);
	hooks.addHandler('sendChunk', onChunk);
	return hooks;
}

export async function withBinaryData(): Promise<void> {
	await Container.get(BinaryDataService).init();
}

/** Puts the bytes that n8n stored into the items, as base64 in place of the reference to the file. */
export async function loadBinaryData(items: INodeExecutionData[]): Promise<INodeExecutionData[]> {
	for (const binary of items.flatMap((item) => Object.values(item.binary ?? {}))) {
		if (binary.id === undefined) continue;
		const bytes = await Container.get(BinaryDataService).getAsBuffer(binary);
		binary.data = bytes.toString('base64');
		delete binary.id;
	}
	return items;
}

export async function failureOf(promise: Promise<unknown>): Promise<NodeApiError> {
	const outcome = await promise.then(
		() => undefined,
		(error: unknown) => error as NodeApiError,
	);
	if (outcome === undefined) throw new Error('Expected a failure');
	return outcome;
}
