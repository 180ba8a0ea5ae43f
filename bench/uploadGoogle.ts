// The stand-in in a separate process, so that its memory and hashing do not count as n8n's. It receives
// orders over its IPC channel.
import { startGoogle } from '../dev/google/server.ts';

export type Order =
	| { readonly order: 'start'; readonly resetAt?: readonly number[]; readonly announceFirst?: boolean }
	| { readonly order: 'report' };

export interface Report {
	readonly kind: 'report';
	/** Bytes of all bodies that sessions received since `start`. */
	readonly receivedBytes: number;
	/** `Content-Range` of all requests to sessions, in order. */
	readonly ranges: readonly string[];
	readonly files: ReadonlyArray<{ readonly name: string; readonly md5: string | undefined }>;
}

export type Message =
	| { readonly kind: 'listening'; readonly url: string; readonly token: string }
	| { readonly kind: 'started' }
	| { readonly kind: 'firstRequest' }
	| Report;

function tell(message: Message): void {
	process.send?.(message);
}

const google = await startGoogle({ keepContent: false, tolerant: true });
let watching: NodeJS.Timeout | undefined;

process.on('message', (order: Order) => {
	if (order.order === 'report') {
		tell({
			kind: 'report',
			receivedBytes: google.drive.sessions.reduce((sum, session) => sum + session.receivedBytes, 0),
			ranges: google.drive.sessions.flatMap((session) => session.ranges),
			files: google.files.all().map(({ id, name }) => ({ name, md5: google.drive.content(id)?.md5 })),
		});
		return;
	}
	google.reset();
	google.tokens.issue({ token: 'bench' });
	google.drive.faults.resetAt.push(...(order.resetAt ?? []));
	clearInterval(watching);
	if (order.announceFirst) watching = setInterval(announceFirst, 1);
	tell({ kind: 'started' });
});

/** Reports that the upload begins. Memory is measured from here on. */
function announceFirst(): void {
	if (google.requests.length === 0) return;
	clearInterval(watching);
	tell({ kind: 'firstRequest' });
}

process.once('disconnect', () => void google.close());
tell({ kind: 'listening', url: google.url, token: google.tokens.issue({ token: 'bench' }) });
