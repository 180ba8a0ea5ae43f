// How long a message of the agent takes to reach the client of a streaming webhook, in n8n's main process and
// on a worker, compared with n8n's bare relay of chunks.
// node bench/stream.ts [rounds]
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import path from 'node:path';

import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import type { N8nApi } from '../dev/n8n/rest.ts';
import { freePort, spawnN8n, startN8n } from '../dev/n8n/server.ts';
import { startQueueServices } from '../dev/n8n/queueServices.ts';
import { benchFolder, benchN8n, median, report, reportRatio } from './n8n.ts';

const rounds = Number(process.argv[2] ?? 30);
const targetMilliseconds = 100;
const apiKey = 'bench-key';
const extensions = { N8N_CUSTOM_EXTENSIONS: path.join(import.meta.dirname, 'stream') };

interface Reached {
	/** Milliseconds for the first text of each turn, and for all texts. */
	readonly first: number[];
	readonly all: number[];
}

/** Reads the webhook's answer chunk by chunk. Each text is the time at which it was sent. */
async function turn(url: string, reached: Reached): Promise<void> {
	const answer = await fetch(url, { method: 'POST' });
	if (!answer.ok || answer.body === null) throw new Error(`The webhook answered ${answer.status}`);
	let rest = '';
	let isFirst = true;
	for await (const bytes of answer.body.pipeThrough(new TextDecoderStream())) {
		const now = Date.now();
		const lines = (rest + bytes).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			const { type, content } = JSON.parse(line) as { type: string; content?: string };
			if (type === 'error') throw new Error(`The execution failed: ${content ?? ''}`);
			if (type !== 'item' || content === undefined || !/^\d{13}$/.test(content)) continue;
			reached.all.push(now - Number(content));
			if (isFirst) reached.first.push(now - Number(content));
			isFirst = false;
		}
	}
}

const node = (name: string, type: string, parameters: object, more: object = {}) => ({
	id: name,
	name,
	type,
	typeVersion: 1,
	position: [0, 0],
	parameters,
	...more,
});

/** @returns the address of the workflow's webhook */
async function publish(api: N8nApi, name: string, work: Record<string, unknown>): Promise<string> {
	const parameters = { httpMethod: 'POST', path: name, responseMode: 'streaming', options: {} };
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', parameters, {
		typeVersion: 2.1,
		webhookId: name,
	});
	const connections = { Webhook: { main: [[{ node: 'Work', type: 'main', index: 0 }]] } };
	const stored = await api.createWorkflow({ name, nodes: [webhook, work], connections });
	await api.activate(stored);
	const url = `${api.url}/webhook/${name}`;
	// n8n publishes in the background. A GET does not start the workflow.
	while (!(await (await fetch(url)).text()).includes('Did you mean to make a POST')) await pause(100);
	return url;
}

async function measure(place: string, api: N8nApi, service: AgentService): Promise<void> {
	const { url, webSocketUrl } = service;
	const credentials = {
		agentApi: await api.createCredential('agentApi', 'Agent', { deploymentUrl: url, webSocketUrl, apiKey }),
		agentSignatureApi: await api.createCredential('agentSignatureApi', 'Signature', {
			userId: '0x01',
			userPublicKey: '0x02',
			signature: '0x03',
		}),
	};
	const waits = { startStepName: 'start', waitForMessages: true, waitUntil: 'count', messageCount: 5 };
	const urls = {
		ours: await publish(
			api,
			'agent',
			node('Work', 'n8n-nodes-agent-workspace.agentExecute', waits, { credentials }),
		),
		bare: await publish(api, 'bare', node('Work', 'CUSTOM.bareChunks', {})),
	};
	const reached = { ours: { first: [], all: [] }, bare: { first: [], all: [] } } as Record<
		'ours' | 'bare',
		Reached
	>;
	for (let round = -2; round < rounds; round++) {
		for (const which of ['ours', 'bare'] as const) {
			const discarded: Reached = { first: [], all: [] };
			await turn(urls[which], round < 0 ? discarded : reached[which]);
		}
	}
	report(`${place}: bare relay of n8n, first chunk`, reached.bare.first, 'ms');
	report(`${place}: message of the agent, first chunk`, reached.ours.first, 'ms');
	report(`${place}: bare relay of n8n, all chunks`, reached.bare.all, 'ms');
	report(`${place}: message of the agent, all chunks`, reached.ours.all, 'ms');
	reportRatio(`${place}: the median first chunk, in ms`, median(reached.ours.first), {
		atMost: targetMilliseconds,
	});
}

async function main(): Promise<void> {
	const service = await startAgentService({
		apiKey,
		messages: () => [],
		execute: (request) => {
			const { sessionId } = request.body as { sessionId: string };
			for (let count = 0; count < 5; count++) {
				setTimeout(() => service.send(sessionId, { text: String(Date.now()) }), 50 + count * 100);
			}
			return undefined;
		},
	});
	try {
		const single = await benchN8n({ env: extensions });
		await measure('main', single.api, service).finally(() => single.remove());
		await inQueueMode(service);
	} finally {
		await service.close();
	}
}

async function inQueueMode(service: AgentService): Promise<void> {
	const services = await startQueueServices();
	const folders = [await benchFolder(), await benchFolder()];
	// The template's own key would override the one of the queue.
	for (const folder of folders) await rm(`${folder}/.n8n/config`);
	const [mainFolder = '', workerFolder = ''] = folders;
	const env = { ...services.env, ...extensions };
	const queue = await startN8n({ userFolder: mainFolder, env });
	const health = { QUEUE_HEALTH_CHECK_PORT: String(await freePort()) };
	const command = ['worker', '--concurrency=5'];
	const worker = await spawnN8n({ userFolder: workerFolder, env: { ...env, ...health }, command });
	try {
		while (!worker.output().includes('n8n worker is now ready')) await pause(100);
		await measure('worker', queue.api, service);
	} finally {
		const ended = new Promise((resolve) => worker.child.once('close', resolve));
		worker.child.kill('SIGTERM');
		await ended;
		await queue.stop();
		await services.stop();
		for (const folder of folders) await rm(folder, { recursive: true, force: true });
	}
}

await main();
