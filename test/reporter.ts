// Prints a line for each test file and, for a file that failed, its errors, what its tests logged and the end of its n8n's log. `--reporters=default` brings back jest's own; `--verbose` shows what tests log while they run.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type {
	AggregatedResult,
	Config,
	Reporter,
	ReporterOnStartOptions,
	Test,
	TestResult,
} from '@jest/reporters';

const root = path.join(import.meta.dirname, '..');
/** Folder for everything that a failed file has logged. */
const logs = path.join(root, '.dev', 'test-logs');
const shownLines = 60;

type Used = Required<
	Pick<Reporter, 'onRunStart' | 'onTestFileResult' | 'onRunComplete' | 'getLastError'>
>;

export default class QuietReporter implements Used {
	readonly #workers: number;
	readonly #began = Date.now();
	/** Milliseconds of all files, and of those that are done, by the run before. */
	#expected = 0;
	#done = 0;

	constructor({ maxWorkers }: Config.GlobalConfig) {
		this.#workers = maxWorkers;
	}

	/**
	 * Leaves out jest's advice against `forceExit` and its note about a process that was slow to end, which come even after a green run.
	 * jest.config.js says why we use it.
	 */
	#withoutAdvice(): void {
		for (const level of ['warn', 'error'] as const) {
			const write = console[level].bind(console);
			console[level] = (...texts: unknown[]) => {
				if (!/Force exiting Jest|failed to exit gracefully/.test(String(texts[0])))
					write(...texts);
			};
		}
	}

	onRunStart(_results: AggregatedResult, { estimatedTime }: ReporterOnStartOptions): void {
		this.#expected = estimatedTime * 1000 * this.#workers;
		rmSync(logs, { recursive: true, force: true });
		this.#withoutAdvice();
	}

	onTestFileResult(test: Test, result: TestResult, all: AggregatedResult): void {
		const { perfStats, numFailingTests, numPassingTests, testExecError } = result;
		const failed = numFailingTests > 0 || testExecError !== undefined;
		const name = path.relative(root, test.path);
		const seconds = ((perfStats.end - perfStats.start) / 1000).toFixed(1).padStart(6);
		this.#done += test.duration ?? 0;
		const files = all.numPassedTestSuites + all.numFailedTestSuites;
		const total = all.numTotalTestSuites;
		const place = total > 1 ? `[${files}/${total}${files < total ? this.#left() : ''}]` : '';
		const tests = failed
			? `${numFailingTests} of ${numFailingTests + numPassingTests} tests failed`
			: `${numPassingTests} tests`;
		say(`${failed ? 'FAIL' : 'PASS'} ${seconds} s  ${name}  ${tests}  ${place}`.trimEnd());
		if (!failed) return;
		say(`\n${result.failureMessage ?? ''}`);
		const logged = loggedBy(result);
		if (logged.length === 0) return;
		mkdirSync(logs, { recursive: true });
		const file = path.join(logs, `${name.replaceAll(path.sep, '-')}.log`);
		writeFileSync(file, `${logged.join('\n')}\n`);
		say(`The last of ${logged.length} lines that were logged (${path.relative(root, file)}):`);
		say(`${logged.slice(-shownLines).join('\n')}\n`);
	}

	onRunComplete(
		_contexts: unknown,
		{ numPassedTests, numFailedTests, numPendingTests, ...all }: AggregatedResult,
	): void {
		const broken = all.testResults.filter(
			({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError,
		);
		for (const { testFilePath } of broken) say(`Failed: ${path.relative(root, testFilePath)}`);
		say(`${all.numTotalTestSuites} files in ${timeOf(Date.now() - this.#began)}`);
		// A file that could not be run has no tests that failed.
		const failed = Math.max(numFailedTests, broken.length);
		say(
			`${numPassedTests} passed, ${failed} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''}`,
		);
	}

	getLastError(): undefined {
		return undefined;
	}

	/** Estimates the time that is left from the previous run and the speed of this one. */
	#left(): string {
		const progress = this.#done / this.#expected;
		if (!(progress > 0.05 && progress < 0.999)) return '';
		return `, about ${timeOf(((Date.now() - this.#began) * (1 - progress)) / progress)} left`;
	}
}

/** Lines that the file's tests logged, then those of each n8n that it started: see test/e2e/startTestN8n.ts. */
function loggedBy({ console: entries = [] }: TestResult): string[] {
	const lines = entries.flatMap(({ message }) => message.trimEnd().split('\n'));
	const of = (line: string): string[] => {
		const [, file = '', from = '0'] = /^n8n's log: (.+) from (\d+)$/.exec(line) ?? [];
		if (!existsSync(file)) return [];
		return [
			'',
			line,
			...readFileSync(file).subarray(Number(from)).toString('utf8').trimEnd().split('\n'),
		];
	};
	return [...lines, ...lines.flatMap(of)];
}

function timeOf(milliseconds: number): string {
	const seconds = Math.round(milliseconds / 1000);
	return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 6) / 10} min`;
}

function say(text: string): void {
	process.stdout.write(`${text}\n`);
}
