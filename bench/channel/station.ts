import path from 'node:path';

import type { AgentServiceOptions } from '../../dev/agent-service/options.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import type { WorkflowDefinition } from '../../dev/n8n/rest.ts';
import type { RestartableN8n } from '../../dev/n8n/restartable.ts';
import { benchN8n } from '../n8n.ts';
import { Probe } from './probe.ts';
import { pause, until } from './waiting.ts';

const root = path.join(import.meta.dirname, '..', '..');
const apiKey = 'bench-key';

const env = {
	N8N_CUSTOM_EXTENSIONS: path.join(import.meta.dirname, 'emitOnly'),
	BENCH_WS: path.join(root, 'node_modules', 'ws'),
	N8N_METRICS: 'true',
	N8N_METRICS_INCLUDE_DEFAULT_METRICS: 'true',
	EXECUTIONS_DATA_PRUNE: 'false',
	// For the section that inspects n8n's memory. Nothing listens before that.
	NODE_OPTIONS: '--inspect-port=127.0.0.1:0',
};

/**
 * How n8n runs expressions. By default, it creates an isolate for each execution, even one without any
 * expressions: most of the time of a short workflow. With its setting, it creates one when an expression
 * needs it.
 */
export const engines = {
	'isolate per execution (default)': {},
	'isolate when needed': { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
} as const;

export type Engine = keyof typeof engines;

export type Stored = WorkflowDefinition & { readonly id: string; readonly versionId: string };

export interface OursPlace {
	/** Default: the workflow's name. */
	readonly sessionIds?: readonly string[];
	/** Default: the service itself. */
	readonly webSocketUrl?: string;
}

type CredentialPair = Record<'agentApi' | 'agentSignatureApi', { id: string; name: string }>;

/** A stand-in for the agent service in this process, and a separate n8n that listens to it. */
export class Station {
	readonly n8n: RestartableN8n;
	readonly probe: Probe;
	readonly databaseFile: string;
	service: AgentService;
	readonly #serviceOptions: AgentServiceOptions;
	/** By the address of the channels. */
	readonly #pairs = new Map<string, Promise<CredentialPair>>();

	static async start(
		serviceOptions: AgentServiceOptions = {},
		engine: Engine = 'isolate per execution (default)',
	): Promise<Station> {
		const options = { apiKey, ...serviceOptions };
		const n8n = await benchN8n({ env: { ...env, ...engines[engine] } });
		return new Station(n8n, await startAgentService(options), options);
	}

	constructor(n8n: RestartableN8n, service: AgentService, serviceOptions: AgentServiceOptions) {
		this.n8n = n8n;
		this.service = service;
		this.#serviceOptions = serviceOptions;
		this.databaseFile = path.join(n8n.userFolder, '.n8n', 'database.sqlite');
		this.probe = new Probe(() => n8n.pid, this.databaseFile);
	}

	/** Publishes a workflow of the trigger and a node that does nothing, and waits for the channels. */
	async publish(name: string, trigger: object, sessionIds: readonly string[] = [name]): Promise<Stored> {
		const common = { typeVersion: 1, position: [0, 0] };
		const nodes = [
			{ id: `trigger ${name}`, name: 'Trigger', ...common, ...trigger },
			{ id: `done ${name}`, name: 'Done', type: 'n8n-nodes-base.noOp', parameters: {}, ...common },
		];
		const connections = { Trigger: { main: [[{ node: 'Done', type: 'main', index: 0 }]] } };
		const stored = await this.n8n.api.createWorkflow({ name, nodes, connections });
		await this.n8n.api.activate(stored);
		await until(`the channels of ${name}`, () =>
			sessionIds.every((id) => this.service.openSockets(id) === 1),
		);
		return stored;
	}

	async ours(name: string, options: object = {}, place: OursPlace = {}): Promise<Stored> {
		const { sessionIds = [name], webSocketUrl = this.service.webSocketUrl } = place;
		const type = 'n8n-nodes-agent-workspace.agentSessionTrigger';
		const credentials = await this.#credentials(webSocketUrl);
		const parameters = { sessionIds: sessionIds.join(','), options };
		return await this.publish(name, { type, parameters, credentials }, sessionIds);
	}

	async emitOnly(name: string, batchSize = 1): Promise<Stored> {
		const parameters = { url: this.channelUrl(name), batchSize };
		return await this.publish(name, { type: 'CUSTOM.emitOnlyTrigger', parameters });
	}

	/** Address for clients that are not ours. */
	channelUrl(sessionId: string): string {
		const query = { sessionId, userPublicKey: '0', signature: '0', timestamp: '1', apiKey };
		return `${this.service.webSocketUrl}/ws?${new URLSearchParams(query).toString()}`;
	}

	/** Stops the service for this long, then starts it again on the same port. */
	async restartService(milliseconds: number): Promise<void> {
		const { port } = this.service;
		await this.service.close();
		await pause(milliseconds);
		this.service = await startAgentService({ ...this.#serviceOptions, port });
	}

	/** Starts another n8n on the same database, as happens for a while when one replaces the other. */
	async startSecond(): Promise<RestartableN8n> {
		return await benchN8n({ env: { ...env, DB_SQLITE_DATABASE: this.databaseFile } });
	}

	async remove(): Promise<void> {
		this.probe.close();
		await this.n8n.remove();
		await this.service.close();
	}

	/** One pair for all triggers of an address, as a team has: they share the rate at which channels are opened. */
	async #credentials(webSocketUrl: string): Promise<CredentialPair> {
		const known = this.#pairs.get(webSocketUrl) ?? this.#createCredentials(webSocketUrl);
		this.#pairs.set(webSocketUrl, known);
		return await known;
	}

	async #createCredentials(webSocketUrl: string): Promise<CredentialPair> {
		const { api } = this.n8n;
		const agent = { deploymentUrl: this.service.url, webSocketUrl, apiKey };
		const signature = { userId: '0x01', userPublicKey: '0x02', signature: '0x03' };
		return {
			agentApi: await api.createCredential('agentApi', 'Agent', agent),
			agentSignatureApi: await api.createCredential('agentSignatureApi', 'Signature', signature),
		};
	}
}

/** Runs something with a station that nothing else has used. */
export async function withStation<T>(
	use: (station: Station) => Promise<T>,
	serviceOptions: AgentServiceOptions = {},
	engine?: Engine,
): Promise<T> {
	const station = await Station.start(serviceOptions, engine);
	try {
		return await use(station);
	} finally {
		await station.remove();
	}
}

/**
 * The event loop delay that n8n reports, in milliseconds: exceeded by one in a hundred turns since the last
 * request.
 */
export async function eventLoopDelay(url: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return Number(/nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? ([\d.e-]+)/.exec(text)?.[1]) * 1000;
}
