import { parse } from 'flatted';

/**
 * The owner of all our n8n instances, which are for development and tests only and reachable only on
 * loopback.
 */
export const owner = {
	email: 'owner@example.com',
	firstName: 'Dev',
	lastName: 'Owner',
	password: 'Agent-Workspace-1',
} as const;

/** Milliseconds that a call may take: long enough for a busy machine, and shorter than the test that waits for it. */
const patience = 300_000;

export interface WorkflowDefinition {
	readonly id?: string;
	readonly name: string;
	readonly nodes: ReadonlyArray<Record<string, unknown>>;
	readonly connections: Readonly<Record<string, unknown>>;
	readonly settings?: Readonly<Record<string, unknown>>;
	readonly [key: string]: unknown;
}

export interface NodeItem {
	readonly json: Record<string, unknown>;
	readonly binary?: Record<string, Record<string, unknown>>;
	readonly pairedItem?: unknown;
}

interface NodeRun {
	readonly startTime: number;
	/** Milliseconds. */
	readonly executionTime: number;
	readonly executionStatus: string;
	readonly error?: Record<string, unknown> & { message: string; description?: string };
	readonly data?: { main?: Array<NodeItem[] | null> };
	readonly hints?: Array<{ message: string }>;
	/** Data about the node's run, such as what the node adds to its span in a trace. */
	readonly metadata?: { readonly tracing?: Record<string, unknown> };
}

export interface Execution {
	readonly id: string;
	readonly status: string;
	readonly startedAt: string;
	readonly stoppedAt?: string;
	readonly mode: string;
	readonly resultData: {
		readonly runData: Record<string, NodeRun[]>;
		readonly error?: Record<string, unknown> & { message: string; description?: string };
		/** n8n's name for the execution's custom data. */
		readonly metadata?: Record<string, string>;
	};
	/** The data as stored by n8n, for searches. */
	readonly raw: string;
}

interface TriggerWait {
	readonly timeoutMilliseconds?: number;
	/** n8n's word for what started it, which is `webhook` for a form. */
	readonly mode?: 'manual' | 'trigger' | 'webhook';
}

/** What n8n answers to a question for executions. */
interface Listed {
	readonly results: ReadonlyArray<{ readonly id: string; readonly mode: string }>;
}

/** n8n's REST API, used like the editor does. */
export class N8nApi {
	readonly url: string;
	/** Cookie of the owner's sign-in. */
	readonly cookie: string;

	constructor(url: string, cookie: string) {
		this.url = url;
		this.cookie = cookie;
	}

	/** Signs in. On a new user folder, the owner is created first. */
	static async signIn(url: string): Promise<N8nApi> {
		const post = async (path: string, body: object) =>
			await fetch(`${url}/rest/${path}`, {
				method: 'POST',
				headers: { ...everyCall, 'content-type': 'application/json' },
				body: JSON.stringify(body),
			});
		let answer = await post('owner/setup', owner);
		const login = () =>
			post('login', { emailOrLdapLoginId: owner.email, password: owner.password });
		if (!answer.ok) answer = await login();
		// n8n accepts a few sign-ins of a user in a minute.
		for (let waits = 0; answer.status === 429 && waits < 15; waits++) {
			await new Promise((resolve) => setTimeout(resolve, 5000));
			answer = await login();
		}
		if (!answer.ok)
			throw new Error(`n8n refused the sign-in: ${answer.status} ${await answer.text()}`);
		const cookie = answer.headers
			.getSetCookie()
			.map((one) => one.split(';')[0])
			.join('; ');
		return new N8nApi(url, cookie);
	}

