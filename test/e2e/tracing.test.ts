// n8n's OpenTelemetry: whether the trace of an execution goes on in the agent service and at Google.
import { createServer } from 'node:http';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { type Listening, onLoopback } from '../../dev/loopback.ts';
import { connectInRow, manualTrigger, node, startTestN8n, type TestN8n } from './startTestN8n';

const apiKey = 'tracing-key';
let service: AgentService;
let google: GoogleServer;
let collector: Listening;
let n8n: TestN8n;
/** What n8n exports, in OTLP's binary form. */
const exported: Buffer[] = [];

beforeAll(async () => {
	service = await startAgentService({ apiKey });
	google = await startGoogle();
	collector = await onLoopback(
		createServer((request, response) => {
			request.on('data', (chunk: Buffer) => exported.push(chunk));
			request.on('end', () => response.end());
		}),
	);
	n8n = await startTestN8n({
		env: {
			N8N_OTEL_ENABLED: 'true',
			N8N_OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			// Otherwise only executions that were not started in the editor.
			N8N_OTEL_TRACES_PRODUCTION_ONLY: 'false',
		},
	});
});
afterAll(async () => {
	await n8n.remove();
	await collector.close();
	await google.close();
	await service.close();
});

test('the trace goes on in the call of the agent and in those of Google, not in the channel', async () => {
	const { url: deploymentUrl, webSocketUrl } = service;
	const tokens = {
		accessToken: google.tokens.issue(),
		refreshToken: google.tokens.issueRefresh(),
	};
	const signer = { userId: '0xa1', userPublicKey: '0xfeedbeef', signature: '0xc0ffee' };
	const agent = {
		agentApi: await n8n.api.createCredential('agentApi', 'A', {
			deploymentUrl,
			webSocketUrl,
			apiKey,
		}),
		agentSignatureApi: await n8n.api.createCredential('agentSignatureApi', 'S', signer),
	};
	const workspace = {
		workspaceOAuth2Api: await n8n.api.createCredential(
			'workspaceOAuth2Api',
			'W',
			buildSignedInCredential(google.url, tokens),
		),
	};
	const wait = {
		waitForMessages: true,
		waitUntil: 'match',
		matchField: 'type',
		matchValue: 'answer',
	};
	const nodes = [
		manualTrigger(),
		node(
			'Agent',
			'n8n-nodes-agent-workspace.agentExecute',
			{ startStepName: 'start', task: 'Say hello', ...wait },
			{ credentials: agent },
		),
		node(
			'Mails',
			'n8n-nodes-agent-workspace.workspace',
			{ resource: 'mail', operation: 'list' },
			{ credentials: workspace },
		),
	];
	const connections = connectInRow('Start', 'Agent', 'Mails');
	expect((await n8n.api.runOnce({ name: 'traced', nodes, connections })).status).toBe('success');

	const { headers: call } = service.requests[0] ?? {};
	const [, trace = '', span = ''] =
		/^00-(\w{32})-(\w{16})-01$/.exec(String(call?.traceparent)) ?? [];
	const listed = google.requests.map(({ headers }) => String(headers.traceparent));
	expect(listed.filter((parent) => parent.startsWith(`00-${trace}-`))).not.toEqual([]);
	expect(service.upgrades[0]?.headers.traceparent).toBeUndefined();
	// The parent of the call is the span of the node.
	const isExported = (id: string) => Buffer.concat(exported).includes(Buffer.from(id, 'hex'));
	while (!isExported(trace) || !isExported(span))
		await new Promise((resolve) => setTimeout(resolve, 50));
});
