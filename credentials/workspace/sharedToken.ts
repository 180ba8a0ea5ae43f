import { createHash } from 'node:crypto';

interface Issued {
	readonly token: string;
	readonly atMilliseconds: number;
}

/** n8n keeps a token until Google refuses it; this only avoids duplicate requests at the same time. */
const sharedForMilliseconds = 30_000;

/** The current or last token request of each account. */
const requests = new Map<string, Promise<Issued>>();

/**
 * Shares one token request among concurrent callers: items that run in parallel all ask at the same time.
 * @param account everything that the token depends on
 * @param refused the token that no longer works; empty if there is none
 */
export async function sharedToken(
	account: object,
	refused: string,
	fetchToken: () => Promise<string>,
	now: () => number = Date.now,
): Promise<string> {
	const key = createHash('sha256').update(JSON.stringify(account)).digest('base64url');
	for (let pending = requests.get(key); pending;) {
		const issued = await pending.catch(() => undefined);
		const fresh = issued !== undefined && now() - issued.atMilliseconds < sharedForMilliseconds;
		if (fresh && issued.token !== refused) return issued.token;
		const later = requests.get(key);
		// Another caller has started a request meanwhile; otherwise this one does.
		pending = later === pending ? undefined : later;
	}
	const request = fetchToken().then((token) => ({ token, atMilliseconds: now() }));
	requests.set(key, request);
	return (await request).token;
}