	async request<T>(method: string, path: string, body?: unknown): Promise<T> {
		const answer = await fetch(`${this.url}/rest/${path}`, {
			method,
			headers: { ...everyCall, cookie: this.cookie, 'content-type': 'application/json' },
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await answer.text();
		if (!answer.ok)
			throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 2000)}`);
		return (text === '' ? undefined : (JSON.parse(text) as { data: T }).data) as T;
	}

	/** @returns the value for a node's `credentials` entry */
	async createCredential(
		type: string,
		name: string,
		data: Record<string, unknown>,
	): Promise<{ id: string; name: string }> {
		const credential = { name, type, data };
		const { id } = await this.request<{ id: string }>('POST', 'credentials', credential);
		return { id, name };
	}

	/** Does what the Test button of a credential form does. */
	async testCredential(
		type: string,
		name: string,
		data: Record<string, unknown>,
	): Promise<{ status: string; message: string }> {
		return await this.request('POST', 'credentials/test', {
			credentials: { id: '', name, type, data },
		});
	}

	async createWorkflow(
		workflow: WorkflowDefinition,
	): Promise<WorkflowDefinition & { id: string; versionId: string }> {
		// n8n 2.0 has no default for `active`.
		const defaults = { settings: { executionOrder: 'v1' }, active: false };
		return await this.request('POST', 'workflows', { ...defaults, ...workflow });
	}

	/** Starts a manual run from the trigger node. @returns the execution's ID */
	async startRun(
		workflow: WorkflowDefinition & { id: string },
		triggerName: string,
	): Promise<string> {
		const start = { workflowData: workflow, triggerToStartFrom: { name: triggerName } };
		const path = `workflows/${workflow.id}/run`;
		const { executionId } = await this.request<{ executionId: string }>('POST', path, start);
		return executionId;
	}

	/** Runs a workflow to its end, from its Manual Trigger unless another node is named. */
	async run(
		workflow: WorkflowDefinition & { id: string },
		triggerName?: string,
	): Promise<Execution> {
		const manual = workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
		const trigger = triggerName ?? String((manual ?? workflow.nodes[0])?.name);
		return await this.untilDone(await this.startRun(workflow, trigger));
	}

	/** Waits for the next execution that the workflow's trigger started after the given one, and for its end. */
	async untilTriggered(
		workflow: { id: string },
		after: { id: string } = { id: '0' },
		{ timeoutMilliseconds = patience, mode = 'trigger' }: TriggerWait = {},
	): Promise<Execution> {
		const deadline = Date.now() + timeoutMilliseconds;
		const filter = encodeURIComponent(JSON.stringify({ workflowId: workflow.id, mode }));
		while (Date.now() < deadline) {
			const { results } = await this.request<Listed>('GET', `executions?filter=${filter}`);
			const started = results.find(
				(result) => result.mode === mode && Number(result.id) > Number(after.id),
			);
			if (started) return await this.untilDone(started.id);
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
		throw new Error(`No execution of workflow ${workflow.id} within ${timeoutMilliseconds} ms`);
	}

	/** Creates and runs a workflow. */
	async runOnce(definition: WorkflowDefinition, triggerName?: string): Promise<Execution> {
		return await this.run(await this.createWorkflow(definition), triggerName);
	}

	async execution(id: string): Promise<Execution> {
		const stored = await this.request<Omit<Execution, 'raw' | 'resultData'> & { data: string }>(
			'GET',
			`executions/${id}`,
		);
		const data =
			stored.data === '' ? undefined : (parse(stored.data) as Pick<Execution, 'resultData'>);
		return { ...stored, raw: stored.data, resultData: data?.resultData ?? { runData: {} } };
	}

	async untilDone(id: string, timeoutMilliseconds = patience): Promise<Execution> {
		const deadline = Date.now() + timeoutMilliseconds;
		let pauseMilliseconds = 50;
		while (Date.now() < deadline) {
			const { status } = await this.request<{ status: string }>('GET', `executions/${id}`);
			if (!['new', 'running', 'waiting'].includes(status)) return await this.execution(id);
			await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
			// Each look takes n8n some milliseconds of its processor.
			pauseMilliseconds = Math.min(300, pauseMilliseconds * 1.5);
		}
		throw new Error(`Execution ${id} did not end within ${timeoutMilliseconds} ms`);
	}

	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `executions/${id}/stop`);
	}

	/** Publishes the workflow's current version. */
	async activate(workflow: { id: string; versionId: string }): Promise<void> {
		await this.request('POST', `workflows/${workflow.id}/activate`, {
			versionId: workflow.versionId,
		});
	}

	async deactivate(workflow: { id: string }): Promise<void> {
		await this.request('POST', `workflows/${workflow.id}/deactivate`, {});
	}
}

const everyCall = {
	/** n8n binds a session to the browser that signed in. */
	'browser-id': 'n8n-nodes-agent-workspace-dev',
	// n8n closes connections that were idle for 5 s. A call that reused one at that moment would be reset.
	connection: 'close',
};
