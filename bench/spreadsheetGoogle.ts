// The stand-in in a process of its own, told over its IPC channel what spreadsheet to hold: its work on a large sheet is not n8n's.
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
	/** Method ids of all requests since the order, in order. */
	readonly methods: readonly string[];
	/** Rows that hold something now. */
	readonly rows: number;
}

const [latencyMilliseconds = 0] = process.argv.slice(2).map(Number);
// n8n's own node sends what the contract does not know.
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
		// Room below the data: n8n's own node writes there without making room.
		tabs: [{ title: 'Sheet1', rows: [header, ...rows], rowCount: order.rows + 20_000 }],
		file: { id: spreadsheetId },
	});
	// What the making of the sheet left behind is cleared now, not while a request waits.
	globalThis.gc?.();
	tell({ kind: 'seeded', spreadsheetId });
});
process.once('disconnect', () => void google.close());
tell({ kind: 'listening', url: google.url });

function tell(message: Message): void {
	process.send?.(message);
}
