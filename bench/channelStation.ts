import path from 'node:path';

import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import type { WorkflowDefinition } from '../dev/n8n/rest.ts';
import { Probe } from './channelProbe.ts';
import { benchN8n } from './n8n.ts';

export const root = path.join(import.meta.dirname, '..');
const apiKey = 'bench-key';

type Stored = WorkflowDefinition & { id: string; versionId: string };

/** A stand-in of the agent service in this process, and an n8n that listens to it. */
export interface Station {
	readonly n8n: Awaited<ReturnType<typeof benchN8n>>;
	readonly probe: Probe;
	service: AgentService;
	publish(name: string, trigger: object, sessionId?: string): Promise<Stored>;
	ours(name: string, options?: object, sessionIds?: string): Promise<Stored>;
	emitOnly(name: string): Promise<Stored>;
	/** Away for so long, then back on the same port. */
	restartService(milliseconds: number): Promise<void>;
	remove(): Promise<void>;
}

export async function startStation(): Promise<Station> {
	const service = await startAgentService({ apiKey });
	const n8n = await benchN8n({
		env: {
			N8N_CUSTOM_EXTENSIONS: path.join(root, 'bench', 'channelEmitOnly'),
			BENCH_WS: path.join(root, 'node_modules', 'ws'),
			N8N_METRICS: 'true',
			N8N_METRICS_INCLUDE_DEFAULT_METRICS: 'true',
			EXECUTIONS_DATA_PRUNE: 'false',
		},
	});
	const { url, webSocketUrl } = service;
	const credentials = {
		agentApi: await n8n.api.createCredential('agentApi', 'Agent', {
			deploymentUrl: url,
			webSocketUrl,
			apiKey,
		}),
		agentSignatureApi: await n8n.api.createCredential('agentSignatureApi', 'Signature', {
			userId: '0x01',
			userPublicKey: '0x02',
			signature: '0x03',
		}),
	};
	const probe = new Probe(n8n.pid, n8n.userFolder);
	const common = { typeVersion: 1, position: [0, 0] };
	const station: Station = {
		n8n,
		probe,
		service,
		async publish(name, trigger, sessionId = name) {
			const nodes = [
				{ id: `trigger ${name}`, name: 'Trigger', ...common, ...trigger },
				{ id: `done ${name}`, name: 'Done', type: 'n8n-nodes-base.noOp', parameters: {}, ...common },
			];
			const connections = { Trigger: { main: [[{ node: 'Done', type: 'main', index: 0 }]] } };
			const stored = await n8n.api.createWorkflow({ name, nodes, connections });
			await n8n.api.activate(stored);
			await until(() => station.service.openSockets(sessionId) === 1);
			return stored;
		},
		ours(name, options = {}, sessionIds = name) {
			const type = 'n8n-nodes-agent-workspace.agentSessionTrigger';
			const [first] = sessionIds.split(',');
			return station.publish(name, { type, parameters: { sessionIds, options }, credentials }, first);
		},
		emitOnly(name) {
			const query = new URLSearchParams({
				sessionId: name,
				userPublicKey: '0',
				signature: '0',
				timestamp: '1',
				apiKey,
			});
			const parameters = { url: `${webSocketUrl}/ws?${query.toString()}` };
			return station.publish(name, { type: 'CUSTOM.emitOnlyTrigger', parameters });
		},
		async restartService(milliseconds) {
			const { port } = station.service;
			await station.service.close();
			await new Promise((resolve) => setTimeout(resolve, milliseconds));
			station.service = await startAgentService({ apiKey, port });
		},
		async remove() {
			probe.close();
			await n8n.remove();
			await station.service.close();
		},
	};
	return station;
}

export async function until(condition: () => boolean, everyMilliseconds = 20): Promise<void> {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, everyMilliseconds));
}

/** What n8n says of its event loop: the delay that one of a hundred turns exceeds, in milliseconds, of late. */
export async function eventLoopDelay(url: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return Number(/nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? ([\d.e-]+)/.exec(text)?.[1]) * 1000;
}
