// What the triggers of this process share: each node has a memory and a listener, found by its key.
import { BoundedMap, getOrAdd } from '../../core/maps';
import { type Clock, waitAtMost } from '../../core/clock';
import { getGlobalSingleton } from '../../core/globalSingleton';
import type { ChannelHistory } from '../session/closeReason';
import type { Arrival } from './arrival';

/** How many deduplication keys and how many sessions one node remembers. */
const maxEntriesPerNode = 10_000;

/**
 * How long the messages that are left at a stop wait for the next start. After a change of
 * settings, n8n starts the node again within seconds.
 */
export const leftoverLifetimeSeconds = 60;

/** What a node remembers about a session. */
interface SessionMemory extends ChannelHistory {
	/** The total length of the gaps that no message has reported yet. */
	unreportedGapMs?: number | undefined;
}

/** What a node remembers between two starts, in the memory of the process. */
export class NodeMemory {
	/** Deduplication keys. */
	readonly recentKeys = new BoundedMap<string, true>(maxEntriesPerNode);
	readonly #sessions = new BoundedMap<string, SessionMemory>(maxEntriesPerNode);
	#leftover: readonly Arrival[] = [];
	#cancelExpiry = () => {};

	getSession(sessionId: string): SessionMemory {
		return getOrAdd(this.#sessions, sessionId, () => ({}));
	}

	keepLeftover(arrivals: readonly Arrival[], clock: Clock): void {
		this.#cancelExpiry();
		this.#leftover = arrivals;
		this.#cancelExpiry = clock.callAfter(leftoverLifetimeSeconds * 1000, () => {
			this.#leftover = [];
		});
	}

	takeLeftover(): readonly Arrival[] {
		this.#cancelExpiry();
		const leftover = this.#leftover;
		this.#leftover = [];
		return leftover;
	}
}

export interface NodeListener {
	/** Identifies the node, also after a new start. */
	readonly nodeKey: string;
	/** Names the workflow and the node, for people. */
	readonly label: string;
	readonly sessionIds: readonly string[];
	/** May be called twice, settles within a limited time, and never rejects. */
	close(): Promise<void>;
}

/** More triggers than one n8n runs, so that the memory of a node that listens is not dropped. */
const maxRememberedNodes = 10_000;

/**
 * Replaces the node's listener. Waits until all earlier ones are closed, because n8n may start one
 * while another stops. Never rejects.
 */
export async function replaceListener(listener: NodeListener): Promise<void> {
	const { listeners } = getRegistry();
	const previous = listeners.get(listener.nodeKey);
	const earlierClosed = Promise.all([previous?.earlierClosed, previous?.listener.close()]);
	listeners.set(listener.nodeKey, { listener, earlierClosed });
	await earlierClosed;
}

/**
 * Closes the listener, and removes it unless another listener has replaced it. Its memory stays.
 * Never rejects.
 */
export async function closeListener(listener: NodeListener): Promise<void> {
	await listener.close();
	const { listeners } = getRegistry();
	if (listeners.get(listener.nodeKey)?.listener === listener) listeners.delete(listener.nodeKey);
}

/**
 * Lists the labels of the published triggers of this process that listen to a session, without the
 * given node.
 */
export function listListenerLabels(sessionId: string, exceptNodeKey?: string): string[] {
	const labels: string[] = [];
	for (const [nodeKey, { listener }] of getRegistry().listeners)
		if (nodeKey !== exceptNodeKey && listener.sessionIds.includes(sessionId))
			labels.push(listener.label);
	return labels;
}

export const getNodeMemory = (nodeKey: string): NodeMemory =>
	getOrAdd(getRegistry().memories, nodeKey, () => new NodeMemory());

/**
 * The time limit for all stops in a period together. n8n stops one trigger after another, and exits
 * after 30 s.
 */
const stopBudgetMilliseconds = 10_000;
const stopPeriodMilliseconds = 60_000;
/** The current period, in monotonic milliseconds. All versions of the package share it. */
const getStopPeriod = () => getGlobalSingleton('stopPeriod', () => ({ begunAt: -Infinity }));

/**
 * Waits until a promise settles, but not longer than the given time. The first wait begins a
 * minute, and all stops in this minute may wait only in its first 10 s.
 * @param promise never rejects
 */
export async function waitWhileStopping(
	clock: Clock,
	milliseconds: number,
	promise: Promise<unknown>,
): Promise<void> {
	const now = clock.getMonotonicMilliseconds();
	const period = getStopPeriod();
	if (now - period.begunAt > stopPeriodMilliseconds) period.begunAt = now;
	const remaining = Math.max(0, period.begunAt + stopBudgetMilliseconds - now);
	await waitAtMost(clock, Math.min(milliseconds, remaining), promise);
}

const getRegistry = () =>
	getGlobalSingleton('agentSessionTriggers', () => ({
		/** `earlierClosed` settles when all earlier listeners of the node are closed. */
		listeners: new Map<
			string,
			{ readonly listener: NodeListener; readonly earlierClosed: Promise<unknown> }
		>(),
		memories: new BoundedMap<string, NodeMemory>(maxRememberedNodes),
	}));
