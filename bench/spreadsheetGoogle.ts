// The stand-in in a separate process, so that its work on a large sheet does not count as n8n's. It receives
// the spreadsheet's shape over its IPC channel.
import { startGoogle } from '../dev/google/server.ts';

export interface Order {
	/** Rows of the sheet below its header. */
	readonly rows: number;
	readonly columns: number;
}

export type Message =
	| { readonly kind: 'listening'; readonly url: string }
	| { readonly kind: 'seeded'; readonly spreadsheetId: string }
	| Counted;

export interface Counted {
	readonly kind: 'counted';
	/** Method IDs of all requests since the order, in order. */
	readonly methods: readonly string[];
	/** Number of rows that have content now. */
	readonly rows: number;
}

const [latencyMilliseconds = 0] = process.argv.slice(2).map(Number);
// n8n's own node sends requests that the contract does not know.
const google = await startGoogle({ tolerant: true, latencyMilliseconds });
const spreadsheetId = 'bench-spreadsheet';

process.on('message', (order: Order | 'count') => {
	if (order === 'count') {
		tell({
			kind: 'counted',
			methods: google.requests.map(({ method }) => method ?? '?'),
			rows: google.sheets.values(spreadsheetId, 'Sheet1').length,
		});
		return;
	}
	google.reset();
	google.tokens.issue({ token: 'bench' });
	const header = Array.from({ length: order.columns }, (_, column) => `f${column}`);
	const rows = Array.from({ length: order.rows }, (_, row) => header.map((name) => `${name} of row ${row}`));
	google.sheets.seed({
		title: 'Bench',
		// Empty rows below the data, because n8n's own node writes there without adding rows.
		tabs: [{ title: 'Sheet1', rows: [header, ...rows], rowCount: order.rows + 20_000 }],
		file: { id: spreadsheetId },
	});
	// Collects the garbage from creating the sheet now, not while a request waits.
	globalThis.gc?.();
	tell({ kind: 'seeded', spreadsheetId });
});
process.once('disconnect', () => void google.close());
tell({ kind: 'listening', url: google.url });

function tell(message: Message): void {
	process.send?.(message);
}
