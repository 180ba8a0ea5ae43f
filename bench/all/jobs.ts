/** A benchmark of the whole run, with arguments that keep the whole below 25 minutes on an idle machine. */
export interface Job {
	readonly title: string;
	/** File in bench/ and its arguments. */
	readonly command: readonly string[];
	/** A job that takes longer is ended and counts as failed. */
	readonly limitMinutes: number;
}

const job = (limitMinutes: number, title: string, ...command: string[]): Job => ({
	title,
	command,
	limitMinutes,
});

export const jobs: readonly Job[] = [
	job(3, 'Loading the nodes', 'load.ts', '7'),
	job(3, 'Start and first use of the Workspace node', 'workspaceLoad.ts', '5'),
	job(10, "All operations beside n8n's own nodes", 'operations.ts'),
	job(5, 'Growth: 10 to 100,000 items', 'growth.ts'),
	job(5, '1,000 calls of an agent', 'execute.ts', '3'),
	job(5, '100 emails listed', 'mail.ts', '2'),
	job(5, "Parallel requests beside Gmail's batches", 'mailBatch.ts', '1'),
	job(5, 'Rows: 1,000 appended, sheets of 10,000 and 100,000', 'spreadsheet.ts', '3'),
	job(5, 'A file of 1 GiB', 'upload.ts', '1'),
	job(5, 'Growth: files of 1 kB to 100 MB', 'uploadGrowth.ts', '100000'),
	job(5, 'The event loop under 5,000 items', 'eventLoop.ts', '1'),
	job(10, 'The session channel', 'channel.ts', '2', 'bursts', 'rate', 'idle', 'reconnects'),
	job(5, "Streaming of an agent's messages", 'stream.ts', '5'),
	job(10, 'Queue mode', 'queue.ts'),
	job(2, 'Quotas, in virtual time', 'quota.ts'),
	job(5, 'Idempotency keys and killed processes', 'idempotency.ts', '200'),
	job(5, 'Emails with one key', 'mailKey.ts', '15'),
	job(5, 'From an edit to the running n8n', 'devLoop.ts', '2'),
];
