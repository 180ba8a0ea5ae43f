// The longest time that n8n's event loop is blocked while a node works on 5,000 items with expressions,
// compared with n8n's own Edit Fields node in the same n8n.
// npm run build, then: node bench/eventLoop.ts [rounds]
import { cpus } from 'node:os';
import path from 'node:path';

import { startAgentService } from '../dev/agent-service/server.ts';
import type { WorkflowDefinition } from '../dev/n8n/rest.ts';
import { Inspector } from './channel/inspector.ts';
import { benchN8n, median, report, reportRatio } from './n8n.ts';
import { Google } from './spreadsheetServer.ts';

const rounds = Number(process.argv[2] ?? 5);
const itemCount = 5000;
const limitMilliseconds = 200;
const apiKey = 'bench-key';
const columns = Array.from({ length: 10 }, (_, column) => `f${column}`);

/**
 * A period in which nothing else could run: milliseconds since 1970, and the thread's own processor time in
 * it.
 */
interface Stretch {
	readonly from: number;
	readonly to: number;
	readonly worked: number;
}

/**
 * Runs in n8n. It also measures the processor time of the thread alone, because on a busy machine the clock
 * goes on while other programs run.
 */
const probe = `(() => {
	const stretches = (globalThis.benchStretches = []);
	const worked = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
	let at = Date.now();
	let before = worked();
	setInterval(() => {
		const now = Date.now();
		const after = worked();
		if (now - at > 20) stretches.push({ from: at, to: now, worked: after - before });
		at = now;
		before = after;
	}, 1);
})()`;

const node = (name: string, type: string, typeVersion: number, parameters: object, more: object = {}) => ({
	id: name,
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
	...more,
});

const makeItems = `Array.from({ length: ${itemCount} }, (_, n) => ({ json: Object.fromEntries(${JSON.stringify(columns)}.map((name) => [name, name + ' of ' + n])) }))`;

function workflow(name: string, step: object, isEmpty: boolean): WorkflowDefinition {
	const link = (to: string) => ({ main: [[{ node: to, type: 'main', index: 0 }]] });
	const jsCode = `return ${isEmpty ? '[{ json: {} }]' : makeItems};`;
	return {
		name,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('Items', 'n8n-nodes-base.code', 2, { jsCode }),
			{ ...step },
		],
		connections: { Start: link('Items'), Items: link('Step') },
	};
}

/** An expression that only n8n itself can evaluate. */
const computed = (name: string) => `={{ $json.${name} + ' of item ' + $itemIndex }}`;

function editFields(): object {
	const assignments = columns
		.slice(0, 4)
		.map((name) => ({ id: name, name, value: computed(name), type: 'string' }));
	return node('Step', 'n8n-nodes-base.set', 3.4, { mode: 'manual', assignments: { assignments } });
}

const spreadsheetId = { __rl: true, mode: 'id', value: 'bench-spreadsheet' };
const workspace = (credentials: object, parameters: object) =>
	node(
		'Step',
		'n8n-nodes-agent-workspace.workspace',
		1,
		{ resource: 'spreadsheet', spreadsheetId, range: 'Sheet1!A:J', ...parameters },
		{ credentials },
	);
const row = `={{ [[${columns.map((name) => `$json.${name} + ' of item ' + $itemIndex`).join(', ')}]] }}`;

const agent = (credentials: object) =>
	node(
		'Step',
		'n8n-nodes-agent-workspace.agentExecute',
		1,
		{
			sessionId: computed('f0'),
			startStepName: '={{ "start" + $itemIndex }}',
			task: computed('f1'),
			input: computed('f2'),
			options: { parallelRequests: 100 },
		},
		{ credentials },
	);

