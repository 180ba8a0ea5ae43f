// `npm run test:mutants -- [COUNT] [SEED] [PATH…]`: makes one small change at a time in a copy of the package, and runs the unit
// tests that reach what was changed. What no test notices is printed; .dev/mutants keeps what was found, and a run that was
// stopped goes on there. The same seed chooses the same changes of the same sources.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	cpSync,
	existsSync,
	globSync,
	mkdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';

import { jestProgram } from './jest.ts';
import { type Change, changesOf, withProbes } from './mutants/changes.ts';
import { Importers } from './mutants/importers.ts';
import { runCommand } from './n8n/command.ts';
import { root } from './n8n/installN8n.ts';

type Verdict = 'noticed' | 'endless' | 'survived' | 'untested';

interface Found extends Change {
	readonly verdict: Verdict;
}

/** Most test files that are tried on one change: those nearest to it. */
const most = 30;
/** Seconds of tests that are tried on one change: first the nearest, then all if those notice nothing. */
const [nearSeconds, allSeconds] = [15, 120];
/** Milliseconds that a test may take. One that waits in vain has noticed the change, so the limit can be short. */
const patience = 120_000;
/** Changes that are tried at a time: more than there are processors, because a test that waits in vain needs none. */
const atOnce = 2 * availableParallelism();
/** Suites that need n8n or many minutes, and tests of the package's form and tools. */
const others =
	/^test\/(e2e|browser|queue|hostile|versions|chaos|build|dev|faults|google|agent-service)\//;
const isTest = (file: string) =>
	file.endsWith('.test.ts') && !others.test(file) && file.split('/').length > 2;

const [count = 60, seed = 1] = process.argv.slice(2, 4).map(Number);
const only = process.argv.slice(4);

/** Makes a generator of numbers from 0 to 1, always the same ones for the same seed. */
function numbers(from: number): () => number {
	let at = 0;
	return () => createHash('sha256').update(`${from} ${at++}`).digest().readUInt32BE() / 2 ** 32;
}

function chosen(): Change[] {
	const isWanted = (file: string) =>
		only.length === 0 || only.some((part) => file.includes(part));
	const files = globSync('{nodes,credentials}/**/*.ts', { cwd: root }).filter(isWanted).sort();
	const all = files.flatMap((file) =>
		changesOf(file, readFileSync(path.join(root, file), 'utf8')),
	);
	const random = numbers(seed);
	const sample: Change[] = [];
	while (sample.length < count && all.length > 0) {
		sample.push(...all.splice(Math.floor(random() * all.length), 1));
	}
	return sample;
}

/** Copies the package. Files are changed only in the copy, so that a run that is stopped leaves the package as it is. */
async function copyOf(nth: number): Promise<string> {
	const own = createHash('sha256').update(`${root} ${seed} ${nth}`).digest('hex').slice(0, 8);
	const copy = path.join(tmpdir(), `mutants-${own}`);
	rmSync(copy, { recursive: true, force: true });
	const listFiles = ['ls-files', '-co', '--exclude-standard'];
	const listed = await runCommand('git', listFiles, { cwd: root });
	for (const file of listed.trim().split('\n')) {
		if (existsSync(path.join(root, file))) cpSync(path.join(root, file), path.join(copy, file));
	}
	symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
	return copy;
}

/** A test file that passes without a change. */
interface Test {
	readonly seconds: number;
	/** The places of changes that it reaches, as told by {@link idOf}. */
	readonly reaches: ReadonlySet<string>;
}

type Tests = ReadonlyMap<string, Test>;

interface Outcome {
	readonly name: string;
	readonly status: string;
	readonly startTime: number;
	readonly endTime: number;
}

const idOf = ({ file, reached }: Change) =>
	`${file} ${String(reached?.from)}-${String(reached?.to)}`;

/** Code in `nodes/untrusted` runs in a thread with its own global object, where what a test reaches is not recorded. */
const isSeen = ({ file, reached }: Change) =>
	reached !== undefined && !file.startsWith('nodes/untrusted/');

/** Code that notes that a change's place is reached. */
const recordReached = (change: Change) =>
	`globalThis.reached?.add(${JSON.stringify(idOf(change))})`;

/** Code for jest's setup: the last hook of a test file writes down what the file reached, under the name of its path. */
const recorder = (folder: string) => `
const reached = new Set<string>();
Object.assign(globalThis, { reached });
afterAll(() => {
	const { writeFileSync } = require('node:fs');
	const name = encodeURIComponent(expect.getState().testPath ?? '');
	writeFileSync(${JSON.stringify(folder)} + '/' + name, JSON.stringify([...reached]));
});
`;

/** Functions that end the running tests. Each is a process group of its own, which Ctrl-C does not reach. */
const running = new Set<() => void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => {
		for (const kill of running) kill();
		process.exit(1);
	});
}

/** @returns whether they pass; undefined if they did not end in time */
async function pass(copy: string, tests: readonly string[], seconds: number, ...more: string[]) {
	const reporter = ['--reporters', '<rootDir>/dev/mutants/silence.cjs'];
	const settings = ['--selectProjects', 'unit', '--forceExit', '--silent', ...reporter, ...more];
	// Megabytes: a change can also make a test take more and more memory.
	const program = ['--max-old-space-size=2048', jestProgram];
	const child = spawn(process.execPath, [...program, ...settings, '--runTestsByPath', ...tests], {
		cwd: copy,
		env: { ...process.env, TEST_PATIENCE: String(patience) },
		stdio: 'ignore',
		detached: true,
	});
	const ended = new Promise((resolve) => child.once('close', resolve));
	const kill = () => {
		if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
	};
	const limit = setTimeout(kill, seconds * 1000);
	running.add(kill);
	const code = await ended;
	clearTimeout(limit);
	running.delete(kill);
	return code === null ? undefined : code === 0;
}

