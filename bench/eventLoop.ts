// The longest time that n8n's event loop is blocked while a node works on 5,000 items with expressions,
// compared with n8n's own Edit Fields node in the same n8n.
// npm run build, then: node bench/eventLoop.ts [rounds]
import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import { node } from '../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import { GoogleProcess, nameColumns, spreadsheetId } from './google.ts';
import { Inspector } from './inspector.ts';
import {
	apiKey,
	benchN8n,
	createAgentCredentials,
	createCredentials,
	createRun,
	describeHost,
	googleSignIn,
	readMilliseconds,
	redirectTo,
	type Stored,
	workspaceStep,
} from './n8n.ts';
import { byId } from './operations/contest.ts';
import { median, report, reportRatio, say } from './report.ts';

const rounds = Number(process.argv[2] ?? 5);
const itemCount = 5000;
const limitMilliseconds = 200;
const columns = nameColumns(10);

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

const inputs = {
	items: `Array.from({ length: ${itemCount} }, (_, n) => Object.fromEntries(${JSON.stringify(columns)}.map((name) => [name, name + ' of ' + n])))`,
	nothing: '[{}]',
};

/** An expression that only n8n itself can evaluate. */
const computed = (name: string) => `={{ $json.${name} + ' of item ' + $itemIndex }}`;

function editFields() {
	const assignments = columns
		.slice(0, 4)
		.map((name) => ({ id: name, name, value: computed(name), type: 'string' }));
	const parameters = { mode: 'manual', assignments: { assignments } };
	return node('Step', 'n8n-nodes-base.set', parameters, { typeVersion: 3.4 });
}

const place = { resource: 'spreadsheet', spreadsheetId: byId(spreadsheetId) };
const row = `={{ [[${columns.map((name) => `$json.${name} + ' of item ' + $itemIndex`).join(', ')}]] }}`;
const fromItems = { columns: { mappingMode: 'autoMapInputData', value: null } };
const agentParameters = {
	...{ sessionId: computed('f0'), startStepName: '={{ "start" + $itemIndex }}' },
	...{ task: computed('f1'), input: computed('f2'), options: { parallelRequests: 100 } },
};

interface Variant {
	readonly name: string;
	readonly stored: Stored;
	readonly clock: number[];
	readonly worked: number[];
}

async function createVariants({ api }: RestartableN8n, service: AgentService): Promise<Variant[]> {
	const credentials = await createCredentials(api, { workspaceOAuth2Api: googleSignIn });
	const workspace = (parameters: object) =>
		workspaceStep({ options: { range: 'Sheet1!A:J' }, ...place, ...parameters }, credentials);
	const agent = node('Step', 'n8n-nodes-agent-workspace.agentExecute', agentParameters, {
		credentials: await createAgentCredentials(api, service),
	});
	const match = { writeMode: 'updateOrAdd', matchColumns: ['f0'] };
	const steps = {
		"n8n's Edit Fields, 4 expressions": editFields(),
		'Workspace, append, an expression of 10 cells': workspace({
			...{ operation: 'append', valuesSource: 'json', values: row },
		}),
		'Workspace, append, from items': workspace({ operation: 'append', ...fromItems }),
		'Workspace, write where Match Columns fit': workspace({
			operation: 'write',
			...fromItems,
			...match,
		}),
		'Workspace, read as items': workspace({
			operation: 'read',
			options: { range: 'Sheet1' },
		}),
		'Agent Execute, 4 expressions': agent,
	};
	return await Promise.all(
		Object.entries(steps).map(async ([name, step]) => {
			const input = name.includes('read') ? inputs.nothing : inputs.items;
			return {
				name,
				stored: await createRun(api, name, input, [step]),
				clock: [],
				worked: [],
			};
		}),
	);
}

/** The longest time within a node's run in which nothing else could run, in milliseconds. */
async function measure(n8n: RestartableN8n, inspector: Inspector, { name, stored }: Variant) {
	await inspector.evaluate('void (globalThis.benchStretches.length = 0)');
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 600_000);
	const took = readMilliseconds(name, execution, ['Step']);
	const start = execution.resultData.runData.Step?.at(-1)?.startTime ?? NaN;
	const stretches = await inspector.evaluate<Stretch[]>('globalThis.benchStretches');
	const within = stretches.map(({ from, to, worked }) => {
		const clock = Math.max(0, Math.min(to, start + took) - Math.max(from, start));
		return { clock, worked: (worked * clock) / (to - from) };
	});
	return {
		took,
		clock: Math.max(0, ...within.map(({ clock }) => clock)),
		worked: Math.max(0, ...within.map(({ worked }) => worked)),
	};
}

async function main(): Promise<void> {
	const google = await GoogleProcess.start();
	const service = await startAgentService({ apiKey, messages: () => [], keepLog: false });
	const env = redirectTo(google.url, '--inspect-port=127.0.0.1:0 --max-old-space-size=3000');
	const n8n = await benchN8n({ env });
	try {
		const variants = await createVariants(n8n, service);
		const inspector = await Inspector.open(n8n);
		await inspector.evaluate(probe);
		// The first round is a warm-up, without which n8n's node takes as many seconds.
		for (let round = 0; round <= rounds; round++) {
			for (const variant of variants.slice(round === 0 ? 1 : 0)) {
				await google.seed({ rows: itemCount, emptyRows: 20_000, columns });
				const { took, clock, worked } = await measure(n8n, inspector, variant);
				console.error(
					`round ${round}: ${variant.name} took ${took} ms, at most ${worked.toFixed(0)} ms at a stretch`,
				);
				if (round === 0) continue;
				variant.clock.push(clock);
				variant.worked.push(worked);
			}
		}
		inspector.close();
		say(
			`${await describeHost()}; ${itemCount} items, ${rounds} rounds. Longest stretch in which nothing else had its turn:\n`,
		);
		for (const { name, clock, worked } of variants) {
			report(`${name}, on the clock`, clock, 'ms');
			report(`${name}, work of the thread`, worked, 'ms');
		}
		for (const { name, worked } of variants.slice(1)) {
			reportRatio(`${name}, work of the thread / limit`, median(worked) / limitMilliseconds, {
				atMost: 1,
			});
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
