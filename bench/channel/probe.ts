import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'flatted';

const mebibyte = 1024 * 1024;

/** Milliseconds from the arrival of the first message of an execution. */
interface Times {
	readonly starts: number[];
	readonly ends: number[];
}

/** An execution and what its trigger passed to it. */
export interface Started {
	readonly status: string;
	readonly startedAt: number;
	/** NaN while it runs, and forever if n8n could not record its end. */
	readonly stoppedAt: number;
	readonly items: readonly Record<string, unknown>[];
}

/** Observes a running n8n from outside: its memory and its database. */
export class Probe {
	readonly #pid: () => number;
	readonly #database: DatabaseSync;

	/** @param pid called each time, because n8n may be restarted */
	constructor(pid: () => number, databaseFile: string) {
		this.#pid = pid;
		this.#database = new DatabaseSync(databaseFile, { readOnly: true });
		this.#database.exec('PRAGMA busy_timeout = 10000');
	}

	/** Resident memory in MiB: the current value, and the peak since `resetPeak`. */
	memory(): { readonly now: number; readonly peak: number } {
		const status = readFileSync(`/proc/${this.#pid()}/status`, 'utf8');
		const of = (name: string) =>
			(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / mebibyte;
		return { now: of('VmRSS'), peak: of('VmHWM') };
	}

	resetPeak(): void {
		writeFileSync(`/proc/${this.#pid()}/clear_refs`, '5');
	}

	/** Processor time used so far, in seconds. */
	cpuSeconds(): number {
		const fields = readFileSync(`/proc/${this.#pid()}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		const ticksPerSecond = 100;
		return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
	}

	/** The number of the newest execution. */
	newest(): number {
		return Number(this.#database.prepare('select max(id) as n from execution_entity').get()?.n ?? 0);
	}

	/** Number of a workflow's executions that succeeded. */
	ended(workflowId: string): number {
		const row = this.#database
			.prepare("select count(*) as n from execution_entity where workflowId = ? and status = 'success'")
			.get(workflowId);
		return Number(row?.n);
	}

	/**
	 * Failed executions of all workflows after the given one. Here, these are what a trigger reports to its
	 * user.
	 */
	failed(after: number): { readonly workflowId: string; readonly at: number }[] {
		return this.#database
			.prepare("select workflowId, createdAt from execution_entity where id > ? and status = 'error'")
			.all(after)
			.map(({ workflowId, createdAt }) => ({
				workflowId: String(workflowId),
				at: utc(String(createdAt)),
			}));
	}

	/** Milliseconds from the arrival of an execution's first message to its start and end, for the executions after the given one. */
	delays(workflowId: string, after: number): Times {
		const times: Times = { starts: [], ends: [] };
		for (const { startedAt, stoppedAt, items, status } of this.#read(after, workflowId)) {
			if (status !== 'success') continue;
			const arrived = Date.parse(String(items[0]?.receivedAt));
			times.starts.push(startedAt - arrived);
			times.ends.push(stoppedAt - arrived);
		}
		return times;
	}

	/** Executions of all workflows after the given one. */
	startedAfter(after: number): Started[] {
		return this.#read(after, null);
	}

	close(): void {
		this.#database.close();
	}

	#read(after: number, workflowId: string | null): Started[] {
		return this.#database
			.prepare(
				`select status, startedAt, stoppedAt, data from execution_entity join execution_data on executionId = id
				 where id > ? and (? is null or workflowId = ?) and status != 'error' order by id`,
			)
			.all(after, workflowId, workflowId)
			.map(({ status, startedAt, stoppedAt, data }) => ({
				status: String(status),
				startedAt: utc(String(startedAt)),
				stoppedAt: utc(String(stoppedAt)),
				items: triggered(String(data)),
			}));
	}
}

type Items = ReadonlyArray<{ readonly json: Record<string, unknown> }>;

interface RunData {
	readonly resultData: { readonly runData: Record<string, Array<{ data: { main: Items[] } }>> };
	/** The remaining work. */
	readonly executionData?: { readonly nodeExecutionStack?: Array<{ data: { main: Items[] } }> };
}

/** What the trigger passed on, even if n8n has not recorded the end of the execution. */
function triggered(data: string): Record<string, unknown>[] {
	const { resultData, executionData } = parse(data) as RunData;
	const given = resultData.runData.Trigger?.[0] ?? executionData?.nodeExecutionStack?.[0];
	return (given?.data.main[0] ?? []).map(({ json }) => json);
}

const utc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`);

export function percentile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
