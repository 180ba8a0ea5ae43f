import { createHash } from 'node:crypto';

import { getGlobalSingleton } from '../../../core/globalSingleton';
import { BoundedMap, getOrAdd } from '../../../core/maps';

/**
 * By the hash of session and message ID: when the first wait that received the message ended. The
 * map takes about 5 MB when it is full.
 */
const getWaitEnds = () =>
	getGlobalSingleton('waitEnds', () => new BoundedMap<string, number>(50_000));

/** The IDs of the messages that a wait has received. */
export class ReceivedIds {
	readonly #sessionKey: string;
	readonly #startedAt = performance.now();
	/** Each ID is hashed with its session. */
	readonly #hashes = new Set<string>();

	/** @param sessionKey identifies the session with its service and user */
	constructor(sessionKey: string) {
		this.#sessionKey = sessionKey;
	}

	/**
	 * Waits that run at the same time all get a message.
	 * @param id undefined for a message without an ID, which is always new
	 * @returns false if the ID was known: from this wait, or from a wait that had ended before this
	 * one began
	 */
	addIfNew(id: string | undefined): boolean {
		if (id === undefined) return true;
		const key = JSON.stringify([this.#sessionKey, id]);
		const hash = createHash('sha256').update(key).digest('base64');
		const endedAt = getWaitEnds().get(hash) ?? Infinity;
		if (endedAt <= this.#startedAt) return false;
		const isNew = !this.#hashes.has(hash);
		this.#hashes.add(hash);
		return isNew;
	}

	/** Keeps the IDs for later waits. */
	keep(): void {
		const now = performance.now();
		for (const hash of this.#hashes) getOrAdd(getWaitEnds(), hash, () => now);
	}
}
