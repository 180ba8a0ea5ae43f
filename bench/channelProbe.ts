import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'flatted';

const mebibyte = 1024 * 1024;

/** Looks at a running n8n from outside: its memory, its database. */
export class Probe {
	readonly #pid: number;
	readonly #database: DatabaseSync;

	constructor(pid: number, userFolder: string) {
		this.#pid = pid;
		this.#database = new DatabaseSync(path.join(userFolder, '.n8n', 'database.sqlite'), { readOnly: true });
		this.#database.exec('PRAGMA busy_timeout = 10000');
	}

	/** Resident memory in MiB: now, and the most since `resetPeak`. */
	memory(): { readonly now: number; readonly peak: number } {
		const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
		const of = (name: string) =>
			(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / mebibyte;
		return { now: of('VmRSS'), peak: of('VmHWM') };
	}

	resetPeak(): void {
		writeFileSync(`/proc/${this.#pid}/clear_refs`, '5');
	}

	/** Seconds of processor time so far. */
	cpuSeconds(): number {
		const fields = readFileSync(`/proc/${this.#pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		const ticksPerSecond = 100;
		return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
	}

	/** Executions of a workflow that have ended. */
	ended(workflowId: string): number {
		const row = this.#database
			.prepare("select count(*) as n from execution_entity where workflowId = ? and status = 'success'")
			.get(workflowId);
		return Number(row?.n);
	}

	/** Milliseconds from the arrival of an execution's first message to its start and end, for up to `limit` executions. */
	delays(workflowId: string, limit = 2000): { readonly starts: number[]; readonly ends: number[] } {
		const rows = this.#database
			.prepare(
				`select startedAt, stoppedAt, data from execution_entity join execution_data on executionId = id
				 where workflowId = ? and status = 'success' order by id limit ?`,
			)
			.all(workflowId, limit);
		const starts: number[] = [];
		const ends: number[] = [];
		for (const { startedAt, stoppedAt, data } of rows) {
			const arrived = Date.parse(firstItem(String(data)).receivedAt);
			starts.push(utc(String(startedAt)) - arrived);
			ends.push(utc(String(stoppedAt)) - arrived);
		}
		return { starts, ends };
	}

	close(): void {
		this.#database.close();
	}
}

interface TriggerData {
	readonly resultData: {
		readonly runData: Record<
			string,
			Array<{ data: { main: Array<Array<{ json: { receivedAt: string } }>> } }>
		>;
	};
}

function firstItem(data: string): { receivedAt: string } {
	const { resultData } = parse(data) as TriggerData;
	return resultData.runData.Trigger?.[0]?.data.main[0]?.[0]?.json ?? { receivedAt: '' };
}

const utc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`);

export function percentile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
