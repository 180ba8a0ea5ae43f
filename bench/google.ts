// The stand-in of Google in a separate process, so that its work does not count as n8n's, and the class with
// which benchmarks start it and tell it what to hold.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import type { QuotaLimits } from '../dev/google/quotas.ts';
import type { GoogleServer } from '../dev/google/server.ts';

/** What the next run needs. Everything else is cleared. */
export interface Order {
	readonly mails?: number;
	readonly documents?: number;
	/** Rows of the spreadsheet below its header. */
	readonly rows?: number;
	/** Empty rows below the data, because n8n's own node writes there without adding rows. */
	readonly emptyRows?: number;
	/** Whether the last column holds dates. */
	readonly dates?: boolean;
	/** Positions in an upload at which the connection is reset. */
	readonly resetAt?: readonly number[];
	/** Whether to say when the first request has come. */
	readonly announceFirst?: boolean;
}

export interface Seeded {
	readonly messageIds: readonly string[];
	readonly documentIds: readonly string[];
}

/** What happened since the order. */
interface Counted {
	readonly requests: number;
	/** Since limits were set. */
	readonly refused: number;
	/** Bytes of all bodies of uploads in parts. */
	readonly receivedBytes: number;
	/** Of all files that were uploaded. */
	readonly md5: readonly string[];
}

/** What the process is told. It answers each message with one. */
type Question = { readonly order: Order } | { readonly limits: QuotaLimits } | 'count';

interface StandInOptions {
	readonly latencyMilliseconds?: number;
	readonly keepContent?: boolean;
}

export const spreadsheetId = 'bench-spreadsheet';
export const columns = ['f0', 'f1', 'f2', 'f3', 'f4'];

/** The process of the stand-in. */
export class GoogleProcess {
	readonly url: string;
	readonly #child: ChildProcess;

	private constructor(child: ChildProcess, url: string) {
		this.#child = child;
		this.url = url;
	}

	static async start(options: StandInOptions = {}): Promise<GoogleProcess> {
		const child = fork(import.meta.filename, [JSON.stringify(options)], {
			execArgv: ['--expose-gc'],
		});
		const [url] = (await once(child, 'message')) as [string];
		return new GoogleProcess(child, url);
	}

	async seed(order: Order): Promise<Seeded> {
		return (await this.#ask({ order })) as Seeded;
	}

	async count(): Promise<Counted> {
		return (await this.#ask('count')) as Counted;
	}

	/** Sets quotas, begins to count refusals, and tells what happened until now. */
	async limit(limits: QuotaLimits): Promise<Counted> {
		return (await this.#ask({ limits })) as Counted;
	}

	/** Resolves at the first request after an order with `announceFirst`. */
	async firstRequest(): Promise<void> {
		await once(this.#child, 'message');
	}

	stop(): void {
		this.#child.disconnect();
	}

	async #ask(question: Question): Promise<unknown> {
		this.#child.send(question);
		const [answer] = (await once(this.#child, 'message')) as [unknown];
		return answer;
	}
}

const tell = (message: string | Seeded | Counted) => process.send?.(message);
const text = 'A line of text, as it stands in many mails and documents. ';

function seed(google: GoogleServer, order: Order): Seeded {
	google.reset();
	google.tokens.issue({ token: 'bench' });
	google.drive.faults.resetAt.push(...(order.resetAt ?? []));
	const messageIds = Array.from({ length: order.mails ?? 0 }, (_, n) =>
		google.gmail.seed({
			from: `Sender ${n} <sender${n}@example.com>`,
			subject: `Report ${n} – Übersicht`,
			text: text.repeat(40),
			date: new Date(Date.UTC(2026, 0, 1) + n * 60_000),
		}),
	);
	const body = Array.from({ length: 20 }, () => ({
		paragraph: { elements: [{ textRun: { content: `${text}\n` } }] },
	}));
	const documentIds = Array.from({ length: order.documents ?? 0 }, (_, n) =>
		google.docs.seed({ title: `Document ${n}`, tabs: [{ title: 'Tab 1', body }] }),
	);
	const { rows = 0, emptyRows = 5000 } = order;
	const header = [...columns];
	const cells = Array.from({ length: rows }, (_, at) => [
		...header.map((name) => `${name} of row ${at}`),
		...(order.dates ? [45_000 + at] : []),
	]);
	if (order.dates) header.push('date');
	google.sheets.seed({
		title: 'Bench',
		tabs: [{ title: 'Sheet1', rows: [[...header], ...cells], rowCount: rows + emptyRows }],
		file: { id: spreadsheetId },
	});
	if (order.dates) google.sheets.format(spreadsheetId, `Sheet1!F2:F${rows + 1}`, 'dd.mm.yyyy');
	// Collects the garbage of the seeds now, not while a request waits.
	globalThis.gc?.();
	return { messageIds, documentIds };
}

function count({ requests, quotas, drive, files }: GoogleServer): Counted {
	return {
		requests: requests.length,
		refused: quotas.refused,
		receivedBytes: drive.sessions.reduce((sum, session) => sum + session.receivedBytes, 0),
		md5: files.listAll().flatMap(({ id }) => drive.content(id)?.md5 ?? []),
	};
}

async function serve(options: StandInOptions): Promise<void> {
	const { startGoogle } = await import('../dev/google/server.ts');
	// n8n's own nodes send requests that the contract does not know.
	const google = await startGoogle({ tolerant: true, ...options });
	google.tokens.issue({ token: 'bench' });
	let watching: NodeJS.Timeout | undefined;
	const announceFirst = () => {
		if (google.requests.length === 0) return;
		clearInterval(watching);
		tell('the first request');
	};
	process.on('message', (question: Question) => {
		if (question === 'count') {
			tell(count(google));
		} else if ('limits' in question) {
			tell(count(google));
			google.quotas.clear();
			google.quotas.limits = question.limits;
		} else {
			clearInterval(watching);
			tell(seed(google, question.order));
			if (question.order.announceFirst) watching = setInterval(announceFirst, 1);
		}
	});
	process.once('disconnect', () => void google.close());
	tell(google.url);
}

if (process.send !== undefined && process.argv[1] === import.meta.filename)
	await serve(JSON.parse(process.argv[2] ?? '{}') as StandInOptions);
