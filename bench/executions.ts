// Many executions at once that each add one row to the same sheet, under Google's quota of a minute, by our node and by n8n's own
// Google Sheets node; as many that update a row each; a session trigger with Append behind it; and queue mode.
// node bench/executions.ts [200 | 1000 | rival | update | messages | workers …]
import { startAgentService } from '../dev/agent-service/server.ts';
import { startDatabase } from '../dev/n8n/queueServices.ts';
import { type GoogleProcess, spreadsheetId } from './google.ts';
import {
	apiKey,
	countEnded,
	createAgentCredentials,
	type Credentials,
	describeHost,
	publishInRow,
	publishWebhook,
	redirectTo,
	sessionTrigger,
	type Step,
	until,
	workspaceStep,
} from './n8n.ts';
import { byId, mapColumns } from './operations/contest.ts';
import { sheets, theirSheet } from './operations/spreadsheet.ts';
import { createSignIns, startWorld, type World } from './operations/world.ts';
import { Cluster, concurrency } from './queue/cluster.ts';
import { reportRatio, row, say } from './report.ts';

const wanted = process.argv.slice(2);
const includes = (section: string) => wanted.length === 0 || wanted.includes(section);
/** As many executions as n8n lists at once. */
const messageCount = 100;
const queuedCount = 100;
const workerCount = 4;
const limits = { sheetsReads: 60, sheetsWrites: 60, minute: 60_000 };
const range = 'Sheet1';

/** @param id an expression for the text of the row's first cell */
const columnsOf = (id: string) => mapColumns({ f0: id, f1: 'new' });

function ours(parameters: object, id: string, credentials: Credentials): Step {
	const own = {
		resource: 'spreadsheet',
		spreadsheetId: byId(spreadsheetId),
		tab: { __rl: true, mode: 'name', value: range },
		valuesSource: 'columns',
	};
	const columns = { ...columnsOf(id), schema: [] };
	return workspaceStep({ ...own, columns, ...parameters }, credentials);
}

const makeIds = (count: number) => Array.from({ length: count }, (_, at) => `row ${at}`);
const fromWebhook = '={{ $json.body.id }}';

/** The first cells of all rows below the header. */
async function readIds({ url }: GoogleProcess): Promise<string[]> {
	const answer = await fetch(`${url}/v4/spreadsheets/${spreadsheetId}/values/${range}!A2:B5000`, {
		headers: { authorization: 'Bearer bench' },
	});
	const { values = [] } = (await answer.json()) as { values?: string[][] };
	return values.flatMap(([id = '', value]) => (value === 'new' ? [id] : []));
}

/** Begins with a whole minute's quota. */
async function refill(google: GoogleProcess, rows: number): Promise<void> {
	await google.seed({ rows });
	await google.limit(limits);
}

/** Starts executions at once and waits for their answers. */
async function burst(google: GoogleProcess, url: string, ids: readonly string[], rows = 0) {
	await refill(google, rows);
	const failures = new Map<string, number>();
	const start = performance.now();
	const succeeded = await Promise.all(
		ids.map(async (id) => {
			const headers = { 'content-type': 'application/json' };
			const body = JSON.stringify({ id });
			const answer = await fetch(url, { method: 'POST', headers, body });
			const text = await answer.text();
			if (!answer.ok) failures.set(text, (failures.get(text) ?? 0) + 1);
			return answer.ok;
		}),
	);
	const seconds = (performance.now() - start) / 1000;
	const { requests } = await google.limit({});
	for (const [text, count] of failures) say(`${count} failed: ${text.slice(0, 300)}`);
	const stored = await readIds(google);
	const told = ids.filter((_, at) => succeeded[at]);
	const right = told.filter((id) => stored.filter((one) => one === id).length === 1);
	return { seconds, requests, told: told.length, right: right.length };
}

type Burst = Awaited<ReturnType<typeof burst>>;

function print(name: string, { seconds, requests, told, right }: Burst): void {
	const outcome = [`${told} succeed`, `${right} rows right`];
	row(name, ...outcome, `${requests} requests`, `${seconds.toFixed(1)} s`);
}

