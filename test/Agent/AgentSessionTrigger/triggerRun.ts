import { Container } from '@n8n/di';
import { ExecutionLifecycleHooks, TriggerContext, TriggersAndPollers } from 'n8n-core';
import type {
	IDataObject,
	INode,
	INodeExecutionData,
	INodeTypes,
	IRun,
	ITriggerFunctions,
	ITriggerResponse,
	IWorkflowExecuteAdditionalData,
	IWorkflowSettings,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { Workflow } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server';
import { AgentSessionTrigger } from '../../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import { until } from '../session/tap';
import { withoutSniffing } from '../withoutSniffing';

export { until };

export const canaries = { signature: '0xcanary-signature', userPublicKey: '0xcanary-public-key' };

export interface TriggerOptions {
	readonly service: Pick<AgentService, 'url' | 'webSocketUrl' | 'apiKey'>;
	readonly parameters?: IDataObject;
	readonly workflowId?: string;
	readonly nodeId?: string;
	readonly settings?: IWorkflowSettings;
	readonly api?: IDataObject;
	readonly signer?: IDataObject;
	/** Called for each reading of a credential; may fail, or change what comes. */
	readonly onRead?: (type: string) => IDataObject | undefined;
	/** What n8n makes of an emit. Default: the execution ends at once. */
	readonly run?: (emitted: Emitted) => void;
	/** Whether n8n lacks `saveFailedExecution`, as older versions do. */
	readonly withoutFailedExecutions?: boolean;
}

/** The promise that n8n settles at the end of the execution. */
type DonePromise = Parameters<ITriggerFunctions['emit']>[2];

export interface Emitted {
	readonly items: INodeExecutionData[];
	readonly key: string | undefined;
	readonly done: DonePromise;
}

/** A trigger in n8n's own context. Only the part of n8n's server that starts executions is ours. */
export class TriggerRun {
	readonly emitted: Emitted[] = [];
	readonly failedExecutions: Array<Error & { readonly description?: string }> = [];
	readonly errors: Error[] = [];
	readonly logged: string[] = [];
	/** The lines of the log, each behind its level. */
	readonly leveled: string[] = [];
	readonly context: TriggerContext;
	readonly options: TriggerOptions;
	readonly mode: WorkflowExecuteMode;
	readonly activation: WorkflowActivateMode;
	readonly #workflow: Workflow;
	readonly #node: INode;
	readonly #additionalData: IWorkflowExecuteAdditionalData;
	#response: ITriggerResponse | undefined;

	constructor(options: TriggerOptions, mode: WorkflowExecuteMode = 'trigger') {
		this.options = options;
		this.mode = mode;
		this.activation = mode === 'manual' ? 'manual' : 'activate';
		const { workflowId = 'w1', nodeId = 'n1', parameters = {}, settings = {} } = options;
		this.#node = {
			id: nodeId,
			name: 'Trigger',
			type: 'test.trigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: { sessionIds: 's1', ...parameters },
			credentials: Object.fromEntries(
				['agentApi', 'agentSignatureApi'].map((type) => [type, { id: type, name: type }]),
			),
		};
		const nodeType = new AgentSessionTrigger();
		const getNodeType = () => nodeType;
		const nodeTypes: INodeTypes = {
			getByName: getNodeType,
			getByNameAndVersion: getNodeType,
			getKnownTypes: () => ({}),
		};
		const parts = { nodes: [this.#node], connections: {}, active: true, nodeTypes, settings };
		this.#workflow = new Workflow({ id: workflowId, ...parts });
		this.#additionalData = this.#server();
		this.context = this.#makeContext();
	}

	/** Items of all emits, one after the other. */
	get items(): INodeExecutionData[] {
		return this.emitted.flatMap(({ items }) => items);
	}

	get messages(): unknown[] {
		return this.items.map(({ json }) => json.message);
	}

	hasLogged(part: string): boolean {
		return this.logged.some((text) => text.includes(part));
	}

	/** Runs `trigger()` through n8n's own code, which swaps `emit` for a manual test. */
	async start(): Promise<this> {
		const triggers = Container.get(TriggersAndPollers);
		this.#response = await triggers.runTriggerFunction(
			this.#workflow,
			this.#node,
			() => this.context,
			this.#additionalData,
			this.mode,
			this.activation,
		);
		return this;
	}

	/** Waits for the end of a manual test. @returns the items that ended it */
	async test(): Promise<INodeExecutionData[]> {
		await this.#response?.manualTriggerFunction?.();
		const [items = []] = (await this.#response?.manualTriggerResponse) ?? [];
		return items;
	}

	async close(): Promise<void> {
		await this.#response?.closeFunction?.();
	}

	#makeContext(): TriggerContext {
		const { run = end } = this.options;
		const emit: ITriggerFunctions['emit'] = (data, _response, done, key) => {
			const emitted = { items: data[0] ?? [], key, done };
			this.emitted.push(emitted);
			run(emitted);
		};
		const emitError = (error: Error) => void this.errors.push(error);
		const saveFailedExecution = (error: Error) => void this.failedExecutions.push(error);
		const { mode, activation } = this;
		const common = [
			this.#workflow,
			this.#node,
			this.#additionalData,
			mode,
			activation,
		] as const;
		// For a test n8n makes the context without them, and puts its own in their place later.
		const context =
			mode === 'manual'
				? new TriggerContext(...common)
				: new TriggerContext(...common, emit, emitError, saveFailedExecution);
		withoutSniffing(context);
		const logAt = (level: string) => (text: string) => {
			this.logged.push(text);
			this.leveled.push(`${level} ${text}`);
		};
		const levels = ['debug', 'info', 'warn', 'error'];
		const logger = Object.fromEntries(levels.map((level) => [level, logAt(level)]));
		Object.defineProperty(context, 'logger', { value: logger });
		if (this.options.withoutFailedExecutions) {
			Object.defineProperty(context, 'saveFailedExecution', { value: undefined });
		}
		return context;
	}

	#server(): IWorkflowExecuteAdditionalData {
		const { service, api, signer, onRead } = this.options;
		const { url, webSocketUrl, apiKey } = service;
		const values: Record<string, IDataObject> = {
			agentApi: { deploymentUrl: url, webSocketUrl, apiKey, ...api },
			agentSignatureApi: { userId: '0xa1', allowedHosts: '', ...canaries, ...signer },
		};
		const credentialsHelper = {
			isCredentialUsableByNode: () => true,
			getParentTypes: () => [],
			getDecrypted: async (_data: unknown, _node: unknown, type: string) => {
				await Promise.resolve();
				return { ...values[type], ...onRead?.(type) };
			},
		};
		const executionId = 'e1';
		const hooks = new ExecutionLifecycleHooks(this.mode, executionId, { id: 'w1' } as never);
		const data: unknown = { credentialsHelper, hooks, executionId };
		return data as IWorkflowExecuteAdditionalData;
	}
}

/** The execution ends. */
export const end = ({ done }: Emitted) => done?.resolve({} as IRun);
/** n8n takes no items. */
export const refuse = ({ done }: Emitted) => done?.reject(new Error('no database'));
