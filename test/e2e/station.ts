import { readFileSync } from 'node:fs';
import path from 'node:path';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../dev/agent-service/server.ts';
import type { NodeItem, WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { freePort } from '../../dev/n8n/startN8n.ts';
import { type Credentials, secrets, storeAgent } from './credentials';
import { node, type SharedN8n } from './startTestN8n';
import { inRow, triggerType } from './workflows';

export type Stored = WorkflowDefinition & { id: string; versionId: string };

/** A stand-in of the agent service, an n8n with credentials for it, and the workflows that a test publishes. */
export class Station<N8n extends SharedN8n = SharedN8n> {
	service!: AgentService;
	n8n!: N8n;
	credentials: Credentials = {};
	readonly #published: Stored[] = [];
	/** What the trigger gave, by execution: n8n is asked once for each that has ended. */
	readonly #given = new Map<string, readonly NodeItem[]>();

	constructor(startN8n: () => Promise<N8n>) {
		beforeAll(() => this.#start(startN8n));
		afterAll(async () => {
			await this.n8n.remove();
			await this.service.close();
		});
		beforeEach(() => {
			this.service.upgrades.length = 0;
		});
		// After a workflow is unpublished, no channel is left, whatever happened before (#13437).
		afterEach(async () => {
			for (const stored of this.#published.splice(0)) await this.n8n.api.deactivate(stored);
			await until(() => this.service.countOpenChannels() === 0);
		});
	}

	/** By default, on a port that stays free until a test starts the service there again. */
	async serve({ port, ...options }: AgentServiceOptions = {}): Promise<void> {
		const { apiKey } = secrets;
		this.service = await startAgentService({
			apiKey,
			port: port ?? (await freePort()),
			...options,
		});
	}

	/** An example with the credentials for the stand-in. */
	example(file: string): WorkflowDefinition {
		const text = readFileSync(path.join(__dirname, '..', '..', 'examples', file), 'utf8');
		const workflow = JSON.parse(text) as WorkflowDefinition;
		const { credentials } = this;
		const nodes = workflow.nodes.map((one) =>
			String(one.type).startsWith('n8n-nodes-agent-workspace')
				? { ...one, credentials }
				: one,
		);
		return { ...workflow, nodes };
	}

	/** A workflow that listens to the session of its own name. */
	workflow(name: string, parameters: object = {}): WorkflowDefinition {
		const { credentials } = this;
		const listening = { sessionIds: name, ...parameters };
		const trigger = node('Trigger', triggerType, listening, { credentials });
		return inRow(name, trigger, node('Done', 'n8n-nodes-base.noOp'));
	}

	async publish(definition: WorkflowDefinition): Promise<Stored> {
		const stored = await this.n8n.api.createWorkflow(definition);
		this.#published.push(stored);
		await this.n8n.api.activate(stored);
		return stored;
	}

	/** Publishes the workflow once more, with other options of its trigger. */
	async publishAgain({ id, name, nodes, versionId }: Stored, options: object): Promise<Stored> {
		const [trigger = {}] = this.workflow(name, { options }).nodes;
		const [first, ...others] = nodes;
		const changed = [{ ...first, parameters: trigger.parameters }, ...others];
		const saved = await this.n8n.api.request<Stored>('PATCH', `workflows/${id}`, {
			nodes: changed,
			versionId,
		});
		await this.n8n.api.activate(saved);
		return saved;
	}

	/** A condition: the session has one channel. */
	isOpen(sessionId: string): () => boolean {
		return () => this.service.countOpenChannels(sessionId) === 1;
	}

	async executions(filter: object): Promise<string[]> {
		const text = encodeURIComponent(JSON.stringify(filter));
		const found: string[] = [];
		for (let cursor = ''; ;) {
			const { results, nextCursor } = await this.n8n.api.request<{
				results: Array<{ id: string }>;
				/** n8n before 2.40 has none; it gives the first 100. */
				nextCursor?: string | null;
			}>('GET', `executions?limit=100&filter=${text}${cursor}`);
			found.push(...results.map(({ id }) => id));
			if (!nextCursor) return found;
			cursor = `&cursor=${nextCursor}`;
		}
	}

	/** What the trigger gave to all executions of the workflow so far, oldest first. */
	async itemsOf({ id }: Stored): Promise<Array<Record<string, unknown>>> {
		const found: Array<Record<string, unknown>> = [];
		for (const execution of (
			await this.executions({ workflowId: id, status: ['success'] })
		).reverse()) {
			const items = this.#given.get(execution) ?? (await this.#readItems(execution));
			found.push(...items.map(({ json }) => json));
		}
		return found;
	}

	async #readItems(execution: string): Promise<readonly NodeItem[]> {
		const { resultData } = await this.n8n.api.execution(execution);
		const items = resultData.runData.Trigger?.[0]?.data?.main?.[0] ?? [];
		this.#given.set(execution, items);
		return items;
	}

	async messagesOf(stored: Stored): Promise<unknown[]> {
		return (await this.itemsOf(stored)).map(({ message }) => message);
	}

	async #start(startN8n: () => Promise<N8n>): Promise<void> {
		await this.serve();
		this.n8n = await startN8n();
		this.credentials = await storeAgent(this.n8n.api, this.service);
	}
}

/** Looks more and more seldom, because each look at n8n takes it some milliseconds of its processor. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	const begin = Date.now();
	while (!(await condition())) {
		const pause = Math.min(500, 30 + (Date.now() - begin) / 10);
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
}
