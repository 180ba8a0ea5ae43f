// 1,000 items through Agent Execute, compared with n8n's own HTTP Request node with equal expressions per
// item, and with a bare loop over n8n's request helper, in the same n8n.
// node bench/execute.ts [rounds]
import { fork } from 'node:child_process';
import path from 'node:path';

import { node } from '../dev/n8n/nodes.ts';
import {
	apiKey,
	bareNodes,
	benchN8n,
	callByHttp,
	createCallCredentials,
	createRun,
	describeHost,
	readMilliseconds,
	until,
} from './n8n.ts';
import { usualTarget } from './operations/contest.ts';
import { median, report, reportRatio, say } from './report.ts';

const rounds = Number(process.argv[2] ?? 5);
const itemCount = 1000;
/** Enough for the code of all of them to be warm. */
const warmItemCount = 200;
const latencyMilliseconds = 50;

/** Runs in a separate process, so that n8n does not wait for it. */
async function startService(): Promise<{ url: string; stop(): void }> {
	const child = fork(
		path.join(import.meta.dirname, '..', 'dev', 'agent-service', 'main.ts'),
		['--port', '0', '--api-key', apiKey, '--latency', String(latencyMilliseconds)],
		{ silent: true },
	);
	let printed = '';
	child.stdout?.on('data', (data: Buffer) => {
		printed += data.toString();
	});
	const url = () => /http:\/\/[\d.]+:\d+/.exec(printed)?.[0];
	await until('the stand-in', () => url() !== undefined || child.exitCode !== null);
	if (child.exitCode !== null) throw new Error(`The stand-in ended: ${printed}`);
	return { url: url() ?? '', stop: () => child.kill() };
}

const input = (count: number) =>
	`Array.from({ length: ${count} }, (_, i) => ({ sessionId: 's' + i, step: 'start', task: 't' + i, input: 'text ' + i }))`;

type N8n = Awaited<ReturnType<typeof benchN8n>>;

async function createVariants({ api }: N8n, url: string) {
	const credentials = await createCallCredentials(api, { url, webSocketUrl: url });
	const { agentApi, agentSignatureApi } = credentials;
	const agent = (options: object) =>
		node(
			'Call',
			'n8n-nodes-agent-workspace.agentExecute',
			{
				...{ sessionId: '={{ $json.sessionId }}', startStepName: '={{ $json.step }}' },
				...{ task: '={{ $json.task }}', input: '={{ $json.input }}', options },
			},
			{ credentials: { agentApi, agentSignatureApi } },
		);
	const values = {
		sessionId: '={{ $json.sessionId }}',
		step: '={{ $json.step }}',
		payload: '={{ JSON.stringify({ task: $json.task, input: $json.input }) }}',
	};
	const calls = {
		'HTTP Request node': callByHttp('Call', url, values, credentials),
		'Agent Execute, parallelRequests 100': agent({ parallelRequests: 100 }),
		'Agent Execute, default (10 at once)': agent({}),
		"A bare loop over n8n's request helper, 10 at once": node('Call', 'CUSTOM.bareLoop', {
			...{ url: `${url}/execute`, apiKey },
		}),
	};
	return await Promise.all(
		Object.entries(calls).map(async ([name, call]) => ({
			name,
			times: [] as number[],
			workflow: await createRun(api, name, input(itemCount), [call]),
			warmUp: await createRun(api, name, input(warmItemCount), [call]),
		})),
	);
}

async function main(): Promise<void> {
	const service = await startService();
	const n8n = await benchN8n({ env: bareNodes });
	try {
		const variants = await createVariants(n8n, service.url);
		for (const { name, warmUp } of variants)
			readMilliseconds(name, await n8n.api.run(warmUp), ['Call'], warmItemCount);
		for (let round = 0; round < rounds; round++) {
			for (const { name, workflow, times } of variants)
				times.push(
					readMilliseconds(name, await n8n.api.run(workflow), ['Call'], itemCount),
				);
		}
		say(
			`${await describeHost()}; ${itemCount} items, ${latencyMilliseconds} ms latency, ${rounds} rounds\n`,
		);
		for (const { name, times } of variants) report(name, times, 'ms');
		const [http = NaN, wide = NaN, ten = NaN, bare = NaN] = variants.map(({ times }) =>
			median(times),
		);
		reportRatio('parallelRequests 100 / HTTP Request node', wide / http, {
			atMost: usualTarget,
		});
		reportRatio("default / a bare loop over n8n's request helper", ten / bare, {
			atMost: 1.1,
		});
		const floor = (itemCount / 10) * latencyMilliseconds;
		say(
			`The latency alone takes ${floor} ms: ${(ten / floor).toFixed(3)} of it, the bare loop ${(bare / floor).toFixed(3)}`,
		);
	} finally {
		await n8n.remove();
		service.stop();
	}
}

await main();
