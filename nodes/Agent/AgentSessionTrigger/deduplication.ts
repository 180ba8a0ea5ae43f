import { createHash } from 'node:crypto';

/** Ids of one node that are remembered. */
const maxRecentIds = 10_000;

/** n8n's key is unique over all workflows, and at most 255 characters long. Ids count within their session. */
export function deduplicationKey(workflowId: string, nodeId: string, sessionId: string, id: string): string {
	const identity = JSON.stringify([workflowId, nodeId, sessionId, id]);
	return `aw1:${createHash('sha256').update(identity).digest('hex')}`;
}

/** The keys that came last. */
export class RecentKeys {
	readonly #keys = new Set<string>();

	/** @returns false when the key is among those that came last */
	add(key: string): boolean {
		if (this.#keys.has(key)) return false;
		this.#keys.add(key);
		const [oldest] = this.#keys;
		if (this.#keys.size > maxRecentIds && oldest !== undefined) this.#keys.delete(oldest);
		return true;
	}

	/** A message that n8n did not take may come again. */
	forget(key: string): void {
		this.#keys.delete(key);
	}
}