/** Rows of messages that a session trigger gets, one execution for each. */
async function listen({ n8n, google, credentials }: World): Promise<Burst> {
	const service = await startAgentService({ apiKey });
	try {
		const trigger = sessionTrigger('burst', await createAgentCredentials(n8n.api, service));
		const step = ours({ operation: 'append' }, '={{ $json.message.id }}', credentials);
		const { id } = await publishInRow(n8n.api, 'burst', [trigger, step]);
		await until('a channel', () => service.countOpenChannels('burst') === 1);
		await refill(google, 0);
		const start = performance.now();
		for (let at = 0; at < messageCount; at++) service.send('burst', { id: `m${at}` });
		// A look at the rows would take a read of the quota.
		await until(
			'the last execution',
			async () => (await countEnded(n8n.api, id, 'success')) === messageCount,
			{ limitSeconds: 400, everyMilliseconds: 1000 },
		);
		const seconds = (performance.now() - start) / 1000;
		const { requests } = await google.limit({});
		const right = new Set(await readIds(google)).size;
		return { seconds, requests, told: messageCount, right };
	} finally {
		await service.close();
	}
}

/** Queue mode, where each worker groups only its own executions. */
async function compareWorkers(google: GoogleProcess): Promise<void> {
	const cluster = await Cluster.start(redirectTo(google.url));
	try {
		const { api } = cluster.main;
		const append = ours({ operation: 'append' }, fromWebhook, await createSignIns(api));
		const { url } = await publishWebhook(api, 'workers', [append], 'lastNode');
		await Promise.all(Array.from({ length: workerCount }, () => cluster.addWorker()));
		const name = `${queuedCount} in queue mode, ${workerCount} × ${concurrency} at once`;
		const queued = await burst(google, url, makeIds(queuedCount));
		print(name, queued);
		reportRatio(`${name}: rows that are right / executions`, queued.right / queuedCount, {
			atLeast: 1,
		});
	} finally {
		await cluster.stop();
	}
}

const publish = async ({ n8n }: World, path: string, ...steps: Step[]) =>
	(await publishWebhook(n8n.api, path, steps, 'lastNode')).url;

async function appendAtOnce(
	world: World,
	count: number,
	limit: { requests: number; seconds: number },
) {
	const step = ours({ operation: 'append' }, fromWebhook, world.credentials);
	const url = await publish(world, `append-${count}`, step);
	const own = await burst(world.google, url, makeIds(count));
	const name = `${count} at once, Append`;
	print(`${name}, Workspace node`, own);
	reportRatio(`${name}: rows that are right / executions`, own.right / count, { atLeast: 1 });
	reportRatio(`${name}: requests`, own.requests, { atMost: limit.requests });
	reportRatio(`${name}: seconds`, own.seconds, { atMost: limit.seconds });
}

async function appendByRival(world: World, count: number): Promise<void> {
	const step = theirSheet('append', { columns: columnsOf(fromWebhook) });
	const url = await publish(world, 'theirs', ...sheets(step)(world.credentials));
	print(`${count} at once, Append, n8n's own`, await burst(world.google, url, makeIds(count)));
}

async function updateAtOnce(world: World): Promise<void> {
	const keyed = { operation: 'write', writeMode: 'updateOrAdd', matchColumns: ['f0'] };
	const url = await publish(world, 'keyed', ours(keyed, fromWebhook, world.credentials));
	const existing = Array.from({ length: 100 }, (_, at) => `f0 of row ${at}`);
	const updated = await burst(world.google, url, existing, 100);
	const name = '100 at once, Update';
	print(name, updated);
	reportRatio(`${name}: rows that are right / executions`, updated.right / 100, { atLeast: 1 });
	reportRatio(`${name}: requests`, updated.requests, { atMost: 40 });
}

/** With SQLite, n8n refuses webhooks whose execution it could not store within 60 s. */
async function withPostgres(work: (world: World) => Promise<void>): Promise<void> {
	const database = await startDatabase();
	const world = await startWorld({ ...database.env, DB_POSTGRESDB_CONNECTION_TIMEOUT: '300000' });
	try {
		await work(world);
	} finally {
		await world.close();
		await database.stop();
	}
}

async function main(): Promise<void> {
	const { sheetsReads, sheetsWrites } = limits;
	say(`${await describeHost()}; ${sheetsReads} reads and ${sheetsWrites} writes per minute\n`);
	const world = await startWorld();
	try {
		if (includes('200')) await appendAtOnce(world, 200, { requests: 40, seconds: 30 });
		if (includes('rival')) await appendByRival(world, 200);
		if (includes('update')) await updateAtOnce(world);
		if (includes('messages')) {
			const messages = await listen(world);
			print(`${messageCount} messages, Append`, messages);
			reportRatio('Messages: rows / messages', messages.right / messageCount, { atLeast: 1 });
		}
		if (includes('workers')) await compareWorkers(world.google);
	} finally {
		await world.close();
	}
	if (includes('1000'))
		await withPostgres(async (postgresWorld) => {
			await appendAtOnce(postgresWorld, 1000, { requests: 60, seconds: 120 });
		});
}

await main();
