// `npm run test:mutants -- [COUNT] [SEED] [PATH…]`: makes one small change at a time in a copy of the package, and runs the unit
// tests that import the changed file. What no test notices is printed; .dev/mutants keeps what was found, and a run that was
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
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type Change, changesOf } from './mutants/changes.ts';
import { Importers } from './mutants/importers.ts';
import { runCommand } from './n8n/command.ts';
import { root } from './n8n/host.ts';

type Verdict = 'noticed' | 'endless' | 'survived' | 'untested';

interface Found extends Change {
	readonly verdict: Verdict;
}

/** Test files of one change, the nearest to it. */
const most = 30;
/** Seconds that they take, first of the nearest and, if those notice nothing, of all that are tried. */
const [nearSeconds, allSeconds] = [15, 120];
/** Suites that need n8n or many minutes, and tests of the package's form, texts and tools. */
const others =
	/^test\/(e2e|browser|queue|hostile|versions|chaos|build|docs|dev|faults|google|agent-service)\//;
const isTest = (file: string) =>
	file.endsWith('.test.ts') && !others.test(file) && file.split('/').length > 2;

const [count = 60, seed = 1] = process.argv.slice(2, 4).map(Number);
const only = process.argv.slice(4);

/** The same numbers from 0 to 1 for the same seed. */
function numbers(from: number): () => number {
	let at = 0;
	return () => createHash('sha256').update(`${from} ${at++}`).digest().readUInt32BE() / 2 ** 32;
}

function chosen(): Change[] {
	const files = globSync('{nodes,credentials}/**/*.ts', { cwd: root }).sort();
	const wanted = files.filter((file) => only.length === 0 || only.some((part) => file.includes(part)));
	const all = wanted.flatMap((file) => changesOf(file, readFileSync(path.join(root, file), 'utf8')));
	const random = numbers(seed);
	const sample: Change[] = [];
	while (sample.length < count && all.length > 0) {
		sample.push(...all.splice(Math.floor(random() * all.length), 1));
	}
	return sample;
}

/** A copy in which files are changed: a run that is stopped leaves the package as it is. */
async function copyOf(): Promise<string> {
	const copy = path.join(tmpdir(), `mutants-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`);
	rmSync(copy, { recursive: true, force: true });
	const listed = await runCommand('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
	for (const file of listed.trim().split('\n')) {
		if (existsSync(path.join(root, file))) cpSync(path.join(root, file), path.join(copy, file));
	}
	symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
	return copy;
}

/** Seconds by test file, of those that pass without a change. */
type Durations = ReadonlyMap<string, number>;

interface Outcome {
	readonly name: string;
	readonly status: string;
	readonly startTime: number;
	readonly endTime: number;
}

const results = (copy: string) => path.join(copy, 'mutants.json');

/** @returns whether they pass; undefined if they did not end in time */
async function pass(copy: string, tests: readonly string[], seconds: number, ...more: string[]) {
	const program = path.join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
	const reporter = '<rootDir>/dev/mutants/silence.cjs';
	const settings = ['--selectProjects', 'unit', '--forceExit', '--silent', '--reporters', reporter];
	const child = spawn(process.execPath, [program, ...settings, ...more, '--runTestsByPath', ...tests], {
		cwd: copy,
		// A test that waits in vain has noticed the change; it need not wait long.
		env: { ...process.env, ...(more.includes('--bail') && { TEST_PATIENCE: '60000' }) },
		stdio: 'ignore',
		detached: true,
	});
	const ended = new Promise((resolve) => child.once('close', resolve));
	const limit = setTimeout(() => {
		if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
	}, seconds * 1000);
	const code = await ended;
	clearTimeout(limit);
	return code === null ? undefined : code === 0;
}

async function durationsOf(copy: string, tests: readonly string[]): Promise<Durations> {
	console.log(`${tests.length} test files without a change …`);
	await pass(copy, tests, 3600, '--json', '--outputFile', results(copy));
	const { testResults } = JSON.parse(readFileSync(results(copy), 'utf8')) as { testResults: Outcome[] };
	const nameOf = ({ name }: Outcome) => path.relative(copy, name);
	for (const one of testResults.filter(({ status }) => status !== 'passed')) {
		console.log(`left out, because it fails without a change: ${nameOf(one)}`);
	}
	return new Map(
		testResults
			.filter(({ status }) => status === 'passed')
			.map((one) => [nameOf(one), (one.endTime - one.startTime) / 1000]),
	);
}

/** The tests in their order, until they take so long; at least one. */
function within(tests: readonly string[], durations: Durations, seconds: number): string[] {
	let sum = 0;
	return tests.filter((test, index) => (sum += durations.get(test) ?? 0) <= seconds || index === 0);
}

async function verdictOf(
	copy: string,
	change: Change,
	tests: readonly string[],
	durations: Durations,
): Promise<Verdict> {
	if (tests.length === 0) return 'untested';
	const file = path.join(copy, change.file);
	const text = readFileSync(file, 'utf8');
	writeFileSync(file, text.slice(0, change.from) + change.after + text.slice(change.to));
	try {
		const near = within(tests, durations, nearSeconds);
		const rest = within(tests, durations, allSeconds).filter((test) => !near.includes(test));
		for (const some of [near, rest]) {
			if (some.length === 0) continue;
			const expected = some.reduce((sum, test) => sum + (durations.get(test) ?? 0), 0);
			const passed = await pass(copy, some, 60 + 5 * expected, '--bail');
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
	const copy = await copyOf();
	try {
		const importers = new Importers(copy);
		const testsOf = ({ file }: Change) => importers.testsOf(file, isTest).slice(0, most);
		const left = sample.slice(done.length);
		const durations = await durationsOf(copy, [...new Set(left.flatMap(testsOf))]);
		for (const change of left) {
			const tests = testsOf(change).filter((test) => durations.has(test));
			const found = { ...change, verdict: await verdictOf(copy, change, tests, durations) };
			done.push(found);
			writeFileSync(record, JSON.stringify(done, undefined, '\t'));
			console.log(`[${done.length}/${sample.length}] ${shown(found)}`);
		}
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
	const missed = done.filter(({ verdict }) => verdict === 'survived' || verdict === 'untested');
	console.log(`\nNo test notices:\n${missed.map(shown).join('\n')}\n`);
	const noticed = done.length - missed.length;
	const endless = done.filter(({ verdict }) => verdict === 'endless').length;
	console.log(
		`${noticed} of ${done.length} changes are noticed (${((100 * noticed) / done.length).toFixed(1)} %), ${endless} of them because a test does not end; seed ${seed}`,
	);
}

await main();
