// 1,000 items through Agent Execute, compared with n8n's own HTTP Request node with equal expressions per
// item, and with a bare loop over n8n's request helper, in the same n8n.
// node bench/execute.ts [rounds]
import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import path from 'node:path';

import { inRow } from '../dev/n8n/nodes.ts';
import { benchN8n, median, nodeMilliseconds, report, reportRatio } from './n8n.ts';

const rounds = Number(process.argv[2] ?? 5);
const itemCount = 1000;
/** Enough for the code of all of them to be warm. */
const warmItemCount = 200;
const latencyMilliseconds = 50;
const apiKey = 'bench-key';

/** Runs in a separate process, so that n8n does not wait for it. */
async function startService(): Promise<{ url: string; stop(): void }> {
	const child = fork(
		path.join(import.meta.dirname, '..', 'dev', 'agent-service', 'main.ts'),
		['--port', '0', '--api-key', apiKey, '--latency', String(latencyMilliseconds)],
		{ silent: true },
	);
	const url = await new Promise<string>((resolve, reject) => {
		let printed = '';
		child.stdout?.on('data', (data: Buffer) => {
			printed += data.toString();
			const match = /http:\/\/[\d.]+:\d+/.exec(printed);
			if (match) resolve(match[0]);
		});
		child.once('exit', () => {
			reject(new Error(`The stand-in ended: ${printed}`));
		});
	});
	return { url, stop: () => child.kill() };
}

function workflowNode(
	name: string,
	type: string,
	typeVersion: number,
	parameters: object,
	more: object = {},
) {
	return { id: name, name, type, typeVersion, position: [0, 0], parameters, ...more };
}

const start = workflowNode('Start', 'n8n-nodes-base.manualTrigger', 1, {});
const itemsNode = (count: number) =>
	workflowNode('Items', 'n8n-nodes-base.code', 2, {
		jsCode: `return Array.from({ length: ${count} }, (_, i) => ({ json: { sessionId: 's' + i, step: 'start', task: 't' + i, input: 'text ' + i } }));`,
	});

async function main(): Promise<void> {
	const service = await startService();
	const n8n = await benchN8n({
		env: { N8N_CUSTOM_EXTENSIONS: path.join(import.meta.dirname, 'execute', 'bareLoop') },
	});
	try {
		const api = await n8n.api.createCredential('agentApi', 'Agent', {
			deploymentUrl: service.url,
			webSocketUrl: service.url,
			apiKey,
		});
		const signature = await n8n.api.createCredential('agentSignatureApi', 'Signature', {
			userId: '0x01',
			userPublicKey: '0x02',
			signature: '0x03',
		});
		const header = await n8n.api.createCredential('httpHeaderAuth', 'Header', {
			name: 'x-api-key',
			value: apiKey,
		});

		const agent = (options: object) =>
			workflowNode(
				'Call',
				'n8n-nodes-agent-workspace.agentExecute',
				1,
				{
					sessionId: '={{ $json.sessionId }}',
					startStepName: '={{ $json.step }}',
					task: '={{ $json.task }}',
					input: '={{ $json.input }}',
					options,
				},
				{ credentials: { agentApi: api, agentSignatureApi: signature } },
			);
		const field = (name: string, value: string) => ({ name, value });
		const httpRequest = workflowNode(
			'Call',
			'n8n-nodes-base.httpRequest',
			4.2,
			{
				method: 'POST',
				url: `${service.url}/execute`,
				authentication: 'genericCredentialType',
				genericAuthType: 'httpHeaderAuth',
				sendBody: true,
				bodyParameters: {
					parameters: [
						field('sessionId', '={{ $json.sessionId }}'),
						field('startStepName', '={{ $json.step }}'),
						field('initialPayload', '={{ JSON.stringify({ task: $json.task, input: $json.input }) }}'),
						field('userId', '0x01'),
						field('userPublicKey', '0x02'),
						field('signature', '0x03'),
						field('timestamp', '={{ Date.now() }}'),
					],
				},
				options: {},
			},
			{ credentials: { httpHeaderAuth: header } },
		);
		const variants = {
			'HTTP Request node': httpRequest,
			'Agent Execute, parallelRequests 100': agent({ parallelRequests: 100 }),
			'Agent Execute, default (10 at once)': agent({}),
			"A bare loop over n8n's request helper, 10 at once": workflowNode('Call', 'CUSTOM.bareLoop', 1, {
				url: `${service.url}/execute`,
				apiKey,
			}),
		};
		const created = async (name: string, call: object, count: number) =>
			await n8n.api.createWorkflow({
				name,
				nodes: [start, itemsNode(count), { ...call }],
				connections: inRow('Start', 'Items', 'Call'),
			});
		const run = async (name: string, workflow: Awaited<ReturnType<typeof created>>, count: number) => {
			const execution = await n8n.api.run(workflow);
			const got = execution.resultData.runData.Call?.[0]?.data?.main?.[0]?.length;
			if (execution.status !== 'success' || got !== count) {
				throw new Error(
					`${name}: ${execution.status}, ${String(got)} items ${execution.resultData.error?.message ?? ''}`,
				);
			}
			return nodeMilliseconds(execution.resultData.runData, 'Call');
		};
		const workflows = await Promise.all(
			Object.entries(variants).map(async ([name, call]) => ({
				name,
				times: [] as number[],
				workflow: await created(name, call, itemCount),
				warmUp: await created(name, call, warmItemCount),
			})),
		);
		for (const { name, warmUp } of workflows) await run(name, warmUp, warmItemCount);
		for (let round = 0; round < rounds; round++) {
			for (const { name, workflow, times } of workflows) times.push(await run(name, workflow, itemCount));
		}
		console.log(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${itemCount} items, ${latencyMilliseconds} ms latency, ${rounds} rounds\n`,
		);
		for (const { name, times } of workflows) report(name, times, 'ms');
		const [http = NaN, wide = NaN, ten = NaN, bare = NaN] = workflows.map(({ times }) => median(times));
		reportRatio('parallelRequests 100 / HTTP Request node', wide / http, { atMost: 1.1 });
		reportRatio("default / a bare loop over n8n's request helper", ten / bare, { atMost: 1.1 });
		const floor = (itemCount / 10) * latencyMilliseconds;
		console.log(
			`The latency alone takes ${floor} ms: ${(ten / floor).toFixed(3)} of it, the bare loop ${(bare / floor).toFixed(3)}`,
		);
	} finally {
		await n8n.remove();
		service.stop();
	}
}

await main();
