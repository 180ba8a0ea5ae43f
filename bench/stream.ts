// How long a message of the agent takes to reach the client of a streaming webhook, in n8n's main process and
// on a worker, compared with n8n's bare relay of chunks.
// node bench/stream.ts [rounds]
import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import { node } from '../dev/n8n/nodes.ts';
import type { N8nApi } from '../dev/n8n/n8nApi.ts';
import { apiKey, bareNodes, benchN8n, createAgentCredentials, publishWebhook } from './n8n.ts';
import { Cluster } from './queue/cluster.ts';
import { median, report, reportRatio } from './report.ts';

const rounds = Number(process.argv[2] ?? 30);
const targetMilliseconds = 100;

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

async function measure(place: string, api: N8nApi, service: AgentService): Promise<void> {
	const credentials = await createAgentCredentials(api, service);
	const waits = {
		startStepName: 'start',
		task: 'Say hello',
		waitForMessages: true,
		waitUntil: 'count',
		messageCount: 5,
	};
	const publish = async (name: string, work: ReturnType<typeof node>) =>
		(await publishWebhook(api, name, [work], 'streaming')).url;
	const ours = node('Work', 'n8n-nodes-agent-workspace.agentExecute', waits, { credentials });
	const urls = {
		ours: await publish('agent', ours),
		bare: await publish('bare', node('Work', 'CUSTOM.bareChunks', {})),
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
		const single = await benchN8n({ env: bareNodes });
		await measure('main', single.api, service).finally(() => single.remove());
		await inQueueMode(service);
	} finally {
		await service.close();
	}
}

async function inQueueMode(service: AgentService): Promise<void> {
	const cluster = await Cluster.start(bareNodes);
	try {
		await cluster.addWorker();
		await measure('worker', cluster.main.api, service);
	} finally {
		await cluster.stop();
	}
}

await main();
