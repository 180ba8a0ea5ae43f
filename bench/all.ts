// Every benchmark, one after another. Their figures go to bench/results.md; those of a part to .dev/results.md.
// npm run bench [-- --continue] [-- part of a title or a file …]
// --continue keeps what ended well in the run before, also of other commits, and runs the rest.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import path from 'node:path';

import { runCommand } from '../dev/n8n/command.ts';
import { ensureN8nInstalled, readVersion, root } from '../dev/n8n/installN8n.ts';
import { signalGroup } from '../dev/n8n/startN8n.ts';
import { type Job, pageOf, type Result } from './all/results.ts';
import { prepareTemplate } from './n8n.ts';

const job = (limitMinutes: number, title: string, ...command: string[]): Job => ({
	title,
	command,
	limitMinutes,
});

/** The benchmarks of a whole run. bench/results.md says how long it takes. */
const jobs: readonly Job[] = [
	job(3, 'Loading the nodes', 'load.ts', '3'),
	job(10, "All operations beside n8n's own nodes", 'operations.ts'),
	job(5, 'Growth: 1,000 to 100,000 items', 'operations.ts', 'growth'),
	job(5, '1,000 calls of an agent', 'execute.ts', '2'),
	job(5, 'Lists of emails over the quota', 'operations.ts', 'quota'),
	job(5, 'A file of 1 GiB', 'upload.ts', '1'),
	job(5, 'Growth: files of 1 kB to 100 MB', 'upload.ts', 'growth', '100000'),
	job(5, 'Twelve tasks for a model', 'modelTasks.ts'),
	job(10, 'Many executions at once', 'executions.ts'),
	job(10, 'The session channel', 'channel.ts', '1'),
	job(10, 'Queue mode', 'queue.ts'),
	job(5, 'Idempotency keys and killed processes', 'idempotency.ts', '104'),
	job(5, 'Emails with one key', 'mailKey.ts', '15'),
];

/** Time to stop n8n and the stand-ins before a benchmark that takes too long is killed. */
const graceMilliseconds = 20_000;

let current: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => {
		if (current) signalGroup(current, signal);
		process.exit(1);
	});
}

async function run(job: Job, commit: string): Promise<Result> {
	console.log(`\n── ${job.title} (bench/${job.command.join(' ')})`);
	const [file = '', ...parameters] = job.command;
	const start = performance.now();
	const child = spawn(process.execPath, [path.join(import.meta.dirname, file), ...parameters], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
		// What it starts is in its process group and is ended with it.
		detached: true,
	});
	current = child;
	let printed = '';
	let complaints = '';
	child.stdout.on('data', (data: Buffer) => {
		printed += data.toString();
		process.stdout.write(data);
	});
	child.stderr.on('data', (data: Buffer) => {
		complaints = (complaints + data.toString()).slice(-2000);
		process.stderr.write(data);
	});
	const timer = setTimeout(() => {
		signalGroup(child, 'SIGTERM');
		setTimeout(() => {
			signalGroup(child, 'SIGKILL');
		}, graceMilliseconds).unref();
	}, job.limitMinutes * 60_000);
	const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
	clearTimeout(timer);
	signalGroup(child, 'SIGKILL');
	const seconds = (performance.now() - start) / 1000;
	const failure = describeFailure({ job, printed, complaints, seconds }, code);
	return { job, commit, printed, complaints, failure, seconds };
}

/** @param code with which the process ended */
function describeFailure(
	{ job, printed, complaints, seconds }: Omit<Result, 'commit' | 'failure'>,
	code: number | null,
): string | undefined {
	if (seconds > job.limitMinutes * 60) return `ended after ${job.limitMinutes} minutes`;
	if (code === 0) return undefined;
	const isMissed = /: MISSED\)$/m.test(printed) && !/^ +at /m.test(complaints);
	return isMissed ? 'a target was missed' : `exit code ${String(code)}`;
}

async function facts(seconds: number): Promise<Array<readonly [string, string]>> {
	const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
	const memory = `${(totalmem() / 1024 ** 3).toFixed(0)} GiB`;
	const n8n = readVersion(path.join(await ensureN8nInstalled(), 'node_modules', 'n8n'));
	const own = `the package ${readVersion(root)}`;
	return [
		['date', new Date().toISOString().slice(0, 16).replace('T', ' ') + ' UTC'],
		['machine', `${cpus().length} × ${processor}, ${memory}, ${type()} ${release()}`],
		['versions', `n8n ${n8n}, Node ${process.versions.node}, ${own}`],
		['load of the machine before the run', loadBefore.toFixed(1)],
		['duration', `${(seconds / 60).toFixed(0)} minutes`],
	];
}

const loadBefore = loadavg()[0] ?? NaN;

/** What --continue goes on from. */
const resultsState = path.join(root, '.dev', 'bench.json');

/** A job whose arguments have changed is another one. */
const isDone = ({ job, failure }: Result, wanted: Job) =>
	failure === undefined && job.command.join(' ') === wanted.command.join(' ');

/** @param wanted parts of titles or files; empty means all */
function choose(wanted: readonly string[]): readonly Job[] {
	const readName = ({ title, command }: Job) => `${title} ${command.join(' ')}`.toLowerCase();
	return jobs.filter(
		(one) => wanted.length === 0 || wanted.some((text) => readName(one).includes(text)),
	);
}

async function main(): Promise<void> {
	const words = process.argv.slice(2);
	const continues = words.includes('--continue');
	const wanted = words.filter((text) => text !== '--continue').map((text) => text.toLowerCase());
	const chosen = choose(wanted);
	const folder = wanted.length === 0 ? import.meta.dirname : path.join(root, '.dev');
	const resultsFile = path.join(folder, 'results.md');
	await mkdir(path.dirname(resultsState), { recursive: true });
	const commit = await runCommand('git', ['describe', '--always', '--dirty'], { cwd: root }).then(
		(text) => text.trim(),
		() => 'no git',
	);
	// Also builds, and some measure the build.
	await prepareTemplate();
	const done = continues ? (JSON.parse(await readFile(resultsState, 'utf8')) as Result[]) : [];
	const results: Result[] = [];
	for (const job of chosen) {
		results.push(done.find((one) => isDone(one, job)) ?? (await run(job, commit)));
		// After each job, so that an end in between loses nothing.
		const missing = chosen.slice(results.length).map(({ title }) => title);
		const seconds = results.reduce((sum, one) => sum + one.seconds, 0);
		const notRun = missing.length > 0 ? [['not run yet', missing.join(', ')] as const] : [];
		await writeFile(resultsFile, pageOf(results, [...(await facts(seconds)), ...notRun]));
		await writeFile(resultsState, JSON.stringify(results));
	}
	const failed = results.filter(({ failure }) => failure !== undefined);
	console.log(
		`\n${results.length - failed.length} of ${results.length} benchmarks ended well; see ${path.relative(root, resultsFile)}`,
	);
	for (const { job, failure } of failed) console.log(`  ${job.title}: ${String(failure)}`);
	if (failed.length > 0) process.exitCode = 1;
}

await main();
