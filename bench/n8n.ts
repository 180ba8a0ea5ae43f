import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';

import type { AgentService } from '../dev/agent-service/server.ts';
import { ensureN8nInstalled, readVersion } from '../dev/n8n/installN8n.ts';
import { connectInRow, manualTrigger, node } from '../dev/n8n/nodes.ts';
import type { Execution, N8nApi } from '../dev/n8n/n8nApi.ts';
import { type RestartableN8n, startRestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import type { N8nOptions } from '../dev/n8n/startN8n.ts';
import { Template } from '../dev/n8n/template.ts';

let template: Promise<Template> | undefined;

/** The real n8n with the current state of the package, on its own user folder. */
export async function benchN8n(options: Partial<N8nOptions> = {}): Promise<RestartableN8n> {
	const n8n = await startRestartableN8n({ ...options, userFolder: await benchFolder() });
	running.add(n8n);
	return n8n;
}

const running = new Set<RestartableN8n>();

// Without this, an n8n would outlive a benchmark that is interrupted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => {
		void Promise.all([...running].map((n8n) => n8n.kill())).then(() => process.exit(1));
	});
}

/** A user folder with the current state of the package, for an n8n that the benchmark starts itself. */
export async function benchFolder(): Promise<string> {
	template ??= prepareTemplate();
	return await (await template).copy();
}

/** Creates the folder once for everything that this process starts, the benchmarks of a whole run included. */
export async function prepareTemplate(): Promise<Template> {
	const shared = process.env.BENCH_TEMPLATE;
	if (shared !== undefined) return new Template(shared);
	const name = `bench-${process.pid}`;
	const fresh = new Template(name);
	process.once('exit', () => {
		rmSync(path.dirname(fresh.folder), { recursive: true, force: true });
	});
	await fresh.prepare();
	process.env.BENCH_TEMPLATE = name;
	return fresh;
}

/** Variables with which n8n's own Google nodes, and ours, reach the stand-in. */
export const redirectTo = (googleUrl: string, nodeOptions = '') => ({
	GOOGLE_STAND_IN: googleUrl,
	NODE_OPTIONS: `--require=${path.join(import.meta.dirname, 'redirectGoogle.cjs')} ${nodeOptions}`,
});

/** A variable with which n8n loads the nodes that ours are compared with. */
export const bareNodes = { N8N_CUSTOM_EXTENSIONS: path.join(import.meta.dirname, 'nodes') };

/** The first words of a benchmark's output. */
export async function describeHost(): Promise<string> {
	const n8n = path.join(await ensureN8nInstalled(), 'node_modules', 'n8n');
	return `n8n ${readVersion(n8n)}, Node ${process.versions.node}, ${cpus().length} cores`;
}

export const apiKey = 'bench-key';
export const signature = { userId: '0x01', userPublicKey: '0x02', signature: '0x03' };
/** For the stand-in of Google, which knows this token. */
export const googleSignIn = {
	clientId: 'client',
	clientSecret: 'secret',
	oauthTokenData: { access_token: 'bench', refresh_token: 'bench', token_type: 'Bearer' },
};

export type Credentials = Readonly<Record<string, { readonly id: string; readonly name: string }>>;

/** Creates credentials by their types; each has the name of its type. */
export async function createCredentials(
	api: N8nApi,
	all: Readonly<Record<string, Record<string, unknown>>>,
): Promise<Credentials> {
	const entries: Array<[string, Credentials[string]]> = [];
	for (const [type, data] of Object.entries(all))
		entries.push([type, await api.createCredential(type, type, data)]);
	return Object.fromEntries(entries);
}

export async function createAgentCredentials(
	api: N8nApi,
	{ url, webSocketUrl }: Pick<AgentService, 'url' | 'webSocketUrl'>,
): Promise<Credentials> {
	return await createCredentials(api, {
		agentApi: { deploymentUrl: url, webSocketUrl, apiKey },
		agentSignatureApi: signature,
	});
}

/** Those of Agent Execute, and the header with which the HTTP Request node does the same. */
export async function createCallCredentials(
	api: N8nApi,
	service: Pick<AgentService, 'url' | 'webSocketUrl'>,
): Promise<Credentials> {
	const header = { httpHeaderAuth: { name: 'x-api-key', value: apiKey } };
	return {
		...(await createAgentCredentials(api, service)),
		...(await createCredentials(api, header)),
	};
}

/** An HTTP Request node that does the same as Agent Execute. */
export function callByHttp(
	name: string,
	url: string,
	values: Readonly<Record<'sessionId' | 'step' | 'payload', string>>,
	{ httpHeaderAuth }: Credentials,
): Step {
	const fields = {
		sessionId: values.sessionId,
		startStepName: values.step,
		initialPayload: values.payload,
		...signature,
		timestamp: '={{ Date.now() }}',
	};
	const parameters = {
		method: 'POST',
		url: `${url}/execute`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		bodyParameters: {
			parameters: Object.entries(fields).map(([field, value]) => ({ name: field, value })),
		},
		options: {},
	};
	const more = { typeVersion: 4.2, credentials: { httpHeaderAuth } };
	return node(name, 'n8n-nodes-base.httpRequest', parameters, more);
}

