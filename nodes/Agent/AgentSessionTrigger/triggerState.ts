import { BoundedMap } from '../../core/boundedMap';
import { type Clock, systemClock } from '../../core/clock';
import { getGlobalSingleton } from '../../core/runtime';
import { FrameSequence } from '../session/messages';
import type { Arrival, Leftover } from './queue';

/** How many message IDs, and how many sessions, one node remembers. */
const maxEntriesPerNode = 10_000;

/** How long messages wait for the next start: after a change of settings, n8n starts the node again within seconds. */
export const leftoverLifetimeSeconds = 60;

/** What a node remembers from one start to the next, in the memory of the process. */
export class NodeMemory {
	/** The deduplication keys of the latest messages. */
	readonly recentKeys = new BoundedMap<string, true>(maxEntriesPerNode);
	readonly #frameSequences = new BoundedMap<string, FrameSequence>(maxEntriesPerNode);
	#keptLeftover: { readonly leftover: Leftover<Arrival>; readonly cancel: () => void } | undefined;

	/** The numbering of the session's messages and its gaps. */
	getFrameSequence(sessionId: string): FrameSequence {
		const frames = this.#frameSequences.get(sessionId) ?? new FrameSequence();
		this.#frameSequences.set(sessionId, frames);
		return frames;
	}

	/** Keeps the messages that were left in the queue, for the next start. */
	keepLeftover(leftover: Leftover<Arrival>, clock: Clock): void {
		const cancel = clock.callAfter(leftoverLifetimeSeconds * 1000, () => {
			this.#keptLeftover = undefined;
		});
		this.#keptLeftover = { leftover, cancel };
	}

	takeLeftover(): Leftover<Arrival> | undefined {
		const left = this.#keptLeftover;
		this.#keptLeftover = undefined;
		left?.cancel();
		return left?.leftover;
	}
}

interface Closable {
	/** May be called twice, takes a limited time, and never rejects. */
	close(): Promise<void>;
}

const maxRememberedNodes = 200;

/** Replaces the node's listener and waits until all earlier ones are closed: n8n may start one while another stops. Never rejects. */
export async function replaceListener(key: string, next: Closable): Promise<void> {
	const { listeners: active } = getRegistry();
	const previous = active.get(key);
	const alone = Promise.all([previous?.alone, previous?.closable.close()]);
	active.set(key, { closable: next, alone });
	await alone;
}

/** Closes `mine` and removes it, unless another listener has replaced it. Never rejects. */
export async function closeListener(key: string, mine: Closable): Promise<void> {
	await mine.close();
	const { listeners: active } = getRegistry();
	if (active.get(key)?.closable === mine) active.delete(key);
}

export function getNodeMemory(key: string): NodeMemory {
	const { memories } = getRegistry();
	const memory = memories.get(key) ?? new NodeMemory();
	memories.set(key, memory);
	return memory;
}

export const countListeningNodes = (): number => getRegistry().listeners.size;

const getRegistry = () =>
	getGlobalSingleton('sessionTriggers', () => ({
		/** `alone` settles when all earlier listeners of the node are closed. */
		listeners: new Map<string, { readonly closable: Closable; readonly alone: Promise<unknown> }>(),
		memories: new BoundedMap<string, NodeMemory>(maxRememberedNodes),
	}));

/** How long all stops together may take, because n8n stops one trigger after another and exits after 30 s. */
const stopBudgetMilliseconds = 10_000;
const stopPeriodMilliseconds = 60_000;

/** Limits how long all triggers that stop within a minute may wait for executions. */
export class StopBudget {
	readonly #clock: Clock;
	/** Monotonic milliseconds. */
	#periodStartedAt = -Infinity;
	#spentMilliseconds = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** The time that is left, in milliseconds. */
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
