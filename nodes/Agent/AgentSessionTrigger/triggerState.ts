// What the triggers of this process share. Each node has a memory and a listener, found by its key. All have one time for stopping.
import { BoundedMap, getOrAdd } from '../../core/boundedMap';
import { type Clock, systemClock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { FrameSequence } from '../session/frameSequence';
import type { Arrival, Leftover } from './queue';

/** How many deduplication keys and how many sessions one node remembers. */
const maxEntriesPerNode = 10_000;

/** How long the messages that are left at a stop wait for the next start. After a change of settings, n8n starts the node again within seconds. */
export const leftoverLifetimeSeconds = 60;

/** What a node remembers between two starts, in the memory of the process. */
export class NodeMemory {
	/** Deduplication keys. Earlier versions of the package share the memory, so this name and those of the methods stay. */
	readonly recentKeys = new BoundedMap<string, true>(maxEntriesPerNode);
	readonly #frameSequences = new BoundedMap<string, FrameSequence>(maxEntriesPerNode);
	#keptLeftover:
		{ readonly leftover: Leftover<Arrival>; readonly cancelExpiry: () => void } | undefined;

	getFrameSequence(sessionId: string): FrameSequence {
		return getOrAdd(this.#frameSequences, sessionId, () => new FrameSequence());
	}

	keepLeftover(leftover: Leftover<Arrival>, clock: Clock): void {
		const cancelExpiry = clock.callAfter(leftoverLifetimeSeconds * 1000, () => {
			this.#keptLeftover = undefined;
		});
		this.#keptLeftover = { leftover, cancelExpiry };
	}

	takeLeftover(): Leftover<Arrival> | undefined {
		const keptLeftover = this.#keptLeftover;
		this.#keptLeftover = undefined;
		keptLeftover?.cancelExpiry();
		return keptLeftover?.leftover;
	}
}

interface Closable {
	/** May be called twice, settles within a limited time, and never rejects. */
	close(): Promise<void>;
}

const maxRememberedNodes = 200;

/** Replaces the node's listener. Waits until all earlier ones are closed, because n8n may start one while another stops. Never rejects. */
export async function replaceListener(nodeKey: string, listener: Closable): Promise<void> {
	const { listeners } = getRegistry();
	const previous = listeners.get(nodeKey);
	const earlierClosed = Promise.all([previous?.earlierClosed, previous?.closable.close()]);
	listeners.set(nodeKey, { closable: listener, earlierClosed });
	await earlierClosed;
}

/** Closes the listener, and removes it unless another listener has replaced it. Never rejects. */
export async function closeListener(nodeKey: string, listener: Closable): Promise<void> {
	await listener.close();
	const { listeners } = getRegistry();
	if (listeners.get(nodeKey)?.closable === listener) listeners.delete(nodeKey);
}

export function getNodeMemory(nodeKey: string): NodeMemory {
	return getOrAdd(getRegistry().memories, nodeKey, () => new NodeMemory());
}

const getRegistry = () =>
	getGlobalSingleton('sessionTriggers', () => ({
		/** `earlierClosed` settles when all earlier listeners of the node are closed. */
		listeners: new Map<
			string,
			{ readonly closable: Closable; readonly earlierClosed: Promise<unknown> }
		>(),
		memories: new BoundedMap<string, NodeMemory>(maxRememberedNodes),
	}));

/** The time limit for all stops in a period together. n8n stops one trigger after another, and exits after 30 s. */
const stopBudgetMilliseconds = 10_000;
const stopPeriodMilliseconds = 60_000;

/** Triggers that stop within one minute share 10 s of waiting for their executions. The minute starts with the first call of `getRemainingMilliseconds`. */
export class StopBudget {
	readonly #clock: Clock;
	/** Monotonic milliseconds. */
	#periodStartedAt = -Infinity;
	#spentMilliseconds = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	getRemainingMilliseconds(): number {
		const now = this.#clock.getMonotonicMilliseconds();
		if (now - this.#periodStartedAt > stopPeriodMilliseconds) {
			this.#periodStartedAt = now;
			this.#spentMilliseconds = 0;
		}
		return Math.max(0, stopBudgetMilliseconds - this.#spentMilliseconds);
	}

	spend(milliseconds: number): void {
		this.#spentMilliseconds += milliseconds;
	}
}

export const getStopBudget = () =>
	getGlobalSingleton('sessionTriggerStopBudget', () => new StopBudget(systemClock));
