// How long a message of the agent takes to reach the client of a streaming webhook, in n8n's main process and
// on a worker, compared with n8n's bare relay of chunks.
// node bench/stream.ts [rounds]
import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import { node } from '../dev/n8n/nodes.ts';
import type { N8nApi } from '../dev/n8n/n8nApi.ts';
import {
	apiKey,
	bareNodes,
	benchN8n,
	createAgentCredentials,
	publishWebhook,
	type Step,
} from './n8n.ts';
import { Cluster } from './queue/cluster.ts';
import { median, report, reportRatio } from './report.ts';

const rounds = Number(process.argv[2] ?? 30);
const targetMilliseconds = 100;

/** Reads the webhook's answer chunk by chunk. Each text is the time at which it was sent. @returns milliseconds for the first */
async function turn(url: string): Promise<number> {
	const answer = await fetch(url, { method: 'POST' });
	if (!answer.ok || answer.body === null)
		throw new Error(`The webhook answered ${answer.status}`);
	let rest = '';
	let first: number | undefined;
	for await (const bytes of answer.body.pipeThrough(new TextDecoderStream())) {
		const now = Date.now();
		const lines = (rest + bytes).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			const { type, content } = JSON.parse(line) as { type: string; content?: string };
			if (type === 'error') throw new Error(`The execution failed: ${content ?? ''}`);
			if (type !== 'item' || content === undefined || !/^\d{13}$/.test(content)) continue;
			first ??= now - Number(content);
		}
	}
	if (first === undefined) throw new Error('No text arrived');
	return first;
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
	const publish = async (name: string, work: Step) =>
		(await publishWebhook(api, name, [work], 'streaming')).url;
	const ours = node('Work', 'n8n-nodes-agent-workspace.agentExecute', waits, { credentials });
	const urls = {
		ours: await publish('agent', ours),
		bare: await publish('bare', node('Work', 'CUSTOM.bareChunks', {})),
	};
	const times = { ours: [] as number[], bare: [] as number[] };
	for (let round = -2; round < rounds; round++) {
		for (const which of ['ours', 'bare'] as const) {
			const milliseconds = await turn(urls[which]);
			if (round >= 0) times[which].push(milliseconds);
		}
	}
	report(`${place}: bare relay of n8n, first chunk`, times.bare, 'ms');
	report(`${place}: message of the agent, first chunk`, times.ours, 'ms');
	const target = { atMost: targetMilliseconds };
	reportRatio(`${place}: the median first chunk, in ms`, median(times.ours), target);
}

async function main(): Promise<void> {
	const service = await startAgentService({
		apiKey,
		messages: () => [],
		execute: (request) => {
			const { sessionId } = request.body as { sessionId: string };
			for (let count = 0; count < 5; count++) {
				setTimeout(
					() => service.send(sessionId, { text: String(Date.now()) }),
					50 + count * 100,
				);
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
