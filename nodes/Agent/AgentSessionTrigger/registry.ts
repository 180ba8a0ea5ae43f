import { processSlot } from '../../core/processSlot';
import { RecentKeys } from './deduplication';

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
	recent.delete(key);
	recent.set(key, keys);
	const [oldest] = recent.keys();
	if (recent.size > maxRemembered && oldest !== undefined) recent.delete(oldest);
	return keys;
}

/** How many nodes listen in this process. */
export const listeningNodes = (): number => registry().active.size;

const registry = () =>
	processSlot<Registry>('sessionTriggers', () => ({ active: new Map(), recent: new Map() }));
