// 100 emails listed with subject and sender, compared with n8n's own Gmail node, in the same n8n against the
// same server: how long it takes where nothing is refused, and what is refused under Gmail's own quota.
// node bench/mail.ts [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { QuotaLimits } from '../dev/google/quotas.ts';

import type { Execution } from '../dev/n8n/rest.ts';
import { benchN8n, median, nodeMilliseconds, report, reportRatio } from './n8n.ts';

const rounds = Number(process.argv[2] ?? 5);
const mailCount = 100;
const latencyMilliseconds = 50;
/** Half a real one, which is enough for the lists of n8n's node. */
const minute = 30_000;
/** Gmail's documented units per user and minute: 100 emails take 2,005 of them. */
const quota: QuotaLimits = { gmail: 6000, minute };
const listsUnderQuota = 3;
const wanted = listsUnderQuota * mailCount;

interface Counts {
	readonly requests: number;
	readonly refused: number;
}

interface Server {
	readonly url: string;
	/** So far; refusals since the limits were set. */
	counts(): Promise<Counts>;
	limit(limits: QuotaLimits): Promise<void>;
	stop(): void;
}

async function startServer(): Promise<Server> {
	// More emails than requested, as in a real mailbox.
	const parameters = [String(mailCount + 50), String(latencyMilliseconds)];
	const child = fork(path.join(import.meta.dirname, 'mailGoogle.ts'), parameters);
	const [{ url }] = (await once(child, 'message')) as [{ url: string }];
	const asked = async (order: QuotaLimits | 'requests') => {
		child.send(order);
		const [answer] = (await once(child, 'message')) as [Counts];
		return answer;
	};
	return {
		url,
		counts: () => asked('requests'),
		limit: async (limits) => {
			await asked(limits);
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
	more: { readonly credentials?: Record<string, { id: string; name: string }> } = {},
) {
	return { id: name, name, type, typeVersion, position: [0, 0], parameters, ...more };
}

function listed({ resultData }: Execution): number {
	const items = resultData.runData['List']?.[0]?.data?.main?.[0] ?? [];
	return items.filter(({ json }) => json['subject'] ?? json['Subject']).length;
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
		const created = async (name: string, node: ReturnType<typeof workflowNode>) =>
			await n8n.api.createWorkflow({
				name,
				nodes: [workflowNode('Start', 'n8n-nodes-base.manualTrigger', 1, {}), node],
				connections: { Start: { main: [[{ node: 'List', type: 'main', index: 0 }]] } },
			});
		const workflows = await Promise.all(
			Object.entries(variants).map(async ([name, node]) => ({
				name,
				node,
				times: [] as number[],
				requests: 0,
				workflow: await created(name, node),
			})),
		);
		// The first round is a warm-up.
		for (let round = 0; round <= rounds; round++) {
			for (const variant of workflows) {
				const before = await server.counts();
				const execution = await n8n.api.run(variant.workflow);
				const complete = listed(execution);
				if (complete !== mailCount) {
					const message = execution.resultData.error?.message ?? '';
					throw new Error(`${variant.name}: ${execution.status}, ${complete} emails ${message}`);
				}
				variant.requests = (await server.counts()).requests - before.requests;
				if (round > 0) variant.times.push(nodeMilliseconds(execution.resultData.runData, 'List'));
			}
		}
		console.log(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${mailCount} emails with details, ${latencyMilliseconds} ms latency, ${rounds} rounds\n`,
		);
		for (const { name, times, requests } of workflows) report(`${name}, ${requests} requests`, times, 'ms');
		const [theirs = NaN, ours = NaN] = workflows.map(({ times }) => median(times));
		reportRatio('Workspace / Gmail node', ours / theirs, { atMost: 0.12 });
		console.log(`\n${listsUnderQuota} lists in a row, ${quota.gmail} units in ${minute / 1000} s`);
		let complete = 0;
		for (const { name, node } of workflows) {
			// Other credentials, because Workspace remembers that more was accepted for the first one.
			const credentials: typeof node.credentials = {};
			for (const type of Object.keys(node.credentials ?? {}))
				credentials[type] = await n8n.api.createCredential(type, `${name} 2`, signIn);
			const workflow = await created(`${name}, quota`, { ...node, credentials });
			// Both begin with a whole minute's quota.
			await sleep(minute - (Date.now() % minute));
			await server.limit(quota);
			complete = 0;
			for (let list = 0; list < listsUnderQuota; list++)
				complete += listed(await n8n.api.untilDone(await n8n.api.startRun(workflow, 'Start'), 300_000));
			const { refused } = await server.counts();
			console.log(`${name}: ${complete} of ${wanted} emails, ${refused} requests refused`);
		}
		await server.limit({});
		// The Gmail node gives up at its first refusal; Workspace, the last here, waits and asks again.
		reportRatio('Emails of Workspace / of those asked for, over the quota', complete / wanted, {
			atLeast: 1,
		});
	} finally {
		await n8n.remove();
		server.stop();
	}
}

await main();
