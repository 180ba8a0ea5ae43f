// The stand-in in a separate process, so that its work does not count as n8n's. It receives what to create
// over its IPC channel.
import { startGoogle } from '../../dev/google/server.ts';

/** Clears everything and creates what the next run needs. */
export interface Order {
	readonly mails: number;
	readonly documents: number;
	/** Rows of the spreadsheet below its header. */
	readonly rows: number;
	/** Empty rows below the data, because n8n's own node writes there without adding rows. */
	readonly emptyRows: number;
}

export interface Seeded {
	readonly messageIds: readonly string[];
	readonly documentIds: readonly string[];
}

export const spreadsheetId = 'bench-spreadsheet';
export const columns = ['f0', 'f1', 'f2', 'f3', 'f4'];

export const valueOf = (column: string, row: number) => `${column} of row ${row}`;

export type Message =
	| { readonly kind: 'listening'; readonly url: string }
	| ({ readonly kind: 'seeded' } & Seeded)
	| {
			readonly kind: 'counted';
			/** Requests since the order. */
			readonly requests: number;
	  };

const text = 'A line of text, as it stands in many mails and documents. ';

async function serve(latencyMilliseconds: number): Promise<void> {
	// n8n's own nodes send requests that the contract does not know.
	const google = await startGoogle({ tolerant: true, latencyMilliseconds });
	const tell = (message: Message) => process.send?.(message);
	process.on('message', (order: Order | 'count') => {
		if (order === 'count') {
			tell({ kind: 'counted', requests: google.requests.length });
			return;
		}
		google.reset();
		google.tokens.issue({ token: 'bench' });
		const messageIds = Array.from({ length: order.mails }, (_, n) =>
			google.gmail.seed({
				from: `Sender ${n} <sender${n}@example.com>`,
				subject: `Report ${n}`,
				text: text.repeat(40),
				date: new Date(Date.UTC(2026, 0, 1) + n * 60_000),
			}),
		);
		const paragraph = { paragraph: { elements: [{ textRun: { content: `${text}\n` } }] } };
		const body = Array.from({ length: 20 }, () => paragraph);
		const documentIds = Array.from({ length: order.documents }, (_, n) =>
			google.docs.seed({ title: `Document ${n}`, tabs: [{ title: 'Tab 1', body }] }),
		);
		const rows = Array.from({ length: order.rows }, (_, row) => columns.map((name) => valueOf(name, row)));
		google.sheets.seed({
			title: 'Bench',
			tabs: [{ title: 'Sheet1', rows: [columns, ...rows], rowCount: order.rows + order.emptyRows }],
			file: { id: spreadsheetId },
		});
		// Collects the garbage of the seeds now, not while a request waits.
		globalThis.gc?.();
		tell({ kind: 'seeded', messageIds, documentIds });
	});
	process.once('disconnect', () => void google.close());
	tell({ kind: 'listening', url: google.url });
}

if (process.send !== undefined && process.argv[1] === import.meta.filename)
	await serve(Number(process.argv[2]));
