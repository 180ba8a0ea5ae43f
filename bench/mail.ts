// 100 emails listed with subject and sender, compared with n8n's own Gmail node, in the same n8n against the
// same server.
// node bench/mail.ts [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import path from 'node:path';

import { benchN8n, median, nodeMilliseconds, report, reportRatio } from './n8n.ts';

const rounds = Number(process.argv[2] ?? 5);
const mailCount = 100;
const latencyMilliseconds = 50;

async function startServer(): Promise<{ url: string; requests(): Promise<number>; stop(): void }> {
	// More emails than requested, as in a real mailbox.
	const parameters = [String(mailCount + 50), String(latencyMilliseconds)];
	const child = fork(path.join(import.meta.dirname, 'mailGoogle.ts'), parameters);
	const [{ url }] = (await once(child, 'message')) as [{ url: string }];
	return {
		url,
		async requests() {
			child.send('requests');
			const [answer] = (await once(child, 'message')) as [{ requests: number }];
			return answer.requests;
		},
		stop: () => {
			child.disconnect();
		},
	};
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

async function main(): Promise<void> {
	const server = await startServer();
	// Both nodes call Google's own hosts; the preload redirects them to the stand-in.
	const preload = path.join(import.meta.dirname, 'redirectGoogle.cjs');
	const env = { NODE_OPTIONS: `--require ${preload}`, GOOGLE_STAND_IN: server.url };
	const n8n = await benchN8n({ env });
	try {
		const signIn = {
			clientId: 'client',
			clientSecret: 'secret',
			oauthTokenData: { access_token: 'bench', token_type: 'Bearer' },
		};
		const gmail = await n8n.api.createCredential('gmailOAuth2', 'Gmail', signIn);
		const workspace = await n8n.api.createCredential('workspaceOAuth2Api', 'Workspace', signIn);
		const variants = {
			'Gmail node (n8n)': workflowNode(
				'List',
				'n8n-nodes-base.gmail',
				2.1,
				{
					resource: 'message',
					operation: 'getAll',
					returnAll: false,
					limit: mailCount,
					simple: true,
					filters: {},
				},
				{ credentials: { gmailOAuth2: gmail } },
			),
			'Workspace node, List': workflowNode(
				'List',
				'n8n-nodes-agent-workspace.workspace',
				1,
				{ operation: 'list', maxResults: mailCount },
				{ credentials: { workspaceOAuth2Api: workspace } },
			),
		};
		const workflows = await Promise.all(
			Object.entries(variants).map(async ([name, node]) => ({
				name,
				times: [] as number[],
				requests: 0,
				workflow: await n8n.api.createWorkflow({
					name,
					nodes: [workflowNode('Start', 'n8n-nodes-base.manualTrigger', 1, {}), node],
					connections: { Start: { main: [[{ node: 'List', type: 'main', index: 0 }]] } },
				}),
			})),
		);
		// The first round is a warm-up.
		for (let round = 0; round <= rounds; round++) {
			for (const variant of workflows) {
				const before = await server.requests();
				const execution = await n8n.api.run(variant.workflow);
				const items = execution.resultData.runData['List']?.[0]?.data?.main?.[0] ?? [];
				const complete = items.filter(({ json }) => json['subject'] ?? json['Subject']).length;
				if (complete !== mailCount) {
					const message = execution.resultData.error?.message ?? '';
					throw new Error(`${variant.name}: ${execution.status}, ${complete} emails ${message}`);
				}
				variant.requests = (await server.requests()) - before;
				if (round > 0) variant.times.push(nodeMilliseconds(execution.resultData.runData, 'List'));
			}
		}
		console.log(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${mailCount} emails with details, ${latencyMilliseconds} ms latency, ${rounds} rounds\n`,
		);
		for (const { name, times, requests } of workflows) report(`${name}, ${requests} requests`, times, 'ms');
		const [theirs = NaN, ours = NaN] = workflows.map(({ times }) => median(times));
		reportRatio('Workspace / Gmail node', ours / theirs, { atMost: 0.12 });
	} finally {
		await n8n.remove();
		server.stop();
	}
}

await main();