/** Runs all test files once without a change, to know how long each takes and which changes it reaches. */
async function testsIn(
	copy: string,
	changes: readonly Change[],
	files: readonly string[],
): Promise<Tests> {
	console.log(`${files.length} test files without a change …`);
	const folder = path.join(copy, 'reached');
	mkdirSync(folder);
	const sources = new Map<string, string>();
	const rewrite = (file: string, change: (text: string) => string) => {
		const text = readFileSync(path.join(copy, file), 'utf8');
		sources.set(file, text);
		writeFileSync(path.join(copy, file), change(text));
	};
	const seen = changes.filter(isSeen);
	for (const file of new Set(seen.map((one) => one.file))) {
		const some = seen.filter((one) => one.file === file);
		rewrite(file, (text) => withProbes(text, some, recordReached));
	}
	rewrite('test/setup.ts', (text) => text + recorder(folder));
	const results = path.join(copy, 'mutants.json');
	await pass(copy, files, 3600, '--json', '--outputFile', results);
	for (const [file, text] of sources) writeFileSync(path.join(copy, file), text);
	const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as { testResults: Outcome[] };
	const tests = new Map<string, Test>();
	for (const { name, status, startTime, endTime } of testResults) {
		const file = path.relative(copy, name);
		if (status !== 'passed') {
			console.log(`left out, because it fails without a change: ${file}`);
			continue;
		}
		const reached = readFileSync(path.join(folder, encodeURIComponent(name)), 'utf8');
		const seconds = (endTime - startTime) / 1000;
		tests.set(file, { seconds, reaches: new Set(JSON.parse(reached) as string[]) });
	}
	return tests;
}

/** Takes tests in their order until their time is used up; at least one. */
function within(files: readonly string[], tests: Tests, seconds: number): string[] {
	let sum = 0;
	return files.filter((file, index) => (sum += secondsOf(file, tests)) <= seconds || index === 0);
}

const secondsOf = (file: string, tests: Tests) => tests.get(file)?.seconds ?? 0;

async function verdictOf(
	copy: string,
	change: Change,
	files: readonly string[],
	tests: Tests,
): Promise<Verdict> {
	if (files.length === 0) return 'untested';
	const file = path.join(copy, change.file);
	const text = readFileSync(file, 'utf8');
	writeFileSync(file, text.slice(0, change.from) + change.after + text.slice(change.to));
	try {
		const near = within(files, tests, nearSeconds);
		const rest = within(files, tests, allSeconds).filter((one) => !near.includes(one));
		for (const some of [near, rest]) {
			if (some.length === 0) continue;
			const expected = some.reduce((sum, one) => sum + secondsOf(one, tests), 0);
			const passed = await pass(copy, some, 120 + 4 * expected, '--bail', '--runInBand');
			if (passed === undefined) return 'endless';
			if (!passed) return 'noticed';
		}
		return 'survived';
	} finally {
		writeFileSync(file, text);
	}
}

function shown({ file, line, before, after, verdict }: Found): string {
	const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 90);
	return `${verdict.padEnd(8)} ${file}:${line}  ${short(before)}  ->  ${short(after)}`;
}

async function main(): Promise<void> {
	const sample = chosen();
	const folder = path.join(root, '.dev', 'mutants');
	mkdirSync(folder, { recursive: true });
	const key = createHash('sha256').update(JSON.stringify(sample)).digest('hex').slice(0, 12);
	const record = path.join(folder, `${count}-${seed}-${key}.json`);
	const done = existsSync(record) ? (JSON.parse(readFileSync(record, 'utf8')) as Found[]) : [];
	const isDone = ({ file, from, after }: Change) =>
		done.some((one) => one.file === file && one.from === from && one.after === after);
	const left = sample.filter((change) => !isDone(change));
	const copies = await Promise.all(
		Array.from({ length: atOnce }, async (_, nth) => await copyOf(nth)),
	);
	const [first = ''] = copies;
	try {
		const importers = new Importers(first);
		const filesOf = ({ file }: Change) => importers.testsOf(file, isTest);
		const tests = await testsIn(first, left, [...new Set(left.flatMap(filesOf))]);
		const canNotice = (change: Change) => (file: string) => {
			const test = tests.get(file);
			return test !== undefined && (!isSeen(change) || test.reaches.has(idOf(change)));
		};
		const work = async (copy: string) => {
			for (let change = left.shift(); change; change = left.shift()) {
				const files = filesOf(change).filter(canNotice(change)).slice(0, most);
				const found = { ...change, verdict: await verdictOf(copy, change, files, tests) };
				done.push(found);
				writeFileSync(record, JSON.stringify(done, undefined, '\t'));
				console.log(`[${done.length}/${sample.length}] ${shown(found)}`);
			}
		};
		await Promise.all(copies.map(work));
	} finally {
		for (const copy of copies) rmSync(copy, { recursive: true, force: true });
	}
	const missed = done.filter(({ verdict }) => verdict === 'survived' || verdict === 'untested');
	console.log(`\nNo test notices:\n${missed.map(shown).join('\n')}\n`);
	const noticed = done.length - missed.length;
	const endless = done.filter(({ verdict }) => verdict === 'endless').length;
	const percent = ((100 * noticed) / done.length).toFixed(1);
	console.log(
		`${noticed} of ${done.length} changes are noticed (${percent} %), ${endless} of them because a test does not end; seed ${seed}`,
	);
}

await main();