async function main(): Promise<void> {
	const google = await Google.start(0);
	const service = await startAgentService({ apiKey, messages: () => [], keepLog: false });
	const redirect = path.join(import.meta.dirname, 'redirectGoogle.cjs');
	const n8n = await benchN8n({
		env: {
			GOOGLE_STAND_IN: google.url,
			NODE_OPTIONS: `--require=${redirect} --inspect-port=127.0.0.1:0 --max-old-space-size=3000`,
		},
	});
	try {
		const { url, webSocketUrl } = service;
		const agentCredentials = {
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
		const workspaceCredentials = {
			workspaceOAuth2Api: await n8n.api.createCredential('workspaceOAuth2Api', 'Workspace', {
				clientId: 'client',
				clientSecret: 'secret',
				oauthTokenData: { access_token: 'bench', token_type: 'Bearer' },
			}),
		};
		const ours = (parameters: object) => workspace(workspaceCredentials, parameters);
		const steps: Record<string, object> = {
			"n8n's Edit Fields, 4 expressions": editFields(),
			'Workspace, append, an expression of 10 cells': ours({
				operation: 'append',
				valuesSource: 'json',
				values: row,
			}),
			'Workspace, append, from items': ours({ operation: 'append', valuesSource: 'items' }),
			'Workspace, write where Match Columns fit': ours({
				operation: 'write',
				valuesSource: 'items',
				writeMode: 'update',
				matchColumns: ['f0'],
			}),
			'Workspace, read as items': ours({ operation: 'read', range: 'Sheet1' }),
			'Agent Execute, 4 expressions': agent(agentCredentials),
		};
		const variants = await Promise.all(
			Object.entries(steps).map(async ([name, step]) => ({
				name,
				stored: await n8n.api.createWorkflow(workflow(name, step, name.includes('read'))),
				clock: [] as number[],
				worked: [] as number[],
				seconds: [] as number[],
			})),
		);
		const inspector = await Inspector.open(n8n);
		await inspector.evaluate(probe);
		// The first round is a warm-up, without which n8n's node takes as many seconds.
		for (let round = 0; round <= rounds; round++) {
			for (const { name, stored, clock, worked, seconds } of variants.slice(round === 0 ? 1 : 0)) {
				await google.seed({ rows: itemCount, columns: columns.length });
				await inspector.evaluate('void (globalThis.benchStretches.length = 0)');
				const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 600_000);
				const run = execution.resultData.runData.Step?.at(-1);
				if (execution.status !== 'success' || run === undefined) {
					const { message, description } = execution.resultData.error ?? { message: execution.status };
					throw new Error(`${name}: ${message} ${description ?? ''}`);
				}
				const stretches = await inspector.evaluate<Stretch[]>('globalThis.benchStretches');
				const end = run.startTime + run.executionTime;
				const within = stretches
					.map(({ from, to, worked: work }) => {
						const part = Math.min(to, end) - Math.max(from, run.startTime);
						return { part, work: (work * Math.max(0, part)) / (to - from) };
					})
					.filter(({ part }) => part > 0);
				const longest = Math.max(0, ...within.map(({ work }) => work));
				console.error(
					`round ${round}: ${name} took ${run.executionTime} ms, at most ${longest.toFixed(0)} ms at a stretch`,
				);
				if (round === 0) continue;
				clock.push(Math.max(0, ...within.map(({ part }) => part)));
				worked.push(longest);
				seconds.push(run.executionTime / 1000);
			}
		}
		inspector.close();
		console.log(
			`Node ${process.versions.node}, ${cpus().length} cores; ${itemCount} items, ${rounds} rounds. Longest stretch in which nothing else had its turn:\n`,
		);
		for (const { name, clock, worked, seconds } of variants) {
			report(`${name}, on the clock`, clock, 'ms');
			report(`${name}, work of the thread`, worked, 'ms');
			report(`${name}, in all`, seconds, 's');
		}
		for (const { name, worked } of variants.slice(1)) {
			reportRatio(`${name}, work of the thread / limit`, median(worked) / limitMilliseconds, { atMost: 1 });
		}
	} catch (error) {
		console.error(n8n.output().slice(-2000));
		throw error;
	} finally {
		await n8n.remove();
		await service.close();
		google.stop();
	}
}

await main();
