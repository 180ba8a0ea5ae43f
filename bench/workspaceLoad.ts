// What the built Workspace node costs n8n's process: when it is loaded, and when it is used for the first
// time.
// npm run build, then: node bench/workspaceLoad.ts [samples]
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { median, reportRatio, say } from './report.ts';

const nodeFile = path.join(import.meta.dirname, '../dist/nodes/Workspace/Workspace.node.js');

interface Cost {
	/** Processor time. Loading is the only work, and other programs do not count. */
	readonly milliseconds: number;
	readonly wallMilliseconds: number;
	readonly bytes: number;
}

/** Printed by one sample, in a separate process. */
interface Sample {
	readonly load: Cost;
	readonly firstUse: Cost;
}

/** The project's own limits. */
const limits = {
	load: { milliseconds: 10, megabytes: 3 },
	firstUse: { milliseconds: 80, megabytes: 20 },
};

async function costOf(work: () => unknown): Promise<Cost> {
	collectGarbage();
	const before = process.memoryUsage.rss();
	const start = performance.now();
	const cpuBefore = process.cpuUsage();
	await work();
	const cpu = process.cpuUsage(cpuBefore);
	const wallMilliseconds = performance.now() - start;
	collectGarbage();
	const bytes = process.memoryUsage.rss() - before;
	return { milliseconds: (cpu.user + cpu.system) / 1000, wallMilliseconds, bytes };
}

/** Only in the memory samples: a collection also drops compiled code, which would count as time. */
const collectGarbage = () => globalThis.gc?.();

interface BuiltNode {
	execute: () => Promise<unknown>;
}

async function sample(): Promise<void> {
	const require = createRequire(import.meta.url);
	// n8n loads these long before any node. Its axios makes Node load `Headers`, which takes 10 ms.
	const loaded = ['n8n-workflow', 'axios', 'crypto', 'http', 'https', 'stream', 'timers/promises', 'zlib'];
	for (const name of loaded) require(name);
	let node: BuiltNode | undefined;
	const load = await costOf(() => {
		const { Workspace } = require(nodeFile) as { Workspace: new () => BuiltNode };
		node = new Workspace();
	});
	const firstUse = await costOf(() => node?.execute.call(context as unknown as BuiltNode));
	console.log(JSON.stringify({ load, firstUse } satisfies Sample));
}

const answer = JSON.stringify({ id: 'm1', threadId: 't1', labelIds: [], payload: { headers: [] } });
const parameters: Record<string, unknown> = {
	authentication: 'oAuth2',
	inputMode: 'json',
	inputObject: { operation: 'read', messageId: 'm1' },
};

/** The context that n8n passes to the node. Answers come from memory, so no connection is measured. */
const context = {
	getInputData: () => [{ json: {} }],
	getNodeParameter: (name: string, _item: number, fallback: unknown) => parameters[name] ?? fallback,
	getNode: () => ({ id: 'n1', name: 'Workspace', type: 'workspace', credentials: {} }),
	getCredentials: () => Promise.resolve({}),
	getTimezone: () => 'UTC',
	getExecutionId: () => 'e1',
	getWorkflowDataProxy: () => ({ $runIndex: 0 }),
	getExecutionCancelSignal: () => undefined,
	continueOnFail: () => false,
	logger: console,
	addExecutionHints: () => undefined,
	helpers: {
		httpRequestWithAuthentication: () =>
			Promise.resolve({
				statusCode: 200,
				headers: { 'content-type': 'application/json' },
				body: Readable.from([Buffer.from(answer)]),
			}),
	},
};

async function samplesOf(count: number, ...nodeOptions: string[]): Promise<Sample[]> {
	const samples: Sample[] = [];
	for (let n = 0; n < count; n++) {
		const { stdout } = await promisify(execFile)(process.execPath, [
			...nodeOptions,
			import.meta.filename,
			'sample',
		]);
		samples.push(JSON.parse(stdout) as Sample);
	}
	return samples;
}

async function main(count: number): Promise<void> {
	const times = await samplesOf(count);
	const memories = await samplesOf(count, '--expose-gc');
	for (const part of ['load', 'firstUse'] as const) {
		const milliseconds = median(times.map((sample) => sample[part].milliseconds));
		const wall = median(times.map((sample) => sample[part].wallMilliseconds));
		const megabytes = median(memories.map((sample) => sample[part].bytes)) / 1024 / 1024;
		const limit = limits[part];
		say(`${part}: ${wall.toFixed(1)} ms on the clock`);
		reportRatio(`${part}: ms of the processor`, milliseconds, { atMost: limit.milliseconds });
		reportRatio(`${part}: MB of memory`, megabytes, { atMost: limit.megabytes });
	}
}

if (process.argv[2] === 'sample') await sample();
else await main(Number(process.argv[2] ?? 9));
