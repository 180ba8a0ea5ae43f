import type { Line, Manner } from './line.ts';
import type { World } from './world.ts';

/** Milliseconds since 1970. */
export interface Strike {
	readonly struck: number;
	/** From then on everything works again, but for what n8n has to do itself. */
	readonly healed: number;
}

export interface Fault {
	readonly name: string;
	/** It strikes in the first of so many rounds: some faults take long. */
	readonly everyRounds: number;
	/** What tells that it was noticed: the trigger's own event, or a failed execution. */
	readonly noticedBy?: 'event' | 'failedExecution';
	readonly noticedWithinSeconds?: number;
	/** What tells that it is over: the trigger's own event, a channel at the service, or the execution of what had to wait. */
	readonly overBy: 'event' | 'opening' | 'execution';
	/** Servers of which nothing may be lost: what they sent last was read, or they send it again. */
	readonly lossless: readonly Manner[];
	/** Servers of which nothing may come twice. */
	readonly single: readonly Manner[];
	/** For so long nothing more may come, before it is counted. */
	readonly quietMilliseconds?: number;
	/** Strikes, and waits until every session has its channel again. */
	strike(world: World): Promise<ReadonlyMap<Line, Strike>>;
}

/** The same for all lines. */
export function allAt(world: World, struck: number, healed = struck): Map<Line, Strike> {
	return new Map(world.lines.map((line) => [line, { struck, healed }]));
}