export function workspaceStep(parameters: object, { workspaceOAuth2Api }: Credentials): Step {
	const more = { credentials: { workspaceOAuth2Api } };
	return node('Step', 'n8n-nodes-agent-workspace.workspace', { ...parameters }, more);
}

export function sessionTrigger(
	sessionIds: string,
	credentials: Credentials,
	options: object = {},
): Step {
	const parameters = { sessionIds, options };
	return node('Trigger', 'n8n-nodes-agent-workspace.agentSessionTrigger', parameters, {
		credentials,
	});
}

export type Step = ReturnType<typeof node>;
export type Stored = Awaited<ReturnType<typeof createInRow>>;

export async function createInRow(api: N8nApi, name: string, nodes: readonly Step[]) {
	const connections = connectInRow(...nodes.map((one) => one.name));
	return await api.createWorkflow({ name, nodes, connections });
}

/** Creates a workflow of nodes behind one that makes the items. @param input JavaScript of an array */
export async function createRun(api: N8nApi, name: string, input: string, steps: readonly Step[]) {
	const jsCode = `return (${input}).map((json) => ({ json }));`;
	const items = node('Items', 'n8n-nodes-base.code', { jsCode }, { typeVersion: 2 });
	return await createInRow(api, name, [manualTrigger(), items, ...steps]);
}

export async function publishInRow(
	api: N8nApi,
	name: string,
	nodes: readonly Step[],
): Promise<Stored> {
	const stored = await createInRow(api, name, nodes);
	await api.activate(stored);
	return stored;
}

/** Milliseconds for which nodes ran. @throws unless the execution succeeded and its last node returned so many items */
export function readMilliseconds(
	what: string,
	execution: Execution,
	steps: readonly string[],
	count?: number,
) {
	const { status, resultData } = execution;
	const got = resultData.runData[steps.at(-1) ?? '']?.at(-1)?.data?.main?.[0]?.length;
	if (status !== 'success' || (count !== undefined && got !== count)) {
		const { message = status, description = '' } = resultData.error ?? {};
		throw new Error(`${what}: ${String(got)} items; ${message} ${description}`);
	}
	return steps.reduce(
		(sum, step) => sum + (resultData.runData[step]?.at(-1)?.executionTime ?? NaN),
		0,
	);
}

export const pause = (milliseconds: number) =>
	new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

interface Patience {
	readonly limitSeconds?: number;
	readonly everyMilliseconds?: number;
}

/** @throws if the condition is not met in time, because a benchmark must not hang silently */
export async function until(
	what: string,
	condition: () => boolean | Promise<boolean>,
	{ limitSeconds = 180, everyMilliseconds = 20 }: Patience = {},
): Promise<void> {
	const deadline = performance.now() + limitSeconds * 1000;
	while (!(await condition())) {
		if (performance.now() > deadline) throw new Error(`${what}: not within ${limitSeconds} s`);
		await pause(everyMilliseconds);
	}
}

/** How many of the last 100 executions of a workflow ended with a status. */
export async function countEnded(api: N8nApi, workflowId: string, status: string): Promise<number> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId, status: [status] }));
	const path = `executions?limit=100&filter=${filter}`;
	return (await api.request<{ results: unknown[] }>('GET', path)).results.length;
}

/** Publishes a workflow that a webhook starts. @param responseMode when the webhook answers */
export async function publishWebhook(
	api: N8nApi,
	path: string,
	steps: readonly Step[],
	responseMode = 'onReceived',
) {
	const parameters = { httpMethod: 'POST', path, responseMode, options: {} };
	const more = { typeVersion: 2.1, webhookId: path };
	const trigger = node('Trigger', 'n8n-nodes-base.webhook', parameters, more);
	const stored = await publishInRow(api, path, [trigger, ...steps]);
	await untilRegistered(api, path);
	return { ...stored, url: `${api.url}/webhook/${path}` };
}

/** Waits until n8n knows the webhook, which takes a moment after the workflow is published. */
async function untilRegistered(api: N8nApi, webhook: string): Promise<void> {
	// A wrong method starts nothing, and the answer names the right one.
	const isKnown = async () => {
		const answer = await fetch(`${api.url}/webhook/${webhook}`, {
			headers: { connection: 'close' },
		});
		return (await answer.text()).includes('Did you mean to make a POST');
	};
	await until(`the webhook ${webhook}`, isKnown, { limitSeconds: 60, everyMilliseconds: 100 });
}

/** Memory of a process in MiB: the current value, and the peak since `resetPeak`. */
export function readMemory(pid: number): { readonly now: number; readonly peak: number } {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const read = (name: string) =>
		Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
	return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Sets the peak to the current value. */
export function resetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Processor time that a process has used so far. */
export function readCpuSeconds(pid: number | undefined): number {
	const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
	const fields = stat.split(') ')[1]?.split(' ') ?? [];
	const ticksPerSecond = 100;
	return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
