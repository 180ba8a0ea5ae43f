import { BoundedMap } from '../../core/boundedMap';
import { processSlot } from '../../core/globalSingleton';
import type { Clock } from '../../core/clock';
import type { Arrival } from './items';
import type { Leftover } from './queue';

/** Ids of one node that are remembered. */
const maxRecentIds = 10_000;

/** The keys that came last. */
export class RecentKeys {
	readonly #keys = new BoundedMap<string, true>(maxRecentIds);

	/** @returns false when the key is among those that came last */
	add(key: string): boolean {
		if (this.#keys.has(key)) return false;
		this.#keys.set(key, true);
		return true;
	}

	/** A message that n8n did not take may come again. */
	forget(key: string): void {
		this.#keys.delete(key);
	}
}

interface Closable {
	/** Idempotent, bounded in time, never rejects. */
	close(): Promise<void>;
}

interface Active {
	readonly closable: Closable;
	/** Settles when all that listened for the node before it are closed. */
	readonly alone: Promise<unknown>;
}

interface Registry {
	readonly active: Map<string, Active>;
	readonly recent: Map<string, RecentKeys>;
}

/** Nodes whose recent keys are remembered over a republish. */
const maxRemembered = 200;

/** A node of a workflow: copied workflows share the ids of their nodes. */
export const nodeKey = (workflowId: string, nodeId: string): string => JSON.stringify([workflowId, nodeId]);

/**
 * Replaces the listener of the node by `next`, closes the old one, and waits until it and all earlier ones are closed:
 * n8n may start a node again before it has stopped it, or while it stops. Never rejects.
 */
export async function takeOver(key: string, next: Closable): Promise<void> {
	const { active } = registry();
	const previous = active.get(key);
	const alone = Promise.all([previous?.alone, previous?.closable.close()]);
	active.set(key, { closable: next, alone });
	await alone;
}

/** Closes `mine`, which stays registered until then. Leaves a successor alone if `mine` was replaced. Never rejects. */
export async function release(key: string, mine: Closable): Promise<void> {
	await mine.close();
	const { active } = registry();
	if (active.get(key)?.closable === mine) active.delete(key);
}

/** Outlives a republish. */
export function recentKeysOf(key: string): RecentKeys {
	const { recent } = registry();
	const keys = recent.get(key) ?? new RecentKeys();
	recent.set(key, keys);
	return keys;
}

/** How many nodes listen in this process. */
export const listeningNodes = (): number => registry().active.size;

const registry = () =>
	processSlot<Registry>('sessionTriggers', () => ({
		active: new Map(),
		recent: new BoundedMap(maxRemembered),
	}));

/** After a change of settings, n8n starts the node again within seconds. */
export const keptSeconds = 60;

interface Kept {
	readonly leftover: Leftover<Arrival>;
	readonly cancel: () => void;
}

/** Messages that a node's queue still held when it stopped, for the next start of the node in this process. */
export class Leftovers {
	readonly #key: string;
	readonly #clock: Clock;

	constructor(key: string, clock: Clock) {
		this.#key = key;
		this.#clock = clock;
	}

	/** @param lost told when the node was not started again in time */
	keep(leftover: Leftover<Arrival>, lost: () => void): void {
		const cancel = this.#clock.after(keptSeconds * 1000, () => {
			if (kept().get(this.#key) === mine) kept().delete(this.#key);
			lost();
		});
		const mine = { leftover, cancel };
		kept().set(this.#key, mine);
	}

	take(): Leftover<Arrival> | undefined {
		const found = kept().get(this.#key);
		kept().delete(this.#key);
		found?.cancel();
		return found?.leftover;
	}
}

/** By node. */
const kept = () => processSlot('sessionTriggerLeftovers', () => new Map<string, Kept>());

/** n8n stops one trigger after another and exits after 30 s in all. */
const budgetMilliseconds = 10_000;
const periodMilliseconds = 60_000;

export interface Spent {
	/** Of the clock that does not jump. */
	since: number;
	milliseconds: number;
}

/** How long the stops of a minute may wait for executions, all of them together. */
export class StopBudget {
	readonly #clock: Clock;
	readonly #spent: Spent;

	constructor(clock: Clock, spent: Spent) {
		this.#clock = clock;
		this.#spent = spent;
	}

	/** In milliseconds. */
	left(): number {
		const now = this.#clock.monotonicMilliseconds();
		if (now - this.#spent.since > periodMilliseconds) {
			this.#spent.since = now;
			this.#spent.milliseconds = 0;
		}
		return Math.max(0, budgetMilliseconds - this.#spent.milliseconds);
	}

	spend(milliseconds: number): void {
		this.#spent.milliseconds += milliseconds;
	}
}

export const spentInProcess = () =>
	processSlot<Spent>('sessionTriggerStops', () => ({ since: -Infinity, milliseconds: 0 }));
