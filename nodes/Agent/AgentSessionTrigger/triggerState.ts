import { BoundedMap, type Clock, globalSingleton, systemClock } from '../../core/runtime';
import { FrameSequence } from '../session/messages';
import type { Arrival, Leftover } from './queue';

/** How many message IDs, and how many sessions, one node remembers. */
const maxRecent = 10_000;

/** How long messages wait for the next start: after a change of settings, n8n starts the node again within seconds. */
export const keptSeconds = 60;

/** What a node remembers from one start to the next, in the memory of the process. */
export class NodeMemory {
	/** The deduplication keys of the latest messages. */
	readonly recent = new BoundedMap<string, true>(maxRecent);
	readonly #frames = new BoundedMap<string, FrameSequence>(maxRecent);
	#left: { readonly leftover: Leftover<Arrival>; readonly cancel: () => void } | undefined;

	/** The numbering of the session's messages and its gaps. */
	framesOf(sessionId: string): FrameSequence {
		const frames = this.#frames.get(sessionId) ?? new FrameSequence();
		this.#frames.set(sessionId, frames);
		return frames;
	}

	/** Keeps the messages that were left in the queue, for the next start. */
	keep(leftover: Leftover<Arrival>, clock: Clock): void {
		const cancel = clock.after(keptSeconds * 1000, () => {
			this.#left = undefined;
		});
		this.#left = { leftover, cancel };
	}

	take(): Leftover<Arrival> | undefined {
		const left = this.#left;
		this.#left = undefined;
		left?.cancel();
		return left?.leftover;
	}
}

interface Closable {
	/** May be called twice, takes a limited time, and never rejects. */
	close(): Promise<void>;
}

interface Registry {
	/** `alone` settles when all earlier listeners of the node are closed. */
	readonly active: Map<string, { readonly closable: Closable; readonly alone: Promise<unknown> }>;
	readonly memories: Map<string, NodeMemory>;
}

const maxRemembered = 200;

/** Replaces the node's listener and waits until all earlier ones are closed, because n8n may start one while another stops. Never rejects. */
export async function takeOver(key: string, next: Closable): Promise<void> {
	const { active } = registry();
	const previous = active.get(key);
	const alone = Promise.all([previous?.alone, previous?.closable.close()]);
	active.set(key, { closable: next, alone });
	await alone;
}

/** Closes `mine` and removes it, unless another listener has replaced it. Never rejects. */
export async function release(key: string, mine: Closable): Promise<void> {
	await mine.close();
	const { active } = registry();
	if (active.get(key)?.closable === mine) active.delete(key);
}

export function memoryOf(key: string): NodeMemory {
	const { memories } = registry();
	const memory = memories.get(key) ?? new NodeMemory();
	memories.set(key, memory);
	return memory;
}

export const listeningNodes = (): number => registry().active.size;

const registry = () =>
	globalSingleton<Registry>('sessionTriggers', () => ({
		active: new Map(),
		memories: new BoundedMap(maxRemembered),
	}));

/** How long all stops together may take, because n8n stops one trigger after another and exits after 30 s. */
const budgetMilliseconds = 10_000;
const periodMilliseconds = 60_000;

/** Limits how long all triggers that stop within a minute may wait for executions. */
export class StopBudget {
	readonly #clock: Clock;
	/** Monotonic milliseconds. */
	#since = -Infinity;
	#spentMilliseconds = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** The time that is left, in milliseconds. */
	left(): number {
		const now = this.#clock.monotonicMilliseconds();
		if (now - this.#since > periodMilliseconds) {
			this.#since = now;
			this.#spentMilliseconds = 0;
		}
		return Math.max(0, budgetMilliseconds - this.#spentMilliseconds);
	}

	spend(milliseconds: number): void {
		this.#spentMilliseconds += milliseconds;
	}
}

export const processStopBudget = () =>
	globalSingleton('sessionTriggerStopBudget', () => new StopBudget(systemClock));
