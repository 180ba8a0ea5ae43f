import { BoundedMap, type Clock, globalSingleton, systemClock } from '../../core/runtime';
import { FrameSequence } from '../session/messages';
import type { Arrival, Leftover } from './queue';

/** Of one node: message IDs, and sessions. */
const maxRecent = 10_000;

/** After a change of settings, n8n starts the node again within seconds. */
export const keptSeconds = 60;

/** What a node remembers in this process from one start to the next. */
export class NodeMemory {
	/** Keys of the messages that came last. */
	readonly recent = new BoundedMap<string, true>(maxRecent);
	readonly #frames = new BoundedMap<string, FrameSequence>(maxRecent);
	#left: { readonly leftover: Leftover<Arrival>; readonly cancel: () => void } | undefined;

	/** By session: the count of its messages, and since when none was heard. */
	framesOf(sessionId: string): FrameSequence {
		const frames = this.#frames.get(sessionId) ?? new FrameSequence();
		this.#frames.set(sessionId, frames);
		return frames;
	}

	/** Keeps messages that the queue still held at a stop, for the next start. */
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
	/** Idempotent, bounded in time, never rejects. */
	close(): Promise<void>;
}

interface Registry {
	/** `alone` settles when all that listened for the node before it are closed. */
	readonly active: Map<string, { readonly closable: Closable; readonly alone: Promise<unknown> }>;
	readonly memories: Map<string, NodeMemory>;
}

const maxRemembered = 200;

/** Replaces the node's listener by `next` and waits until all earlier ones are closed: n8n may start one while it stops. Never rejects. */
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

/** n8n stops one trigger after another and exits after 30 s in all. */
const budgetMilliseconds = 10_000;
const periodMilliseconds = 60_000;

/** How long the stops of a minute may wait for executions, all of them together. */
export class StopBudget {
	readonly #clock: Clock;
	/** Of the clock that does not jump. */
	#since = -Infinity;
	#spentMilliseconds = 0;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** In milliseconds. */
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
